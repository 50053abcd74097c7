import type { AuthConfig, GuardConfig } from './auth-config';
import type { OptionFacets } from './option-table';

/**
 * Returns the reasons why a configuration must not start, each with its correction. A pure function: it has all rules
 * that isolate guards from each other.
 *
 * If two guards share a key, only the audience distinguishes their tokens. With a shared audience, user 7 of one table
 * could act as user 7 of the other table.
 */
export function guardErrors(
  config: AuthConfig,
  guardNames: readonly string[],
  cookieSuffixes: readonly string[],
  manifests: readonly OptionFacets[],
  withRoutesBelow: readonly string[],
): string[] {
  const { guards } = config;
  const pairs = guards.flatMap((a, i) => guards.slice(i + 1).map((b) => [a, b] as const));
  return [
    ...duplicates(guardNames).map((name) => `guards.${name} has the name of the default guard. Rename one of them.`),
    ...guards.flatMap((guard) => errorsOfGuard(guard, config.verifyOnly)),
    ...encryptionKeys(config, manifests),
    ...refreshTokenRoots(config),
    ...pairs.flatMap(([a, b]) => [
      ...audienceConflict(a, b),
      ...cookieConflict(a, b, ['', ...cookieSuffixes]),
      ...(config.routes ? pathConflict(a, b, withRoutesBelow) : []),
    ]),
  ];
}

/** `token` of RFC 9110 §5.6.2; cookie names use it too (RFC 6265 §4.1.1). */
export const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function errorsOfGuard(config: GuardConfig, verifyOnly: boolean): string[] {
  const { guard, isDefault, users, audience, algorithm, cookie, username, nameOf } = config;
  const { tokenIds, refreshTokenFrom } = config;
  return [
    !/^[A-Za-z0-9_-]{1,64}$/.test(guard) &&
      `The guard name "${guard}" must be 1 to 64 letters, digits, "-" or "_": it becomes part of cookie names and keys.`,
    !users?.entity &&
      !users?.provider &&
      `${isDefault ? '' : `guards.${guard}.`}users is missing. Set the guard's own users: users: { entity: YourUser }, or users: { provider: YourUserProvider }.`,
    !audience.length && `${nameOf('audience')} (SVC_AUDIENCE) is empty. Set an audience that no other guard has.`,
    verifyOnly ? withoutKeys(config) : withoutSecret(config),
    !['HS256', 'RS256', 'ES256'].includes(algorithm) &&
      `${nameOf('algorithm')} (SVC_ALGORITHM) is "${algorithm}". Use HS256, RS256 or ES256.`,
    !['uuid', 'any'].includes(tokenIds) && `${nameOf('tokenIds')} is "${tokenIds}". Use uuid or any.`,
    !['mode', 'both'].includes(refreshTokenFrom) &&
      `${nameOf('refreshTokenFrom')} is "${refreshTokenFrom}". Use mode or both.`,
    !TOKEN.test(cookie.refreshName) &&
      `${nameOf('cookie.refreshName')} is not a cookie name (RFC 6265 §4.1.1). Use letters, digits, "-" and "_".`,
    ...cookie.origins
      .filter((origin) => !isOrigin(origin) && !isWildcard(origin))
      .map(
        (origin) =>
          `${nameOf('cookie.origins')} (SVC_COOKIE_ORIGINS) has "${origin}", which is not the exact origin of a page. Use scheme, host and port as browsers write them, such as https://app.example.com.`,
      ),
    !username && `${nameOf('username')} (SVC_USERNAME) is empty. Set it to the identifier column, such as "email".`,
  ].filter((text): text is string => typeof text === 'string');
}

const isOrigin = (text: string): boolean =>
  URL.canParse(text) &&
  /^https?:$/.test(new URL(text).protocol) &&
  new URL(text).origin === text &&
  !text.includes('*');

/** One asterisk, which is the whole first label: `https://*.preview.example.com`. */
const isWildcard = (text: string): boolean =>
  /^https:\/\/\*\.[a-z0-9.-]+$/.test(text) && isOrigin(text.replace('*', 'a'));

const KEY_BYTES = 32;

function encryptionKeys(
  { guards, encryption: { key, previousKeys } }: AuthConfig,
  manifests: readonly OptionFacets[],
): string[] {
  // That of a feature that mails is checked with its mails: a service that only verifies sends none.
  const needing = manifests.find(
    ({ needsEncryptionKey, needsMailer, flags }) =>
      needsEncryptionKey && !needsMailer && guards.some(({ features }) => flags?.some((name) => features[name])),
  );
  const short = (text: string): boolean => Buffer.byteLength(text) < KEY_BYTES;
  return [
    needing && !key && withoutKey(needing),
    key &&
      short(key) &&
      `encryption.key (SVC_ENCRYPTION_KEY) is shorter than ${KEY_BYTES} bytes. Generate one with npx svc-auth secret --show.`,
    previousKeys.some(short) &&
      `encryption.previousKeys (SVC_PREVIOUS_ENCRYPTION_KEYS) has an entry shorter than ${KEY_BYTES} bytes. Remove it.`,
  ].filter((text): text is string => typeof text === 'string' && text !== '');
}

/** The error of a guard that signs with a secret, without that secret; null if it needs or has none. */
export const withoutSecret = ({ algorithm, secret, nameOf }: GuardConfig): string | null =>
  algorithm === 'HS256' && !secret
    ? `${nameOf('secret')} (SVC_SECRET) is missing. Make one with: npx svc-auth secret --show`
    : null;

