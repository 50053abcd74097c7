import { urlProblem } from '../security-store/first-connection';
import type { AuthConfig, GuardConfig } from './auth-config';
import { optionWithVariable } from './env';
import { withoutKey } from './guard-isolation.policy';
import { type MailedUrl, type OptionFacets, type OptionTree, namedIn } from './option-table';

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
  if (url.username || url.password) return 'has a user name or a password, which every mail would contain';
  if (bare && /[?#]/.test(text)) return `is "${text}", which has a query or a fragment`;
  if (url.protocol === 'https:' || (!production && isLoopback(url.hostname)))
    return withoutFragment && text.includes('#') ? `is "${text}", which has a fragment` : null;
  return production
    ? `is "${text}": in production, mailed links must use https`
    : `is "${text}": http is allowed only for localhost, outside production`;
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
    const url = (guard as unknown as Record<string, Record<string, string | undefined>>)[block]![name];
    const fault = optional && url === undefined ? null : urlFault(url, { production, ...rule });
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

/** Returns the configuration errors of `keys.jwks`, each with its correction. */
export const keySetErrors = ({ guards, verifyOnly }: AuthConfig, production: boolean): string[] =>
  guards.flatMap((guard) => (guard.keys.jwks === undefined ? [] : jwksErrors(guard, verifyOnly, production)));

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
