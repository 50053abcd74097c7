import type { AuthConfig, GuardConfig } from './auth-config';

/**
 * Why a configuration must not start, each with its cure. Pure: the isolation of guards is these lines.
 *
 * A token is told apart from another guard's by its audience alone when both share a key, so two
 * guards that share an audience would let user 7 of one table act as user 7 of another.
 */
export function refusals(config: AuthConfig, guardNames: readonly string[]): string[] {
  const { guards } = config;
  const pairs = guards.flatMap((a, i) => guards.slice(i + 1).map((b) => [a, b] as const));
  return [
    ...duplicates(guardNames).map((name) => `guards.${name} is named like the default guard. Rename one of them.`),
    ...guards.flatMap(ofOne),
    ...encryptionKeys(config),
    ...refreshTokenRoots(config),
    ...pairs.flatMap(([a, b]) => [
      ...sharedAudience(a, b),
      ...sharedCookie(a, b),
      ...(config.routes ? sharedPathOf(a, b) : []),
    ]),
  ];
}

// RFC 9110 §5.6.2; RFC 6265 §4.1.1 takes cookie names from it.
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Headers that clients, proxies and frameworks use for something else. */
const TAKEN = new Set(
  'authorization cookie host connection content-length content-type accept origin referer user-agent x-forwarded-for forwarded'.split(
    ' ',
  ),
);

function ofOne(config: GuardConfig): string[] {
  const { guard, isDefault, users, audience, algorithm, cookie, username, confirm, nameOf } = config;
  return [
    !/^[A-Za-z0-9_-]{1,64}$/.test(guard) &&
      `The guard name "${guard}" must be 1 to 64 letters, digits, "-" or "_": it becomes part of cookie names and keys.`,
    !users?.entity &&
      !users?.provider &&
      `${isDefault ? '' : `guards.${guard}.`}users is missing. Name the guard's own users: users: { entity: YourUser }, or users: { provider: YourUserProvider }.`,
    !audience.length && `${nameOf('audience')} (SVC_AUDIENCE) is empty. Give the guard an audience of its own.`,
    !['HS256', 'RS256', 'ES256'].includes(algorithm) &&
      `${nameOf('algorithm')} (SVC_ALGORITHM) is "${algorithm}". Use HS256, RS256 or ES256.`,
    !TOKEN.test(cookie.refreshName) &&
      `${nameOf('cookie.refreshName')} is not a cookie name (RFC 6265 §4.1.1). Use letters, digits, "-" and "_".`,
    ...cookie.origins
      .filter((origin) => !isOrigin(origin))
      .map(
        (origin) =>
          `${nameOf('cookie.origins')} (SVC_COOKIE_ORIGINS) has "${origin}", which is not the exact origin of a page. Use scheme, host and port as browsers write them, such as https://app.example.com.`,
      ),
    (!TOKEN.test(confirm.header) || TAKEN.has(confirm.header.toLowerCase())) &&
      `${nameOf('confirm.header')} (SVC_CONFIRM_HEADER) is "${confirm.header}", which is no header name or has another meaning. Use one such as X-Svc-Confirmation.`,
    !username && `${nameOf('username')} (SVC_USERNAME) is empty. Name the identifier column, such as "email".`,
  ].filter((text): text is string => typeof text === 'string');
}

const isOrigin = (text: string): boolean =>
  URL.canParse(text) &&
  /^https?:$/.test(new URL(text).protocol) &&
  new URL(text).origin === text &&
  !text.includes('*');

const KEY_BYTES = 32;

function encryptionKeys({ guards, encryption: { key, previousKeys } }: AuthConfig): string[] {
  const needed = (['twoFactor', 'passkeys'] as const).filter((name) => guards.some(({ features }) => features[name]));
  const short = (text: string): boolean => Buffer.byteLength(text) < KEY_BYTES;
  return [
    needed.length > 0 &&
      !key &&
      `features.${needed[0]} needs encryption.key (SVC_ENCRYPTION_KEY): its secrets are encrypted at rest. Make one with svc:secret --show, and keep it apart from secret.`,
    key &&
      short(key) &&
      `encryption.key (SVC_ENCRYPTION_KEY) is shorter than ${KEY_BYTES} bytes. Make one with svc:secret --show.`,
    previousKeys.some(short) &&
      `encryption.previousKeys (SVC_PREVIOUS_ENCRYPTION_KEYS) has an entry shorter than ${KEY_BYTES} bytes. Remove it.`,
  ].filter((text): text is string => typeof text === 'string' && text !== '');
}