/** The error of a service that only verifies, without a key. It must not be able to sign, so its issuer needs a key pair. */
const withoutKeys = ({ algorithm, secret, keys, nameOf }: GuardConfig): string | false =>
  !(algorithm === 'HS256' ? secret : (keys.jwks ?? Object.keys(keys.public).length)) &&
  `${nameOf('keys')} has no key to verify tokens with. Let the issuer sign with ES256: npx svc-auth keygen prints its SVC_ALGORITHM, ` +
    'SVC_ACTIVE_KID, SVC_PRIVATE_KEY and SVC_PUBLIC_KEY. Here, set SVC_ALGORITHM=ES256, and SVC_JWKS_URL to the key set of the issuer; or ' +
    'SVC_ACTIVE_KID and SVC_PUBLIC_KEY, without the private key.';

/** The error of a feature that needs the key of encryption, without that key. */
export const withoutKey = ({ flags, needsEncryptionKey }: OptionFacets): string =>
  `features.${flags![0]} needs encryption.key (SVC_ENCRYPTION_KEY): ${needsEncryptionKey}. Generate one with npx svc-auth secret --show, and do not use the value of secret.`;

/** Refresh tokens are derived from a configured secret, which a guard that signs with a key pair may not have. */
function refreshTokenRoots({ guards, verifyOnly, encryption: { key } }: AuthConfig): string[] {
  if (verifyOnly || key) return [];
  return guards.flatMap(({ guard, algorithm, secret, nameOf }) => {
    if (algorithm !== 'RS256' && algorithm !== 'ES256') return [];
    const correction = 'Set encryption.key (SVC_ENCRYPTION_KEY); npx svc-auth secret --show generates one.';
    if (!secret) return [`The guard "${guard}" has no secret from which refresh tokens can be derived. ${correction}`];
    return Buffer.byteLength(secret) < KEY_BYTES
      ? [
          `${nameOf('secret')} (SVC_SECRET) is shorter than ${KEY_BYTES} bytes, and refresh tokens are derived from it. ${correction}`,
        ]
      : [];
  });
}

function audienceConflict(a: GuardConfig, b: GuardConfig): string[] {
  const shared = a.audience.find((audience) => b.audience.includes(audience));
  if (shared === undefined) return [];
  return [
    `The guards "${a.guard}" and "${b.guard}" share the audience ${shared}, so each would accept the other's tokens. ` +
      `Set guards.${a.guard}.audience to a value that no other guard has.`,
  ];
}

/** @param suffixes of the names of a guard's cookies, after the name of its refresh cookie */
function cookieConflict(a: GuardConfig, b: GuardConfig, suffixes: readonly string[]): string[] {
  const namesOf = ({ cookie }: GuardConfig): string[] => suffixes.map((suffix) => cookie.refreshName + suffix);
  const [ofA, ofB] = [namesOf(a), namesOf(b)];
  const shared = ofA.find((name) => ofB.includes(name));
  if (shared === undefined) return [];
  return [
    `The guards "${a.guard}" and "${b.guard}" share the cookie ${shared}, so each login would end the other's. ` +
      `Set guards.${a.guard}.cookie.refreshName to a value that no other guard has.`,
  ];
}

function pathConflict(a: GuardConfig, b: GuardConfig, withRoutesBelow: readonly string[]): string[] {
  const domainsOverlap = a.domain === null || b.domain === null || a.domain === b.domain;
  if (!domainsOverlap || !haveCommonRoutes(a.path, b.path, withRoutesBelow)) return [];
  const isSame = a.path.toLowerCase() === b.path.toLowerCase();
  const problem = isSame
    ? `are both mounted at "${a.path}"`
    : `are mounted at "${a.path}" and "${b.path}", where both can have the same route`;
  return [
    `The guards "${a.guard}" and "${b.guard}" ${problem}. ` +
      `Set guards.${a.guard}.path, such as "${a.guard}/auth", or give both a domain.`,
  ];
}

/**
 * Whether guards at these two paths can have the same route. One path may be inside the other, but not where it meets
 * routes: below `auth`, a guard at `auth/passkeys` would have a second `POST auth/passkeys/login`. Express matches paths
 * without regard to case, and so does Fastify with `caseSensitive: false`.
 *
 * @param withRoutesBelow segments of the library's own paths with further routes below them
 */
function haveCommonRoutes(a: string, b: string, withRoutesBelow: readonly string[]): boolean {
  const [outer, inner] = [a, b].map((path) => path.toLowerCase()).sort((one, other) => one.length - other.length) as [
    string,
    string,
  ];
  if (outer === inner) return true;
  const isInside = outer === '' || inner.startsWith(`${outer}/`);
  const [first = ''] = inner.slice(outer === '' ? 0 : outer.length + 1).split('/', 1);
  return isInside && withRoutesBelow.includes(first);
}

const duplicates = (names: readonly string[]): string[] => names.filter((name, i) => names.indexOf(name) !== i);

/** Returns the names of two guards that have a common route, apart from its host name, or undefined. Pure. */
export function sharedPath(
  guards: readonly Pick<GuardConfig, 'guard' | 'path'>[],
  withRoutesBelow: readonly string[],
): [string, string] | undefined {
  for (const [i, { guard, path }] of guards.entries()) {
    const other = guards.slice(i + 1).find((one) => haveCommonRoutes(one.path, path, withRoutesBelow));
    if (other) return [guard, other.guard];
  }
  return undefined;
}
