import { urlProblem } from '../security-store/first-connection';
import type { AuthConfig, GuardConfig } from './auth-config';
import { optionWithVariable } from './env';
import { withoutKey } from './guard-isolation.policy';
import { AuthConfigError } from '../platform/errors';
import { type MailedLink, type MailedUrl, type OptionFacets, type OptionTree, namedIn } from './option-table';
import { isProduction } from './option-values.policy';

const isLoopback = (host: string): boolean => /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host);

interface UrlRule extends Pick<MailedUrl, 'bare' | 'withoutFragment'> {
  readonly production: boolean;
}

/**
 * Returns why a URL must not be used in mailed links; null for a valid URL. Possession of such a link proves ownership
 * of the address, so it must not travel over plain HTTP, where others can read it.
 */
export function urlFault(text: string | undefined, { production, bare, withoutFragment }: UrlRule): string | null {
  if (!text) return 'is missing';
  // URL parsers remove some of these characters, and mail clients end the link at them.
  if (/[\p{C}\p{Z}]/u.test(text)) return 'has spaces or control characters';
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) return `is "${text}", which is not an http(s) URL`;
  if (url.hostname.includes('*')) return `is "${text}", which has a wildcard`;
  if (url.username || url.password) return 'has a user name or a password, which every mail would contain';
  if (bare && /[?#]/.test(text)) return `is "${text}", which has a query or a fragment`;
  if (url.protocol === 'https:' || (!production && isLoopback(url.hostname)))
    return withoutFragment && text.includes('#') ? `is "${text}", which has a fragment` : null;
  return production
    ? `is "${text}": in production, mailed links must use https`
    : `is "${text}": http is allowed only for localhost, outside production`;
}

/**
 * The registrable domain and the public suffix of a host, by the whole public suffix list, as browsers use it: with its private
 * domains, such as `github.io`, below which each name has another owner. The list of about one megabyte is loaded at the first call.
 */
export function registrationOf(host: string): ReturnType<typeof import('tldts').parse> {
  const { parse } = require('tldts') as typeof import('tldts');
  return parse(host, { allowPrivateDomains: true });
}

/** Returns the wildcards of `cookie.origins` that must not be used, each with the correction. They are for previews only. */
export function wildcardErrors({ cookie, nameOf }: GuardConfig, production: boolean): string[] {
  const option = `${nameOf('cookie.origins')} (SVC_COOKIE_ORIGINS)`;
  return cookie.origins.flatMap((origin) => {
    const [, parent] = origin.split('*.', 2);
    if (parent === undefined) return [];
    if (production)
      return `${option} has the wildcard "${origin}". In production, list each origin: https://app.example.com.`;
    const { domain } = registrationOf(`a.${parent}`);
    const isOwn = domain !== null && (parent === domain || parent.endsWith(`.${domain}`));
    return isOwn
      ? []
      : `${option} has the wildcard "${origin}", and anyone can register a name below "${parent}". Use a wildcard below your own domain, such as https://*.preview.example.com.`;
  });
}

/** Adds parameters to a configured URL, which may already have a query. */
export const withQuery = (url: string, params: Readonly<Record<string, string>>): string =>
  `${url}${url.includes('?') ? '&' : '?'}${Object.entries(params)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')}`;

/** What a mailed link is made of. */
interface LinkParts {
  /** The token or the code. */
  readonly secret: string;
  /** The recipient. */
  readonly email: string;
  readonly guard: string;
}

/** The `+` becomes a space in the query of a link in which the host does not encode the email. */
const EXAMPLE = { secret: '0123456789', email: 'ada+news@example.com' };

/** Returns why the links that a function of the host makes must not be mailed; null if an example can be mailed. */
export function linkFault(link: MailedLink, guard: string, rule: UrlRule): string | null {
  const { secret, email } = EXAMPLE;
  const made = madeBy(link, { ...EXAMPLE, guard }, rule);
  if ('fault' in made) return made.fault;
  const { searchParams, hash } = new URL(made.url);
  if (rule.withoutFragment && (!hash.includes(secret) || made.url.split('#', 1)[0]!.includes(secret)))
    return 'does not return a link with its first argument in the fragment, and only there';
  const isBroken = [...searchParams.values()].includes(email.replace('+', ' '));
  return isBroken ? 'returns a link with an email that is not encoded: use encodeURIComponent(email)' : null;
}

function madeBy(
  link: MailedLink,
  { secret, email, guard }: LinkParts,
  rule: UrlRule,
): { url: string } | { fault: string } {
  let url: unknown;
  try {
    url = link(secret, email, { guard });
  } catch (error) {
    // The text of the error may contain the link.
    return { fault: `throws ${error instanceof Error ? error.name : 'a value that is no error'}` };
  }
  // A promise that is rejected later must not end the process.
  if (url instanceof Promise) url.catch(() => undefined);
  if (typeof url !== 'string') return { fault: 'returns no text' };
  const fault = urlFault(url, { production: rule.production });
  if (fault !== null) return { fault: `returns a link that ${fault}` };
  return url.includes(secret) ? { url } : { fault: 'returns a link without its first argument' };
}

/**
 * Returns the link of a mail: what the function of the host returns, otherwise the configured URL with the addition.
 *
 * @throws AuthConfigError if the function returns a link that must not be mailed. The text contains no part of the link, because
 * it is logged
 */
export function mailedLink(from: string | MailedLink, parts: LinkParts, added: (url: string) => string): string {
  if (typeof from === 'string') return added(from);
  const made = madeBy(from, parts, { production: isProduction() });
  if ('url' in made) return made.url;
  throw new AuthConfigError(
    `The function for the link in a mail of the guard "${parts.guard}" throws, or returns a link that must not be mailed.`,
  );
}

/** Returns the configuration errors of the features of a guard that send mails, each with its correction. */
export function mailErrors(
  guard: GuardConfig,
  { key }: AuthConfig['encryption'],
  production: boolean,
  manifests: readonly OptionFacets[],
): string[] {
  const { mailer } = guard.mail;
  const mailing = manifests.filter(
    ({ needsMailer, flags }) => needsMailer && flags?.some((name) => guard.features[name]),
  );
  const [first] = mailing;
  return [
    ...mailing.flatMap(({ options = {} }) => mailedUrlErrors(options, guard, production)),
    ...mailing.map((feature) => feature.needsEncryptionKey && !key && withoutKey(feature)),
    first &&
      !mailer &&
      `features.${first.flags![0]} needs mail.mailer. Set it to nodemailerMailer(transport, from), or to your own Mailer.`,
    first &&
      mailer &&
      typeof mailer.send !== 'function' &&
      'mail.mailer has no method send. Wrap a transporter of nodemailer: nodemailerMailer(transport, from).',
  ].filter((text): text is string => typeof text === 'string');
}

/** The faults of the URLs in mails among some options. */
export function mailedUrlErrors(options: OptionTree, guard: GuardConfig, production: boolean): string[] {
  return namedIn(options).flatMap(([option, spec]) => {
    if (!spec.mailedUrl) return [];
    const { cure, optional, ...rule } = spec.mailedUrl;
    const [block = '', name = ''] = option.split('.');
    const given = (guard as unknown as Record<string, Record<string, string | MailedLink | undefined>>)[block]![name];
    if (optional && given === undefined) return [];
    const rules = { production, ...rule };
    const fault = typeof given === 'function' ? linkFault(given, guard.guard, rules) : urlFault(given, rules);
    return fault === null ? [] : [`${optionWithVariable(guard.nameOf(option), spec)} ${fault}. ${cure}`];
  });
}

/** Returns the configuration errors of `redis`. The texts do not contain the URL, which may contain a password. */
export function redisErrors({ redis: { url, ...others } }: Pick<AuthConfig, 'redis'>): string[] {
  const [without] = Object.entries(others).flatMap(([name, value]) => (value ? name : []));
  if (url === undefined)
    return without ? [`redis.${without} is set, but redis.url (SVC_REDIS_URL) is not. Set both.`] : [];
  // A function is called before each connection, and what it returns is checked then.
  const fault = typeof url === 'function' ? null : urlProblem(url);
  const { tls } = others;
  return [
    fault !== null && `redis.url (SVC_REDIS_URL) ${fault}`,
    tls !== undefined &&
      tls !== true &&
      (typeof tls !== 'object' || tls === null) &&
      'redis.tls is neither true nor an object. Set it to the options of tls.connect, such as { ca }.',
  ].filter((text): text is string => typeof text === 'string');
}

/** Returns the error of a schedule where there is nothing to prune. */
export const scheduleErrors = ({ verifyOnly, retention }: Pick<AuthConfig, 'verifyOnly' | 'retention'>): string[] =>
  verifyOnly && retention.schedule
    ? [
        'retention.schedule (SVC_PRUNE_SCHEDULE) is set, but a service that only verifies tokens (verifyOnly) prunes no rows. Remove it, and set it at the issuer.',
      ]
    : [];

/** Returns the configuration errors of `keys.jwks` and `keys.discovery`, each with its correction. */
export const keySetErrors = ({ guards, verifyOnly }: AuthConfig, production: boolean): string[] => [
  ...guards.flatMap((guard) => (guard.keys.jwks === undefined ? [] : jwksErrors(guard, verifyOnly, production))),
  // A service that only verifies may share the environment of the issuer, and publishes nothing.
  ...(verifyOnly ? [] : discoveryErrors(guards, production)),
];

function discoveryErrors(guards: readonly GuardConfig[], production: boolean): string[] {
  const { algorithm, issuer, keys, nameOf } = guards.find(({ isDefault }) => isDefault)!;
  const { discovery } = keys;
  const ignored = guards.filter((guard) => guard.keys.discovery !== discovery);
  const option = `${nameOf('keys.discovery')} (SVC_DISCOVERY)`;
  const fault = issuerFault(issuer, production);
  return [
    ...ignored.map(
      (guard) =>
        `${guard.nameOf('keys.discovery')} has no effect: only the keys of the default guard are published below its issuer. Remove it, and give the gateway the URL of GET /jwks of the guard.`,
    ),
    ...(discovery === undefined
      ? []
      : [
          (!PLAIN_PATH.test(discovery) || discovery === DISCOVERY_PATH) &&
            `${option} is "${discovery}", which is not a plain path for the keys. Use one such as /.well-known/jwks.json.`,
          algorithm === 'HS256' &&
            `${option} needs an algorithm with public keys. Set algorithm (SVC_ALGORITHM) to ES256 or RS256, or remove it.`,
          fault &&
            `${option} needs an issuer at which gateways can read the keys, but ${nameOf('issuer')} (SVC_ISSUER) ${fault}. Set it to the URL of your API, such as https://api.example.com.`,
        ]),
  ].filter((text): text is string => typeof text === 'string');
}

/** The path of the discovery document below the issuer (OpenID Connect Discovery 1.0 §4). */
export const DISCOVERY_PATH = '/.well-known/openid-configuration';

/** A path that is no pattern for any router. */
const PLAIN_PATH = /^(?:\/[\w.~-]+)+$/;

/** Why gateways cannot read documents below an issuer (RFC 8414 §2); null if they can. */
function issuerFault(issuer: string, production: boolean): string | null {
  const url = URL.canParse(issuer) ? new URL(issuer) : null;
  const isPlain = url && /^https?:$/.test(url.protocol) && !/[?#@]/.test(issuer);
  if (!isPlain || !(url.pathname === '/' || PLAIN_PATH.test(url.pathname.replace(/\/$/, ''))))
    return 'is no http(s) URL with a plain path';
  return url.protocol === 'https:' || (!production && isLoopback(url.hostname)) ? null : 'is not an https URL';
}

function jwksErrors({ keys, algorithm, nameOf }: GuardConfig, verifyOnly: boolean, production: boolean): string[] {
  const option = `${nameOf('keys.jwks')} (SVC_JWKS_URL)`;
  const fault = sourceFault(keys.jwks, production);
  return [
    (keys.private || Object.keys(keys.public).length > 0) &&
      `${option} cannot be combined with keys.private and keys.public: keys have one source. Remove one of them.`,
    algorithm === 'HS256' &&
      `${option} needs an algorithm with public keys. Set algorithm (SVC_ALGORITHM) to the issuer's, ES256 or RS256.`,
    !verifyOnly &&
      `${option} is for services that only verify tokens. Set verifyOnly to true, or set keys.private and keys.public instead.`,
    fault &&
      `${option} ${fault}. Set it to the URL of the issuer's key set, such as https://api.example.com/auth/jwks.`,
  ].filter((text): text is string => typeof text === 'string');
}

/** The message never contains the URL, because the URL may contain a password. */
function sourceFault(jwks: unknown, production: boolean): string | null {
  if (typeof jwks === 'function') return null;
  const url = typeof jwks === 'string' && URL.canParse(jwks) ? new URL(jwks) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) return 'is neither an http(s) URL nor a function';
  if (url.username || url.password) return 'has a user name or a password in it';
  if (url.protocol === 'https:' || !production || isLoopback(url.hostname)) return null;
  return 'uses http: an attacker on the network could replace the keys, so production requires https';
}