/** Refresh tokens are derived from a configured text; a guard that signs with a key pair may have none. */
function refreshTokenRoots({ guards, routes, encryption: { key } }: AuthConfig): string[] {
  if (!routes || key) return [];
  return guards.flatMap(({ guard, algorithm, secret, nameOf }) => {
    if (algorithm !== 'RS256' && algorithm !== 'ES256') return [];
    const cure = 'Set encryption.key (SVC_ENCRYPTION_KEY); svc:secret --show makes one.';
    if (!secret) return [`The guard "${guard}" has nothing to derive refresh tokens from. ${cure}`];
    return Buffer.byteLength(secret) < KEY_BYTES
      ? [
          `${nameOf('secret')} (SVC_SECRET) is shorter than ${KEY_BYTES} bytes, and refresh tokens are derived from it. ${cure}`,
        ]
      : [];
  });
}

function sharedAudience(a: GuardConfig, b: GuardConfig): string[] {
  const shared = a.audience.find((audience) => b.audience.includes(audience));
  if (shared === undefined) return [];
  return [
    `The guards "${a.guard}" and "${b.guard}" share the audience ${shared}, so each would accept the other's tokens. ` +
      `Set guards.${a.guard}.audience to one of its own.`,
  ];
}

function sharedCookie(a: GuardConfig, b: GuardConfig): string[] {
  if (a.cookie.refreshName !== b.cookie.refreshName) return [];
  return [
    `The guards "${a.guard}" and "${b.guard}" share the cookie ${a.cookie.refreshName}, so each login would end the other's. ` +
      `Set guards.${a.guard}.cookie.refreshName to one of its own.`,
  ];
}

function sharedPathOf(a: GuardConfig, b: GuardConfig): string[] {
  const domainsOverlap = a.domain === null || b.domain === null || a.domain === b.domain;
  // Express matches paths without regard to case.
  if (a.path.toLowerCase() !== b.path.toLowerCase() || !domainsOverlap) return [];
  return [
    `The guards "${a.guard}" and "${b.guard}" are both mounted at "${a.path}". ` +
      `Set guards.${a.guard}.path, such as "${a.guard}/${a.path}", or give both a domain.`,
  ];
}

const duplicates = (names: readonly string[]): string[] => names.filter((name, i) => names.indexOf(name) !== i);

/** The names of two guards that nothing but the host name tells apart, or undefined. Pure. */
export function sharedPath(guards: readonly Pick<GuardConfig, 'guard' | 'path'>[]): [string, string] | undefined {
  for (const [i, { guard, path }] of guards.entries()) {
    const other = guards.slice(i + 1).find((one) => one.path === path);
    if (other) return [guard, other.guard];
  }
  return undefined;
}

/** Why keys must not be read as they are configured to be, each with its cure. */
export const keySetRefusals = ({ guards, routes }: AuthConfig, production: boolean): string[] =>
  guards.flatMap((guard) => (guard.keys.jwks === undefined ? [] : jwksRefusalsOf(guard, routes, production)));

function jwksRefusalsOf({ keys, algorithm, nameOf }: GuardConfig, routes: boolean, production: boolean): string[] {
  const option = `${nameOf('keys.jwks')} (SVC_JWKS_URL)`;
  const fault = sourceFault(keys.jwks, production);
  return [
    (keys.private || Object.keys(keys.public).length > 0) &&
      `${option} cannot be combined with keys.private and keys.public: the keys come from one place. Leave either out.`,
    algorithm === 'HS256' &&
      `${option} needs an algorithm with public keys. Set algorithm (SVC_ALGORITHM) to the issuer's, ES256 or RS256.`,
    routes &&
      `${option} is for services that only verify, and the routes sign tokens. Set routes to false, or give keys.private and keys.public instead.`,
    fault && `${option} ${fault}. Name the issuer's key set, such as https://api.example.com/auth/jwks.`,
  ].filter((text): text is string => typeof text === 'string');
}

/** Never shows the URL: it may have a password in it. */
function sourceFault(jwks: unknown, production: boolean): string | null {
  if (typeof jwks === 'function') return null;
  const url = typeof jwks === 'string' && URL.canParse(jwks) ? new URL(jwks) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) return 'is no http(s) URL and no function';
  if (url.username || url.password) return 'has a user name or a password in it';
  if (url.protocol === 'https:' || !production || isLoopback(url.hostname)) return null;
  return 'is http: whoever is on the way could answer with keys of their own, so production reads https only';
}

const isLoopback = (host: string): boolean => /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host);
