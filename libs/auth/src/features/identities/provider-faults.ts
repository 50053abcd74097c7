import { signingAlgorithm } from './protocol/openid-library';
import { TENANT_ID } from './protocol/provider-identity.policy';
import type { ProviderSettings } from './provider-options';
import { settingsOf } from './providers';

const DOMAIN = /^(?:[a-z\d-]+\.)+[a-z\d-]+$/;
const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Why the application must not start with the providers of a guard, each text with the correction. The texts contain no secret.
 *
 * @param option the option: `identities.providers`
 */
export function providerErrors(
  option: string,
  providers: Readonly<Record<string, unknown>>,
  production: boolean,
): string[] {
  const takenBy = new Map<string, string>();
  return Object.entries(providers).flatMap(([name, value]) => {
    const named = `${option}.${name}`;
    if (!/^[a-z\d-]{1,32}$/.test(name))
      return [`${named} is no name for a provider: it is a part of URLs. Use 1 to 32 of a to z, 0 to 9 and "-".`];
    const settings = settingsOf(value);
    if (!settings)
      return [
        `${named} is not made by oidc(), google(), microsoft(), apple(), gitlab(), keycloak() or github() of @svc/auth/identities.`,
      ];
    const shared = list(settings.redirectUris).flatMap((uri) => {
      const other = takenBy.get(uri);
      takenBy.set(uri, name);
      return other === undefined || other === name
        ? []
        : [
            `${named}.redirectUris has ${uri}, as ${option}.${other} has. Give each provider a redirect URI of its own, so that an answer of one is never taken for that of the other.`,
          ];
    });
    return [...faultsOf(settings, production).map((fault) => `${named}.${fault}`), ...shared];
  });
}

const list = (value: unknown): readonly string[] => (Array.isArray(value) ? value : []);

function faultsOf(settings: ProviderSettings, production: boolean): string[] {
  const { issuer, redirectUris, pageUrl, authorityFor, claims, timeoutMs, clockToleranceSeconds, returnTo } = settings;
  const issuerFault = urlFault(issuer, production);
  const pages = list(redirectUris).map((uri) => urlFault(uri, production) ?? spellingFault(uri));
  const pageFault = pageUrl === undefined ? 'is missing' : urlFault(pageUrl, production);
  const returnFault = returnTo !== undefined && urlFault(returnTo, production);
  const { tenants } = claims;
  return [
    !isText(settings.clientId) &&
      'clientId is missing. Set it to the id that the provider has given to this application.',
    issuerFault && `issuer ${issuerFault}. Set it to the issuer of the provider, such as https://id.example.com.`,
    !tenants &&
      !issuerFault &&
      issuer.startsWith('https://login.microsoftonline.com/') &&
      'issuer is that of Microsoft Entra. Use microsoft(), which checks the tenant.',
    tenants && tenantFault(issuer, tenants.of),
    credentialFault(settings),
    !pages.length && 'redirectUris is empty. List the pages to which the provider sends the browser back.',
    ...pages.map(
      (fault) => fault && `redirectUris has an entry that ${fault}. Write it as it is registered at the provider.`,
    ),
    settings.responseMode === 'form_post' &&
      pageFault &&
      `pageUrl ${pageFault}. Set it to the page that gets the answer, such as https://app.example.com/signed-in.`,
    returnFault && `endSession.returnTo ${returnFault}.`,
    authorityFor !== 'any' &&
      (!Array.isArray(authorityFor) || !authorityFor.every((domain) => isText(domain) && DOMAIN.test(domain))) &&
      "authorityFor is neither 'any' nor a list of domains in lower case, such as ['example.com'].",
    !isWithin(timeoutMs, 1000, 30_000) && 'timeoutMs is not a whole number from 1000 to 30000.',
    !isWithin(clockToleranceSeconds, 0, 300) && 'clockToleranceSeconds is not a whole number from 0 to 300.',
  ].filter((text): text is string => typeof text === 'string');
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isWithin = (value: unknown, min: number, max: number): boolean =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max;

/** Why a URL of a provider or of a page cannot be used; null if it can. */
function urlFault(text: unknown, production: boolean): string | null {
  const url = isText(text) && URL.canParse(text) ? new URL(text) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) return 'is no http(s) URL';
  if (url.username || url.password || /[?#]/.test(text as string)) return 'has a user name, a query or a fragment';
  if (url.protocol === 'https:' || (!production && LOOPBACK.test(url.hostname))) return null;
  return production ? 'uses http, and production needs https' : 'uses http, which is allowed only for localhost';
}

/** The library sends the normal form of a URL with the code, and the provider compares it with the one of the attempt as text. */
function spellingFault(uri: string): string | null {
  const { href } = new URL(uri);
  return href === uri ? null : `is not written as ${href}`;
}

function tenantFault(issuer: string, allowed: readonly string[] | 'any'): string | false {
  const [, , , tenant = ''] = issuer.split('/');
  if (tenant !== 'organizations' && tenant !== 'common')
    return (
      !TENANT_ID.test(tenant) &&
      "tenant is neither the id of a tenant (a UUID in lower case), 'organizations', 'common' nor 'consumers'."
    );
  const isList = Array.isArray(allowed) && allowed.length > 0 && allowed.every((id) => TENANT_ID.test(id));
  return (
    allowed !== 'any' &&
    !isList &&
    "tenants is missing. List the ids of the tenants whose members may sign in, or 'any'."
  );
}

function credentialFault({ credential, factory }: ProviderSettings): string | false {
  if ('secret' in credential)
    return (
      !isText(credential.secret) &&
      `clientSecret is missing${factory === 'oidc' ? ', and so is privateKey' : ''}. Set it to the secret of this application at the provider.`
    );
  const isApple = 'apple' in credential;
  const pem = isApple ? credential.apple.pem : credential.key.pem;
  const cure = isApple
    ? 'Set it to the text of the file of Apple, AuthKey_….p8.'
    : 'Set privateKey.pem to an RSA key of 2,048 bits, P-256, P-384 or Ed25519.';
  let algorithm: string | undefined;
  try {
    algorithm = signingAlgorithm(pem);
  } catch {
    return `privateKey is no private key as PEM. ${cure}`;
  }
  return (isApple ? algorithm !== 'ES256' : !algorithm) && `privateKey is of a kind that cannot be used. ${cure}`;
}
