import { Logger } from '@nestjs/common';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { generateKeyPairSync } from 'node:crypto';
import http, { type ClientRequest, type IncomingMessage, type Server, createServer } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { IdentityProviderHost, json } from '../../../../../../test/support/identity-provider/identity-provider';
import { visit } from '../../../../../../test/support/identity-provider/visit';
import { MovableClock } from '../../../tools/testing/movable-clock';
import type { IdentityProvider } from '../provider-options';
import { apple, github, google, keycloak, microsoft, oidc, settingsOf } from '../providers';
import { CALLBACK, REFUSED } from './clients.testkit';
import { clientAuthentication, openidLibrary } from './openid-library';
import { ProviderClients } from './provider-clients';

const CLIENT = { clientId: 'app', clientSecret: 'the-secret', redirectUris: [CALLBACK] };
const clientsOf = (main: IdentityProvider): ProviderClients => new ProviderClients({ main }, new MovableClock());

beforeEach(() => void jest.spyOn(Logger.prototype, 'warn').mockImplementation());

describe('the preset of GitHub', () => {
  let server: Server;
  let url: string;
  let user: unknown;
  let emails: unknown;
  let asked: { path: string; authorization?: string; body: string }[];

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => {
        const path = request.url!;
        asked.push({ path, authorization: request.headers.authorization, body });
        if (path === '/login/oauth/access_token')
          return json(
            response,
            body.includes('code=right') ? { access_token: 'gho_1', token_type: 'bearer' } : { error: 'bad' },
          );
        return json(response, path === '/api/v3/user' ? user : emails);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  beforeEach(() => {
    asked = [];
    user = { id: 7, login: 'ada', name: 'Ada Lovelace' };
    emails = [
      { email: 'old@example.com', primary: false, verified: true },
      { email: 'ada@example.com', primary: true, verified: true },
    ];
  });

  async function exchange(code = 'right') {
    const clients = clientsOf(github({ ...CLIENT, url }));
    const begun = await clients.begin('main', CALLBACK);
    return {
      begun,
      identity: clients.exchange('main', new URLSearchParams({ code, state: begun.checks.state }), begun.checks),
    };
  }

  it('sends PKCE and state, and takes the person of the API by the number of the account', async () => {
    const { begun, identity } = await exchange();
    expect(Object.fromEntries(new URL(begun.url).searchParams)).toEqual({
      client_id: 'app',
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'read:user user:email',
      state: begun.checks.state,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    expect(await identity).toMatchObject({
      issuer: url,
      subject: '7',
      email: 'ada@example.com',
      emailVerified: true,
      name: 'Ada Lovelace',
    });
    expect(asked[0]!.body).toContain(`code_verifier=${begun.checks.verifier}`);
    expect(asked.slice(1).map(({ authorization }) => authorization?.toLowerCase())).toEqual([
      'bearer gho_1',
      'bearer gho_1',
    ]);
  });

  it('does not accept an address that is not verified, or that is not the primary one', async () => {
    emails = [{ email: 'ada@example.com', primary: true, verified: 'yes' }];
    expect(await (await exchange()).identity).toMatchObject({ email: 'ada@example.com', emailVerified: false });
    emails = [{ email: 'ada@example.com', primary: false, verified: true }];
    expect(await (await exchange()).identity).toMatchObject({ email: null, emailVerified: false });
  });

  it('refuses a wrong code, and a person without a number', async () => {
    await expect((await exchange('wrong')).identity).rejects.toMatchObject(REFUSED);
    user = { id: 'ada', login: 'ada' };
    await expect((await exchange()).identity).rejects.toMatchObject(REFUSED);
  });
});

describe('the preset of Microsoft Entra', () => {
  const TENANT = '11111111-2222-3333-4444-555555555555';
  const OTHER = '99999999-2222-3333-4444-555555555555';
  const ENTRA = 'https://login.microsoftonline.com';
  const at = (tenant: string): string => `${ENTRA}/${tenant}/v2.0`;
  let host: IdentityProviderHost;

  beforeAll(async () => {
    const secret = { client_id: 'app', client_secret: CLIENT.clientSecret, redirect_uris: [CALLBACK] };
    host = await IdentityProviderHost.start([secret]);
  });
  afterAll(() => host.stop());
  beforeEach(() => {
    host.reset();
    // The host of Entra is the provider of the test.
    jest.spyOn(https, 'request').mockImplementation(((
      to: URL,
      options: object,
      done: (from: IncomingMessage) => void,
    ) => {
      const path = to.pathname.replace(/^\/[^/]+\/v2\.0\/\.well-known/, '/.well-known');
      return http.request(new URL(path, host.issuer), options, done);
    }) as unknown as () => ClientRequest);
  });

  async function signIn(provider: IdentityProvider, issuer: string, claims: Record<string, unknown>) {
    host.wrong.discovery = {
      issuer,
      authorization_endpoint: `${ENTRA}/auth`,
      token_endpoint: `${ENTRA}/token`,
      userinfo_endpoint: `${ENTRA}/me`,
      jwks_uri: `${ENTRA}/jwks`,
      authorization_response_iss_parameter_supported: undefined,
    };
    host.wrong.claims = claims;
    const clients = clientsOf(provider);
    const { url, checks } = await clients.begin('main', CALLBACK);
    const received = await visit(url.replace(ENTRA, host.issuer));
    received.url.searchParams.delete('iss');
    return clients.exchange('main', received.url.searchParams, checks);
  }

  const of = (tenant: string, tenants?: readonly string[] | 'any') => microsoft({ ...CLIENT, tenant, tenants });

  it('signs members of its tenant in', async () => {
    const claims = { iss: at(TENANT), tid: TENANT, email: 'ada@example.com', xms_edov: true };
    const identity = await signIn(of(TENANT), at(TENANT), claims);
    expect(identity).toMatchObject({ issuer: at(TENANT), emailVerified: true });
  });

  it('does not accept an address without xms_edov, because a tenant can write any address into its directory', async () => {
    const claims = { iss: at(TENANT), tid: TENANT, email: 'ceo@example.com', email_verified: true };
    expect(await signIn(of(TENANT), at(TENANT), claims)).toMatchObject({ emailVerified: false });
  });

  it('signs members of the listed tenants in at the common endpoint, with the issuer of their tenant', async () => {
    const listed = of('organizations', [TENANT]);
    const template = at('{tenantid}');
    expect(await signIn(listed, template, { iss: at(TENANT), tid: TENANT })).toMatchObject({ issuer: at(TENANT) });
    await expect(signIn(listed, template, { iss: at(OTHER), tid: OTHER })).rejects.toMatchObject(REFUSED);
    await expect(signIn(listed, template, { iss: at(OTHER), tid: TENANT })).rejects.toMatchObject(REFUSED);
    await expect(signIn(listed, template, { iss: template, tid: '{tenantid}' })).rejects.toMatchObject(REFUSED);
    expect(await signIn(of('common', 'any'), template, { iss: at(OTHER), tid: OTHER })).toMatchObject({
      issuer: at(OTHER),
    });
  });

  it('refuses a provider of oidc() with the common endpoint, whose issuer is a template', async () => {
    const provider = oidc({ ...CLIENT, issuer: at('common') });
    await expect(signIn(provider, at('{tenantid}'), {})).rejects.toMatchObject({ code: 'provider_unavailable' });
  });
});

describe('the other presets', () => {
  it('sign the client secret of Apple with its key, for five minutes', async () => {
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const provider = apple({
      clientId: 'com.example.web',
      teamId: 'TEAM123456',
      keyId: 'KEY1234567',
      privateKey: String(key.privateKey.export({ type: 'pkcs8', format: 'pem' })),
      redirectUris: ['https://api.example.com/auth/identities/apple/form'],
      pageUrl: 'https://app.example.com/signed-in/apple',
    });
    expect(provider).toMatchObject({ responseMode: 'form_post', canConfirm: false });
    const body = new URLSearchParams();
    const seconds = Math.floor(Date.now() / 1000);
    const authenticate = await clientAuthentication(openidLibrary()(), settingsOf(provider)!, seconds);
    authenticate({ issuer: provider.issuer }, { client_id: 'com.example.web' }, body, new Headers());
    const secret = body.get('client_secret')!;
    expect(decodeProtectedHeader(secret)).toEqual({ alg: 'ES256', kid: 'KEY1234567' });
    expect((await jwtVerify(secret, key.publicKey)).payload).toEqual({
      iss: 'TEAM123456',
      sub: 'com.example.web',
      aud: 'https://appleid.apple.com',
      iat: seconds,
      exp: seconds + 300,
    });
  });

  it('ask Google for the domain of the Workspace, and state the issuer of a realm of Keycloak', () => {
    const workspaces = google({ ...CLIENT, workspaceDomains: ['example.com'] });
    expect(settingsOf(workspaces)).toMatchObject({
      parameters: { hd: 'example.com' },
      claims: { oneOf: { claim: 'hd', values: ['example.com'] } },
    });
    const realm = keycloak({ ...CLIENT, url: 'https://id.example.com/', realm: 'my staff' });
    expect(realm.issuer).toBe('https://id.example.com/realms/my%20staff');
  });

  it('do not show their secrets when they are printed', () => {
    const provider = oidc({ ...CLIENT, issuer: 'https://id.example.com' });
    expect(inspect(provider, { depth: 9, showHidden: true }) + JSON.stringify(provider)).not.toContain('the-secret');
  });
});
