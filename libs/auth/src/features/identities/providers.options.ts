/**
 * An identity provider of a guard, made by {@link oidc}, {@link google}, {@link microsoft}, {@link apple}, {@link gitlab},
 * {@link keycloak} or {@link github}. It does not show its secrets: not as a member, nor in a log.
 *
 * @publicApi
 */
export interface IdentityProvider {
  /** The issuer of the identities. With several tenants, that of an identity is the issuer of its tenant. */
  readonly issuer: string;
  /** The pages to which the provider sends the browser back, exactly as written. The first is the default. */
  readonly redirectUris: readonly string[];
  /** With `form_post`: the page that gets the handle of the answer, because a page cannot receive a form. */
  readonly pageUrl?: string;
  readonly responseMode: 'query' | 'form_post';
  readonly secondFactor: 'ask' | 'provider';
  /** Values of `acr` that mean two factors, beside `mfa` in `amr`. */
  readonly acrOfTwoFactors: readonly string[];
  /** The domains of email addresses whose owners the provider knows. */
  readonly authorityFor: readonly string[] | 'any';
  /** Whether the provider asks the person again on request, and says when it has. Only then can it confirm actions. */
  readonly canConfirm: boolean;
  /** Whether signing out here offers to sign out at the provider. */
  readonly endSession: boolean;
}

/**
 * The options that every provider has.
 *
 * @publicApi
 */
export interface ProviderOptions {
  /** The id that the provider has given to this application. */
  clientId: string;

  /**
   * The pages to which the provider sends the browser back, exactly as they are registered there, without query and fragment. The
   * first is the default. No other provider of the guard may have one of them: an answer of one provider could otherwise be taken
   * for that of another one (RFC 9700 §4.4).
   */
  redirectUris: readonly string[];

  /**
   * The domains of email addresses whose owners the provider knows: `['example.com']` for the directory of a company. Only for these
   * does `email_verified` count: a new account then has a verified address. `'any'`: for every domain.
   *
   * @default []
   */
  authorityFor?: readonly string[] | 'any';

  /**
   * `'ask'`: a user with a second factor is asked for it after the provider, too. `'provider'`: not if the provider says that it has
   * verified two factors: `mfa` is in `amr`, or `acr` is in `acrOfTwoFactors`.
   *
   * @default 'ask'
   */
  secondFactor?: 'ask' | 'provider';

  /**
   * Values of `acr` with which the provider says that it has verified two factors.
   *
   * @default []
   */
  acrOfTwoFactors?: readonly string[];

  /** Parameters that the request at the provider gets, such as `{ prompt: 'select_account' }`. Those of the protocol stay. */
  parameters?: Readonly<Record<string, string>>;

  /**
   * Milliseconds that the requests of one step may take together, 1,000 to 30,000. Then the step is answered 503.
   *
   * @default 10000
   */
  timeoutMs?: number;
}

/**
 * The options of a provider with OpenID Connect.
 *
 * @publicApi
 */
export interface OidcOptions extends ProviderOptions {
  /** The issuer, as the provider states it in its discovery document and its tokens: `https://id.example.com`. */
  issuer: string;

  /** The secret of this application at the provider. Either this or `privateKey`. */
  clientSecret?: string;

  /** The key that signs in this application at the provider instead of a secret (`private_key_jwt`). */
  privateKey?: ClientKey;

  /**
   * How the secret is sent.
   *
   * @default what the provider's discovery document offers; `client_secret_basic` if it offers both
   */
  clientAuthentication?: 'client_secret_basic' | 'client_secret_post';

  /**
   * What is asked of the provider. `openid` is always asked.
   *
   * @default ['openid', 'email', 'profile']
   */
  scopes?: readonly string[];

  /**
   * How the provider sends its answer. `form_post` needs `pageUrl`, and its redirect URI is `POST /identities/:provider/form` of this
   * application.
   *
   * @default 'query'
   */
  responseMode?: 'query' | 'form_post';

  /** With `form_post`: the page of the application that gets the handle of the answer. */
  pageUrl?: string;

  /**
   * Whether the provider can confirm an action: it asks the person again for `prompt=login` and `max_age=0`, and its tokens have
   * `auth_time`.
   *
   * @default true
   */
  canConfirm?: boolean;

  /**
   * Offers to sign out at the provider, too, if it has an `end_session_endpoint`. `returnTo` is the page to which the provider then
   * sends the browser, as it is registered there.
   *
   * @default false
   */
  endSession?: boolean | { returnTo: string };

  /**
   * Seconds by which the clock of the provider may differ, 0 to 300.
   *
   * @default 60
   */
  clockToleranceSeconds?: number;

  /**
   * Allows private addresses in production, for a provider in the own network. Link-local addresses, at which clouds offer secrets,
   * are never allowed.
   *
   * @default false
   */
  allowPrivateNetwork?: boolean;
}

/**
 * A private key of this application.
 *
 * @publicApi
 */
export interface ClientKey {
  /** The key as PEM: RSA with at least 2,048 bits, P-256, P-384 or Ed25519. */
  pem: string;
  /** The `kid` under which the provider knows the public key. */
  keyId?: string;
}
