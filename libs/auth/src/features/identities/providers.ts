import type { ClaimRules } from './protocol/provider-identity.policy';
import type { ClientKey, IdentityProvider, OidcOptions, ProviderOptions } from './providers.options';

/** How the application proves who it is to the provider. */
export type ClientCredential =
  | { readonly secret: string; readonly method?: 'client_secret_basic' | 'client_secret_post' }
  | { readonly key: ClientKey }
  | { readonly apple: { readonly teamId: string; readonly keyId: string; readonly pem: string } };

/** Everything about a provider, for the protocol. */
export interface ProviderSettings extends IdentityProvider {
  /** The function that made it. */
  readonly factory: string;
  readonly clientId: string;
  readonly credential: ClientCredential;
  readonly scopes: readonly string[];
  readonly parameters: Readonly<Record<string, string>>;
  readonly returnTo?: string;
  readonly timeoutMs: number;
  readonly clockToleranceSeconds: number;
  readonly allowPrivateNetwork: boolean;
  readonly claims: ClaimRules;
  /** The API of GitHub, which has no OpenID Connect. */
  readonly api?: string;
}

class ConfiguredProvider implements IdentityProvider {
  readonly #settings: ProviderSettings;
  readonly issuer: string;
  readonly redirectUris: readonly string[];
  readonly pageUrl?: string;
  readonly responseMode: 'query' | 'form_post';
  readonly secondFactor: 'ask' | 'provider';
  readonly acrOfTwoFactors: readonly string[];
  readonly authorityFor: readonly string[] | 'any';
  readonly canConfirm: boolean;
  readonly endSession: boolean;

  constructor(settings: ProviderSettings) {
    this.#settings = settings;
    ({
      issuer: this.issuer,
      redirectUris: this.redirectUris,
      pageUrl: this.pageUrl,
      responseMode: this.responseMode,
      secondFactor: this.secondFactor,
      acrOfTwoFactors: this.acrOfTwoFactors,
      authorityFor: this.authorityFor,
      canConfirm: this.canConfirm,
      endSession: this.endSession,
    } = settings);
  }

  static settingsOf(made: unknown): ProviderSettings | undefined {
    return typeof made === 'object' && made !== null && #settings in made ? made.#settings : undefined;
  }
}

/** The settings of a provider; undefined for an object that no function of this file has made. */
export const settingsOf = (made: unknown): ProviderSettings | undefined => ConfiguredProvider.settingsOf(made);

type Preset = Pick<ProviderSettings, 'factory'> & Partial<Pick<ProviderSettings, 'claims' | 'credential' | 'api'>>;

function provider(
  options: Omit<OidcOptions, 'clientSecret' | 'privateKey'> & Partial<OidcOptions>,
  preset: Preset,
): IdentityProvider {
  const { issuer, clientSecret, privateKey, clientAuthentication, endSession = false } = options;
  return new ConfiguredProvider({
    claims: {},
    credential: privateKey ? { key: privateKey } : { secret: clientSecret ?? '', method: clientAuthentication },
    ...preset,
    issuer,
    clientId: options.clientId,
    redirectUris: options.redirectUris,
    pageUrl: options.pageUrl,
    responseMode: options.responseMode ?? 'query',
    scopes: [...new Set(['openid', ...(options.scopes ?? ['email', 'profile'])])],
    parameters: options.parameters ?? {},
    secondFactor: options.secondFactor ?? 'ask',
    acrOfTwoFactors: options.acrOfTwoFactors ?? [],
    authorityFor: options.authorityFor ?? [],
    canConfirm: options.canConfirm ?? true,
    endSession: endSession !== false,
    returnTo: typeof endSession === 'object' ? endSession.returnTo : undefined,
    timeoutMs: options.timeoutMs ?? 10_000,
    clockToleranceSeconds: options.clockToleranceSeconds ?? 60,
    allowPrivateNetwork: options.allowPrivateNetwork ?? false,
  });
}

/**
 * Any provider with OpenID Connect: Okta, Auth0, a company's single sign-on. Its endpoints and keys come from its discovery document,
 * which is read at the first sign-in.
 *
 * @example
 * oidc({
 *   issuer: 'https://example.okta.com',
 *   clientId: process.env.OKTA_CLIENT_ID!,
 *   clientSecret: process.env.OKTA_CLIENT_SECRET!,
 *   redirectUris: ['https://app.example.com/signed-in/okta'],
 * })
 *
 * @publicApi
 */
export const oidc = (options: OidcOptions): IdentityProvider => provider(options, { factory: 'oidc' });

/**
 * The options of {@link google}.
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
 * Google. It does not ask a person again on request, so it confirms no actions.
 *
 * Google verifies the address of an account once, when the account is created. It knows the present owner of an address only in
 * `gmail.com` and in a Workspace domain: list these in `authorityFor`.
 *
 * @example
 * google({
 *   clientId: process.env.GOOGLE_CLIENT_ID!,
 *   clientSecret: process.env.GOOGLE_CLIENT_SECRET!,
 *   redirectUris: ['https://app.example.com/signed-in/google'],
 *   authorityFor: ['gmail.com'],
 * })
 *
 * @publicApi
 */
