import type {
  GithubOptions,
  GoogleOptions,
  KeycloakOptions,
  AppleOptions,
  IdentityProvider,
  MicrosoftOptions,
  OidcOptions,
  ProviderSettings,
} from './provider-options';

/** The settings with the secrets are beside the provider, so that nothing that prints an object shows them. */
const SETTINGS = new WeakMap<object, ProviderSettings>();

/** A class of its own: options that are plain objects are merged, and would be another object. */
class ConfiguredProvider {
  constructor({ credential: _credential, claims: _claims, ...shown }: ProviderSettings) {
    Object.assign(this, shown);
  }
}

/** The settings of a provider; undefined for an object that no function of this file has made. */
export const settingsOf = (value: unknown): ProviderSettings | undefined => SETTINGS.get(value as object);

type Preset = Pick<ProviderSettings, 'factory'> & Partial<Pick<ProviderSettings, 'claims' | 'credential' | 'api'>>;

function configured(
  options: Omit<OidcOptions, 'clientSecret' | 'privateKey'> & Partial<OidcOptions>,
  preset: Preset,
): IdentityProvider {
  const { issuer, clientSecret, privateKey, clientAuthentication, endSession = false } = options;
  const settings: ProviderSettings = {
    claims: {},
    credential: privateKey ? { key: privateKey } : { secret: clientSecret ?? '', method: clientAuthentication },
    ...preset,
    issuer,
    clientId: options.clientId,
    redirectUris: options.redirectUris,
    pageUrl: options.pageUrl,
    responseMode: options.responseMode ?? 'query',
    scopes: preset.api
      ? ['read:user', 'user:email']
      : [...new Set(['openid', ...(options.scopes ?? ['email', 'profile'])])],
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
  };
  const made = new ConfiguredProvider(settings) as unknown as IdentityProvider;
  SETTINGS.set(made, settings);
  return made;
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
export const oidc = (options: OidcOptions): IdentityProvider => configured(options, { factory: 'oidc' });

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
  return configured(
    {
      ...options,
      issuer: 'https://accounts.google.com',
      canConfirm: false,
      parameters: { ...hd, ...options.parameters },
    },
    { factory: 'google', claims: domain === undefined ? {} : { oneOf: { claim: 'hd', values: workspaceDomains } } },
  );
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
  return configured(
    { ...options, issuer: at(id) },
    { factory: 'microsoft', claims: { emailVerified: 'xms_edov', tenants: { of, issuer: at('{tenantid}') } } },
  );
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
  configured(
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
  configured({ issuer: 'https://gitlab.com', ...options }, { factory: 'gitlab' });

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
  configured(
    { ...options, issuer: `${url.replace(/\/+$/, '')}/realms/${encodeURIComponent(realm)}` },
    { factory: 'keycloak' },
  );

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
  return configured(
    { ...options, issuer, canConfirm: false },
    { factory: 'github', api: issuer === 'https://github.com' ? 'https://api.github.com' : `${issuer}/api/v3` },
  );
}
