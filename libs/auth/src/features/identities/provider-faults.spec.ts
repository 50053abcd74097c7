import { generateKeyPairSync } from 'node:crypto';
import { providerErrors } from './provider-faults';
import type { OidcOptions } from './provider-options';
import { apple, microsoft, oidc } from './providers';

const OPTIONS: OidcOptions = {
  issuer: 'https://id.example.com',
  clientId: 'app',
  clientSecret: 'the-secret',
  redirectUris: ['https://app.example.com/signed-in'],
};

const errorsOf = (provider: unknown, production = false, name = 'main') =>
  providerErrors('identities.providers', { [name]: provider }, production);

describe('the configuration of providers', () => {
  it('has no error for each valid provider', () => {
    expect(errorsOf(oidc(OPTIONS), true)).toEqual([]);
    expect(errorsOf(oidc({ ...OPTIONS, issuer: 'https://id.example.com/realms/a' }), true)).toEqual([]);
    expect(
      errorsOf(oidc({ ...OPTIONS, issuer: 'http://localhost:8080', redirectUris: ['http://127.0.0.1:3000/'] })),
    ).toEqual([]);
  });

  it.each<[string, Partial<Record<keyof OidcOptions, unknown>>, string]>([
    ['no client', { clientId: undefined }, 'clientId is missing'],
    ['no secret', { clientSecret: '' }, 'clientSecret is missing, and so is privateKey'],
    ['a key that is no PEM', { privateKey: { pem: 'the-secret' } }, 'privateKey is no private key as PEM'],
    ['no issuer', { issuer: undefined }, 'issuer is no http(s) URL'],
    ['an empty issuer', { issuer: '' }, 'issuer is no http(s) URL'],
    ['an issuer with http', { issuer: 'http://id.example.com' }, 'issuer uses http'],
    ['an issuer with a query', { issuer: 'https://id.example.com?a' }, 'issuer has a user name, a query or a fragment'],
    ['Entra without tenant', { issuer: 'https://login.microsoftonline.com/common/v2.0' }, 'Use microsoft()'],
    ['no page', { redirectUris: [] }, 'redirectUris is empty'],
    ['a page that is no URL', { redirectUris: ['/signed-in'] }, 'redirectUris has an entry that is no http(s) URL'],
    ['a page with a fragment', { redirectUris: ['https://a.example.com/#a'] }, 'a query or a fragment'],
    [
      'a page in another spelling',
      { redirectUris: ['https://A.example.com/'] },
      'not written as https://a.example.com/',
    ],
    ['a page without its slash', { redirectUris: ['https://a.example.com'] }, 'not written as https://a.example.com/'],
    ['form_post without a page', { responseMode: 'form_post' }, 'pageUrl is missing'],
    ['a return that is no URL', { endSession: { returnTo: '/' } }, 'endSession.returnTo is no http(s) URL'],
    ['a domain with an @', { authorityFor: ['@example.com'] }, 'authorityFor is neither'],
    ['a domain in upper case', { authorityFor: ['Example.com'] }, 'authorityFor is neither'],
    ['a short timeout', { timeoutMs: 10 }, 'timeoutMs is not a whole number from 1000'],
    ['a wide tolerance', { clockToleranceSeconds: 301 }, 'clockToleranceSeconds is not a whole number'],
  ])('is refused with %s', (_, options, text) => {
    const errors = errorsOf(oidc({ ...OPTIONS, ...options } as OidcOptions));
    expect(errors).toEqual([expect.stringContaining(text)]);
    expect(errors[0]).toMatch(/^identities\.providers\.main\./);
    expect(errors[0]).not.toContain('the-secret');
  });

  it('is refused in production with http on localhost', () => {
    const local = { ...OPTIONS, issuer: 'http://localhost:8080' };
    expect(errorsOf(oidc(local), true)).toEqual([expect.stringContaining('production needs https')]);
  });

  it.each<[string, string[] | 'any' | undefined, boolean]>([
    ['11111111-2222-3333-4444-555555555555', undefined, true],
    ['consumers', undefined, true],
    ['common', 'any', true],
    ['organizations', ['11111111-2222-3333-4444-555555555555'], true],
    ['organizations', undefined, false],
    ['common', ['example.com'], false],
    ['example.com', undefined, false],
  ])('with the tenant %s and tenants %j: %s', (tenant, tenants, isValid) => {
    const { clientId, clientSecret, redirectUris } = OPTIONS;
    expect(errorsOf(microsoft({ clientId, clientSecret, redirectUris, tenant, tenants })).length === 0).toBe(isValid);
  });

  it('takes only a key of P-256 for Apple', () => {
    const of = (namedCurve: string) =>
      apple({
        clientId: 'app',
        teamId: 'TEAM123456',
        keyId: 'KEY1234567',
        privateKey: String(
          generateKeyPairSync('ec', { namedCurve }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
        ),
        redirectUris: ['https://api.example.com/auth/identities/apple/form'],
        pageUrl: 'https://app.example.com/signed-in',
      });
    expect(errorsOf(of('P-256'))).toEqual([]);
    expect(errorsOf(of('P-384'))).toEqual([expect.stringContaining('cannot be used')]);
  });

  it('is refused with a name that is no part of a URL, and with an object that no function has made', () => {
    expect(errorsOf(oidc(OPTIONS), false, 'My Provider')).toEqual([expect.stringContaining('no name for a provider')]);
    expect(errorsOf({ ...oidc(OPTIONS) })).toEqual([expect.stringContaining('is not made by oidc()')]);
    expect(errorsOf(undefined)).toEqual([expect.stringContaining('is not made by oidc()')]);
  });

  it('is refused with two providers that share a redirect URI', () => {
    const providers = { first: oidc(OPTIONS), second: oidc({ ...OPTIONS, issuer: 'https://other.example.com' }) };
    expect(providerErrors('identities.providers', providers, false)).toEqual([
      expect.stringContaining('identities.providers.second.redirectUris has https://app.example.com/signed-in'),
    ]);
  });
});
