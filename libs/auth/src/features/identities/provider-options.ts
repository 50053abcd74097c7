/**
 * An identity provider of a guard, made by `oidc`, `google`, `microsoft`, `apple`, `gitlab`, `keycloak` or `github`. It does not show its secrets: not as a member, nor in a log.
 *
 * @publicApi
 */
export interface IdentityProvider
  extends
    Readonly<Required<Pick<ProviderOptions, 'redirectUris' | 'secondFactor' | 'acrOfTwoFactors' | 'authorityFor'>>>,
    Readonly<Required<Pick<OidcOptions, 'responseMode' | 'canConfirm'>>>,
    Readonly<Pick<OidcOptions, 'pageUrl'>> {
  /** The issuer of the identities. With several tenants, that of an identity is the issuer of its tenant. */
  readonly issuer: string;
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

/**
 * The options of `google`.
 *
 * @publicApi
 */
export interface GoogleOptions extends ProviderOptions {
  clientSecret: string;

  /**
   * Only people of these Workspace domains may sign in (the claim `hd`). Without it, each person with a Google account.
   *
   * @default []
   */
  workspaceDomains?: readonly string[];
}

/**
 * The options of `microsoft`.
 *
 * @publicApi
 */
export interface MicrosoftOptions extends Omit<ProviderOptions, 'authorityFor'>, Pick<OidcOptions, 'endSession'> {
  /** The secret of this application. Either this or `privateKey`. */
  clientSecret?: string;

  /** The key that signs in this application at Entra instead of a secret. */
  privateKey?: ClientKey;

  /**
   * The id of the tenant, a UUID: only its members may sign in. `'consumers'` for personal accounts. `'organizations'` and `'common'`
   * (which includes personal accounts) take members of several tenants, and need `tenants`.
   */
  tenant: string;

  /**
   * With `'organizations'` and `'common'`: the ids of the tenants whose members may sign in. `'any'` for all tenants of the world.
   */
  tenants?: readonly string[] | 'any';

  /**
   * The domains of the tenant. An address in them counts as verified only with the optional claim `xms_edov`, which says that the tenant
   * owns its domain: each of its administrators can write any address into the directory of a tenant.
   *
   * @default []
   */
  authorityFor?: readonly string[];
}

/**
 * The options of `apple`.
 *
 * @publicApi
 */
export interface AppleOptions extends ProviderOptions {
  /** The id of the team, ten characters. */
  teamId: string;
  /** The id of the key, ten characters. */
  keyId: string;
  /** The key as PEM, as Apple gave it (`AuthKey_….p8`). Each request gets a secret that it has signed, for five minutes. */
  privateKey: string;
  /**
   * The page of the application that gets the handle of the answer. Apple posts a form, so the redirect URI is
   * `POST /identities/:provider/form` of this application.
   */
  pageUrl: string;
}

/**
 * The options of `keycloak`.
 *
 * @publicApi
 */
export interface KeycloakOptions extends Omit<OidcOptions, 'issuer'> {
  /** The address of the server: `https://id.example.com`. */
  url: string;
  realm: string;
}

/**
 * The options of `github`.
 *
 * @publicApi
 */
export interface GithubOptions extends ProviderOptions, Pick<OidcOptions, 'allowPrivateNetwork'> {
  clientSecret: string;

  /**
   * The address of GitHub Enterprise Server.
   *
   * @default 'https://github.com'
   */
  url?: string;
}

/** How the application proves who it is to the provider. */
export type ClientCredential =
  | { readonly secret: string; readonly method?: 'client_secret_basic' | 'client_secret_post' }
  | { readonly key: ClientKey }
  | { readonly apple: { readonly teamId: string; readonly keyId: string; readonly pem: string } };

/** What a provider's claims must be, beside what OpenID Connect says. */
export interface ClaimRules {
  /** Who says that an address is verified: `email_verified` as the text "true", too; or Entra's `xms_edov` instead. */
  readonly emailVerified?: 'text' | 'xms_edov';
  /** A claim that must have one of some values. */
  readonly oneOf?: { readonly claim: string; readonly values: readonly string[] };
  /** Tenants of Entra, and their issuer with `{tenantid}`. */
  readonly tenants?: { readonly of: readonly string[] | 'any'; readonly issuer: string };
  /** Whether the name comes with the form, beside the token. */
  readonly nameOfForm?: boolean;
}

/** Everything about a provider, for the protocol. */
export interface ProviderSettings
  extends
    IdentityProvider,
    Readonly<Required<Pick<OidcOptions, 'clientId' | 'scopes' | 'parameters' | 'timeoutMs'>>>,
    Readonly<Required<Pick<OidcOptions, 'clockToleranceSeconds' | 'allowPrivateNetwork'>>> {
  /** The function that made it. */
  readonly factory: string;
  readonly credential: ClientCredential;
  readonly claims: ClaimRules;
  /** The page to which the provider sends the browser after its logout. */
  readonly returnTo?: string;
  /** The API of GitHub, which has no OpenID Connect. */
  readonly api?: string;
}
