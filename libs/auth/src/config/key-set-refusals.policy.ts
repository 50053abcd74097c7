import type { AuthConfig, GuardConfig } from './auth-config';

/** Why keys must not be read as they are configured to be, each with its cure. */
export const keySetRefusals = ({ guards, routes }: AuthConfig, production: boolean): string[] =>
  guards.flatMap((guard) => (guard.keys.jwks === undefined ? [] : ofOne(guard, routes, production)));

function ofOne({ keys, algorithm, nameOf }: GuardConfig, routes: boolean, production: boolean): string[] {
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
