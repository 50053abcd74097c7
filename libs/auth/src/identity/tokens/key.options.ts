import type { JsonWebKey } from 'node:crypto';
import { type OptionTree, type TableOf, type WithDefaults, text, value } from '../../foundation/config/option-table';

/** The asymmetric key ring. Used under `RS256` and `ES256`. */
export interface KeyOptions {
  /**
   * `kid` header of new tokens (RFC 7515 §4.1.4). It must name an entry of {@link public}; otherwise no key could
   * verify them.
   *
   * @default 'default'
   * @env SVC_ACTIVE_KID
   */
  active?: string;

  /**
   * Private key that signs: an inline PEM, or a file path, optionally prefixed with `@`. Without it the module only
   * verifies tokens, and `routes` must be `false`.
   *
   * @default none
   * @env SVC_PRIVATE_KEY
   */
  private?: string;

  /**
   * Passphrase of an encrypted private key.
   *
   * @default none
   * @env SVC_KEY_PASSPHRASE
   */
  passphrase?: string;

  /**
   * Public keys by `kid`: inline PEMs or file paths. Blank and unreadable entries are skipped. Keep the entry of a
   * retired key until the last token that it signed has expired.
   *
   * @default {}
   * @env SVC_PUBLIC_KEY (one entry, under SVC_ACTIVE_KID)
   */
  public?: Record<string, string>;

  /**
   * The URL of the issuer's JWK Set (RFC 7517 §5), such as `https://api.example.com/auth/jwks`, or a function that
   * resolves to the set. For services that only verify tokens. It replaces {@link public}. The application does not
   * start if {@link private}, or `HS256` is configured together with it, or `verifyOnly` is not set.
   *
   * The service reads the set when a token has an unknown `kid`, and in the background when the `max-age` of the last
   * response is over (10 minutes for a function, and for a response without `max-age`); at most once in 10 seconds.
   * While reads fail, the keys of the last successful read stay valid. A key that a successful read no longer lists
   * verifies no token. A token with an unknown `kid` is answered 503 if no read has succeeded yet or the last one
   * failed, otherwise 401.
   *
   * A key is ignored if its type does not fit `algorithm`, if it has another `use` or `alg`, if it is private,
   * symmetric or an RSA key under 2048 bits, or if it has no `kid`. The URL must be https; http is accepted for
   * loopback addresses, and outside production. A read fails after `storeTimeoutMs`, on a redirect, and for a response
   * of more than 256 KiB or 100 keys.
   *
   * @default none
   * @env SVC_JWKS_URL
   */
  jwks?: string | (() => Promise<{ keys: JsonWebKey[] }>);

  /**
   * Publishes the public keys of the default guard for API gateways, which find them by the issuer: the path of the key set below
   * `issuer`, such as `/.well-known/jwks.json`. The document `/.well-known/openid-configuration` below `issuer` names it (OpenID
   * Connect Discovery 1.0 §4). Both are outside `path` and the prefix of the application. Needs an asymmetric `algorithm`,
   * and an `issuer` that is an https URL without a query; http is accepted for localhost outside production.
   *
   * @default none
   * @env SVC_DISCOVERY
   */
  discovery?: string;
}

declare module '../../foundation/config/auth-config' {
  interface GuardConfig {
    readonly keys: WithDefaults<KeyOptions, 'private' | 'passphrase' | 'jwks' | 'discovery'>;
  }
}

export const KEY_OPTIONS = {
  keys: {
    active: text({ default: 'default', env: 'ACTIVE_KID' }),
    private: text({ env: 'PRIVATE_KEY' }),
    passphrase: text({ env: 'KEY_PASSPHRASE' }),
    public: value({ default: {} }),
    jwks: value({ env: 'JWKS_URL' }),
    discovery: text({ env: 'DISCOVERY' }),
  } satisfies TableOf<KeyOptions>,
} satisfies OptionTree;