export function google({ workspaceDomains = [], ...options }: GoogleOptions): IdentityProvider {
  const [domain, another] = workspaceDomains;
  // Google takes one domain, or `*` for any Workspace domain. The claim decides.
  const hd: Record<string, string> = domain === undefined ? {} : { hd: another === undefined ? domain : '*' };
  return provider(
    {
      ...options,
      issuer: 'https://accounts.google.com',
      canConfirm: false,
      parameters: { ...hd, ...options.parameters },
    },
    { factory: 'google', claims: domain === undefined ? {} : { oneOf: { claim: 'hd', values: workspaceDomains } } },
  );
}

/**
 * The options of {@link microsoft}.
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

/** The tenant of all personal accounts. */
const CONSUMERS = '9188040d-6c67-4c5b-b112-36a304b66dad';

/**
 * Microsoft Entra. Add the optional claims `email`, `auth_time` and `xms_edov` to the ID token in its registration of the
 * application: without `auth_time`, it confirms no actions.
 *
 * @example
 * microsoft({
 *   tenant: '11111111-2222-3333-4444-555555555555',
 *   clientId: process.env.ENTRA_CLIENT_ID!,
 *   clientSecret: process.env.ENTRA_CLIENT_SECRET!,
 *   redirectUris: ['https://admin.example.com/signed-in/entra'],
 *   secondFactor: 'provider',
 * })
 *
 * @publicApi
 */
export function microsoft({ tenant, tenants, ...options }: MicrosoftOptions): IdentityProvider {
  const isShared = tenant === 'organizations' || tenant === 'common';
  const at = (id: string): string => `https://login.microsoftonline.com/${id}/v2.0`;
  const id = tenant === 'consumers' ? CONSUMERS : tenant;
  const of = isShared ? (tenants ?? []) : [id];
  return provider(
    { ...options, issuer: at(id) },
    { factory: 'microsoft', claims: { emailVerified: 'xms_edov', tenants: { of, issuer: at('{tenantid}') } } },
  );
}

/**
 * The options of {@link apple}.
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
 * Apple. `clientId` is the id of the service. Apple gives the name only at the first sign-in, as a text that the browser could change,
 * and no address to which a person has not agreed. It confirms no actions.
 *
 * @example
 * apple({
 *   clientId: 'com.example.app.web',
 *   teamId: 'ABCDE12345',
 *   keyId: 'FGHIJ67890',
 *   privateKey: process.env.APPLE_PRIVATE_KEY!,
 *   redirectUris: ['https://api.example.com/auth/identities/apple/form'],
 *   pageUrl: 'https://app.example.com/signed-in/apple',
 * })
 *
 * @publicApi
 */
export const apple = ({ teamId, keyId, privateKey: pem, ...options }: AppleOptions): IdentityProvider =>
  provider(
    {
      ...options,
      issuer: 'https://appleid.apple.com',
      scopes: ['email', 'name'],
      responseMode: 'form_post',
      canConfirm: false,
    },
    {
      factory: 'apple',
      credential: { apple: { teamId, keyId, pem } },
      claims: { emailVerified: 'text', nameOfForm: true },
    },
  );

/**
 * GitLab, by default gitlab.com.
 *
 * @example
 * gitlab({
 *   issuer: 'https://gitlab.example.com',
 *   clientId: process.env.GITLAB_CLIENT_ID!,
 *   clientSecret: process.env.GITLAB_CLIENT_SECRET!,
 *   redirectUris: ['https://app.example.com/signed-in/gitlab'],
 * })
 *
 * @publicApi
 */
export const gitlab = (options: Omit<OidcOptions, 'issuer'> & { issuer?: string }): IdentityProvider =>
  provider({ issuer: 'https://gitlab.com', ...options }, { factory: 'gitlab' });

/**
 * The options of {@link keycloak}.
 *
 * @publicApi
 */
export interface KeycloakOptions extends Omit<OidcOptions, 'issuer'> {
  /** The address of the server: `https://id.example.com`. */
  url: string;
  realm: string;
}

/**
 * A realm of Keycloak.
 *
 * @example
 * keycloak({
 *   url: 'https://id.internal.example.com',
 *   realm: 'staff',
 *   clientId: 'admin-console',
 *   clientSecret: process.env.KEYCLOAK_CLIENT_SECRET!,
 *   redirectUris: ['https://admin.example.com/signed-in/keycloak'],
 *   authorityFor: ['example.com'],
 *   allowPrivateNetwork: true,
 * })
 *
 * @publicApi
 */
export const keycloak = ({ url, realm, ...options }: KeycloakOptions): IdentityProvider =>
  provider(
    { ...options, issuer: `${url.replace(/\/+$/, '')}/realms/${encodeURIComponent(realm)}` },
    { factory: 'keycloak' },
  );

/**
 * The options of {@link github}.
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

/**
 * GitHub, the one provider without OpenID Connect: no nonce, no signed token. The person is the one of the API for the access token,
 * which is then forgotten. `email` is the primary address. It confirms no actions.
 *
 * @example
 * github({
 *   clientId: process.env.GITHUB_CLIENT_ID!,
 *   clientSecret: process.env.GITHUB_CLIENT_SECRET!,
 *   redirectUris: ['https://app.example.com/signed-in/github'],
 * })
 *
 * @publicApi
 */
export function github({ url = 'https://github.com', ...options }: GithubOptions): IdentityProvider {
  const issuer = url.replace(/\/+$/, '');
  return provider(
    { ...options, issuer, canConfirm: false },
    { factory: 'github', api: issuer === 'https://github.com' ? 'https://api.github.com' : `${issuer}/api/v3` },
  );
}
