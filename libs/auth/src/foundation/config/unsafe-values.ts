import type { AuthConfig, GuardConfig } from './auth-config';
import { EXAMPLE_URL } from './core-options';
import { isGuessable } from './secret-strength.policy';
import { wildcardErrors } from './url-checks';

const KEY_BYTES = 32;

/**
 * Returns the errors of values that are valid and not safe, each with its correction: secrets that can be guessed, one
 * value with two purposes, and in production the values of an example or of development.
 */
export function unsafeValueErrors(config: AuthConfig, production: boolean): string[] {
  const { guards, encryption } = config;
  const ofGuards = guards.flatMap((guard) => [
    ...guessableSecrets(guard),
    ...wildcardErrors(guard, production),
    ...(production ? ofExamples(guard) : []),
  ]);
  const secrets = guards.flatMap(({ secret }) => secret ?? []);
  const isShared = [...secrets, ...guards.flatMap(({ previousSecrets }) => previousSecrets)].some(
    (secret) => secret === encryption.key,
  );
  const texts = [
    ...ofGuards,
    isWeak(encryption.key) && guessable('encryption.key (SVC_ENCRYPTION_KEY)'),
    encryption.previousKeys.some(isWeak) && guessable('encryption.previousKeys (SVC_PREVIOUS_ENCRYPTION_KEYS)'),
    production &&
      (config.redis.tls as { rejectUnauthorized?: boolean } | undefined)?.rejectUnauthorized === false &&
      'redis.tls.rejectUnauthorized is false, so any server could be taken for Redis. In production, set redis.tls.ca to the certificate of its authority.',
    isShared &&
      `encryption.key (SVC_ENCRYPTION_KEY) has the value of secret (SVC_SECRET) or of previousSecrets, ${ONE_LEAK}`,
    encryption.previousKeys.some((key) => secrets.includes(key)) &&
      `encryption.previousKeys (SVC_PREVIOUS_ENCRYPTION_KEYS) has the value of secret (SVC_SECRET), ${ONE_LEAK}`,
  ].filter((text): text is string => typeof text === 'string');
  // Guards inherit options.
  return [...new Set(texts)];
}

const ONE_LEAK =
  'so one leak opens both. Generate a new secret and a new key with npx svc-auth secret --show, and keep the former value in ' +
  'previousSecrets and in encryption.previousKeys.';

/** Shorter texts are refused for their length. */
const isWeak = (text: string | undefined): boolean =>
  text !== undefined && Buffer.byteLength(text) >= KEY_BYTES && isGuessable(text);

const guessable = (option: string): string =>
  `${option} repeats a pattern or few characters, or is a sequence or a published example, so it can be guessed. Generate ` +
  'one with npx svc-auth secret --show.';

const guessableSecrets = ({ secret, previousSecrets, nameOf }: GuardConfig): (string | false)[] => [
  isWeak(secret) && guessable(`${nameOf('secret')} (SVC_SECRET)`),
  previousSecrets.some(isWeak) && guessable(`${nameOf('previousSecrets')} (SVC_PREVIOUS_SECRETS)`),
];

const ofExamples = ({ issuer, audience, cookie, nameOf }: GuardConfig): (string | false)[] => [
  issuer === EXAMPLE_URL &&
    `${nameOf('issuer')} (SVC_ISSUER) is the example ${EXAMPLE_URL}. In production, set it to the URL of your API.`,
  audience.includes(EXAMPLE_URL) &&
    `${nameOf('audience')} (SVC_AUDIENCE) has the example ${EXAMPLE_URL}. In production, set it to the URL of your API.`,
  !cookie.secure &&
    `${nameOf('cookie.secure')} (SVC_COOKIE_SECURE) is false. In production, the refresh cookie must be sent over TLS only: remove the option.`,
];
