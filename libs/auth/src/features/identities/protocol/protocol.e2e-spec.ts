import { Logger } from '@nestjs/common';
import { generateKeyPairSync } from 'node:crypto';
import { signingKey } from '../../../../../../test/support/hosts/key-server';
import {
  CALLBACK,
  CLIENTS,
  CLIENT_SECRET,
  IdentityProviderHost,
} from '../../../../../../test/support/identity-provider/identity-provider';
import { visit } from '../../../../../../test/support/identity-provider/visit';
import { REFUSED, TestClients } from './clients.testkit';
import type { Checks } from './provider-clients';

const clientKey = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const publicJwk = { ...clientKey.publicKey.export({ format: 'jwk' }), kid: 'client', use: 'sig', alg: 'ES256' };
const pem = String(clientKey.privateKey.export({ type: 'pkcs8', format: 'pem' }));

const HOST_CLIENTS = [
  {
    ...CLIENTS[0]!,
    backchannel_logout_uri: 'http://127.0.0.1:9/logout',
    post_logout_redirect_uris: ['https://app.example.com/signed-out'],
  },
  {
    client_id: 'post',
    client_secret: CLIENT_SECRET,
    redirect_uris: [CALLBACK],
    token_endpoint_auth_method: 'client_secret_post',
  },
  {
    client_id: 'key',
    redirect_uris: [CALLBACK],
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'ES256',
    jwks: { keys: [publicJwk] },
  },
];

describe('the protocol with an OpenID provider', () => {
  let host: IdentityProviderHost;
  let other: IdentityProviderHost;
  let t: TestClients;
  let lines: string[];

  beforeAll(async () => {
    [host, other] = await Promise.all([IdentityProviderHost.start(HOST_CLIENTS), IdentityProviderHost.start()]);
  });
  afterAll(() => Promise.all([host.stop(), other.stop()]));
  beforeEach(() => {
    host.reset();
    t = new TestClients(host);
    lines = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: string) => void lines.push(line));
  });

  it('sends the browser with PKCE, state and nonce, and returns who the person is', async () => {
    host.signedIn = { subject: 'ada', amr: ['pwd', 'mfa'] };
    const { url, checks } = await t.clients.begin('main', CALLBACK);
    const { searchParams } = new URL(url);
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: 'app',
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid email profile',
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    const received = await visit(url);
    expect(`${received.url.origin}${received.url.pathname}`).toBe(CALLBACK);
    expect(await t.exchange(received.url.searchParams, checks)).toEqual({
      issuer: host.issuer,
      subject: 'ada',
      email: 'ada@example.com',
      emailVerified: true,
      name: 'Ada Lovelace',
      amr: ['pwd', 'mfa'],
      acr: null,
      authTime: null,
      sid: expect.stringMatching(/./),
    });
  });

  it('makes no request before the first attempt, and reads the discovery document and the keys once for several', async () => {
    expect(host.requests).toEqual([]);
    await t.signIn();
    await t.signIn();
    expect(host.requests.filter((endpoint) => endpoint === 'discovery')).toHaveLength(1);
    expect(host.requests.filter((endpoint) => endpoint === 'jwks')).toHaveLength(1);
  });

  it.each([
    ['a secret in the body', { clientId: 'post', clientAuthentication: 'client_secret_post' as const }],
    ['a signature of its key', { clientId: 'key', clientSecret: undefined, privateKey: { pem, keyId: 'client' } }],
  ])('proves who the client is with %s', async (_, options) => {
    expect(await new TestClients(host, options).signIn()).toMatchObject({ subject: 'ada' });
  });

  it('reads the answer that a provider posts as a form', async () => {
    const options = { responseMode: 'form_post' as const, pageUrl: 'https://app.example.com/done' };
    const form = new TestClients(host, options);
    const { url, checks } = await form.clients.begin('main', CALLBACK);
    const { url: action, posted } = await visit(url);
    expect(action.href).toBe(CALLBACK);
    expect(await form.exchange(posted!, checks)).toMatchObject({ subject: 'ada' });
  });

  it('refuses a redirect URI that is not in the list', async () => {
    await expect(t.clients.begin('main', `${CALLBACK}/`)).rejects.toMatchObject({ failure: { status: 422 } });
  });

  /** What an attacker, or a mistake, makes of the answer in the browser. */
  const parameters: [string, string, (received: URLSearchParams) => void][] = [
    ['no state', 'missing', (received) => received.delete('state')],
    ['a foreign state', 'unexpected "state"', (received) => received.set('state', 'foreign')],
    ['two states', 'only once', (received) => received.append('state', received.get('state')!)],
    ['the issuer of another provider', 'unexpected "iss"', (received) => received.set('iss', other.issuer)],
    ['no issuer, although the provider sends one', '"iss" (issuer) missing', (received) => received.delete('iss')],
    ['a foreign code', 'invalid_grant', (received) => received.set('code', 'foreign')],
    ['two codes', 'only once', (received) => received.append('code', 'foreign')],
    ['an error', 'access_denied', (received) => received.set('error', 'access_denied')],
    ['an ID token beside the code', 'hybrid', (received) => received.set('id_token', 'e30.e30.e30')],
    ['a signed answer, which was not asked for', 'JARM', (received) => received.set('response', 'e30.e30.e30')],
  ];

  it.each(parameters)('refuses an answer with %s', async (_, cause, change) => {
    const { parameters: received, checks } = await t.answered();
    change(received);
    await expect(t.exchange(received, checks)).rejects.toMatchObject(REFUSED);
    expect(lines).toEqual([expect.stringContaining(cause)]);
  });

  it.each<[string, Partial<Checks>]>([
    ['another nonce', { nonce: 'another' }],
    ['another code verifier', { verifier: 'another-verifier-that-is-long-enough-for-the-provider' }],
    ['another redirect URI', { redirectUri: 'https://app.example.com/linked' }],
  ])('refuses the answer of an attempt with %s', async (_, changed) => {
    const { parameters: received, checks } = await t.answered();
    await expect(t.exchange(received, { ...checks, ...changed })).rejects.toMatchObject(REFUSED);
  });

  it('refuses a code the second time', async () => {
    const { parameters: received, checks } = await t.answered();
    await t.exchange(received, checks);
    await expect(t.exchange(received, checks)).rejects.toMatchObject(REFUSED);
  });

  it('refuses at one provider the answer of another one', async () => {
    const mine = await t.answered();
    const theirs = await new TestClients(other).answered();
    theirs.parameters.set('state', mine.checks.state);
    await expect(t.exchange(theirs.parameters, mine.checks)).rejects.toMatchObject(REFUSED);
    expect(host.requests).not.toContain('token');
  });

  const soon = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

  it.each<[string, string, () => void]>([
    ['of another nonce', '"nonce"', () => (host.wrong.claims = { nonce: 'another' })],
    ['without a nonce', '"nonce"', () => (host.wrong.claims = { nonce: undefined })],
    ['of another issuer', '"iss"', () => (host.wrong.claims = { iss: other.issuer })],
    ['for another client', '"aud"', () => (host.wrong.claims = { aud: 'another' })],
    [
      'for several clients, authorized for another one',
      '"azp"',
      () => (host.wrong.claims = { aud: ['app', 'b'], azp: 'b' }),
    ],
    ['without a subject', '"sub"', () => (host.wrong.claims = { sub: undefined })],
    ['that has expired', '"exp"', () => (host.wrong.claims = { exp: soon(-300) })],
    ['that is not valid yet', '"nbf"', () => (host.wrong.claims = { nbf: soon(300) })],
    ['without a signature', '"alg"', () => (host.wrong.header = { alg: 'none' })],
    ["signed with the client's secret", '"alg"', () => (host.wrong.header = { alg: 'HS256' })],
    ['of another algorithm', '"alg"', () => (host.wrong.header = { alg: 'RS256' })],
    [
      'signed with a foreign key under a known name',
      'signature verification failed',
      () => (host.wrong.key = signingKey('first')),
    ],
    ['signed with an unknown key', 'no applicable keys', () => (host.wrong.key = signingKey('unknown'))],
  ])('refuses an ID token %s', async (_, cause, make) => {
    make();
    await expect(t.signIn()).rejects.toMatchObject(REFUSED);
    expect(lines).toEqual([expect.stringContaining(cause)]);
    expect(lines[0]).toMatch(/^The identity provider "main" was refused: /);
  });

  it('refuses algorithms without a public key also if the provider announces them', async () => {
    host.wrong.discovery = { id_token_signing_alg_values_supported: ['none', 'HS256', 'ES256'] };
    for (const alg of ['none', 'HS256']) {
      host.wrong.header = { alg };
      await expect(t.signIn()).rejects.toMatchObject(REFUSED);
    }
    host.wrong.header = {};
    expect(await t.signIn()).toMatchObject({ subject: 'ada' });
  });

  it('reads the keys again for an unknown one, at most every ten seconds', async () => {
    await t.signIn();
    host.rotateKeys('second');
    await expect(t.signIn()).rejects.toMatchObject(REFUSED);
    await t.clock.advance(10);
    expect(await t.signIn()).toMatchObject({ subject: 'ada' });
    await t.signIn();
    expect(host.requests.filter((endpoint) => endpoint === 'jwks')).toHaveLength(2);
  });

  it('accepts no signature of a key that the provider has withdrawn, after five minutes', async () => {
    await t.signIn();
    const [withdrawn] = host.keys;
    host.rotateKeys('second');
    host.wrong.key = withdrawn;
    expect(await t.signIn()).toMatchObject({ subject: 'ada' });
    await t.clock.advance(300);
    await expect(t.signIn()).rejects.toMatchObject(REFUSED);
  });

  it('takes the claims of the ID token, and those that it lacks from the UserInfo endpoint, for the same subject', async () => {
    host.wrong.claims = { email: 'token@example.com' };
    expect(await t.signIn()).toMatchObject({ email: 'token@example.com', emailVerified: false, name: null });
    expect(host.requests).not.toContain('userinfo');
    host.wrong.claims = { sub: 'eve' };
    await expect(t.signIn()).rejects.toMatchObject(REFUSED);
  });

  describe('with a clock that differs by five minutes', () => {
    it.each([-300, 300])('signs in with a provider that is %i seconds off', async (seconds) => {
      host.wrong.claims = { iat: soon(seconds), exp: soon(seconds + 3600) };
      expect(await t.signIn()).toMatchObject({ subject: 'ada' });
    });

    it('refuses an ID token that has expired for us', async () => {
      await t.clock.advance(3600 + 300);
      await expect(t.signIn()).rejects.toMatchObject(REFUSED);
      expect(lines[0]).toContain('timestamp');
    });

    it('does not accept that the person was asked again', async () => {
      host.wrong.claims = { auth_time: soon(-300) };
      await expect(t.signIn(true)).rejects.toMatchObject(REFUSED);
    });
  });

  it('lets the provider ask the person again, and requires that it says when it did', async () => {
    const { url } = await t.clients.begin('main', CALLBACK, true);
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({ prompt: 'login', max_age: '0' });
    expect((await t.signIn(true)).authTime).toBeGreaterThanOrEqual(soon(-60));
    host.wrong.claims = { auth_time: undefined };
    await expect(t.signIn(true)).rejects.toMatchObject(REFUSED);
  });

  it('gives the address for the sign-out at the provider, if the provider has one and the option is on', async () => {
    const returnTo = 'https://app.example.com/signed-out';
    const signsOut = new TestClients(host, { endSession: { returnTo } });
    const url = new URL((await signsOut.clients.endSessionUrl('main'))!);
    expect(url.href).toBe(
      `${host.issuer}/session/end?post_logout_redirect_uri=${encodeURIComponent(returnTo)}&client_id=app`,
    );
    expect((await visit(url.href)).url.href).toBe(returnTo);
    expect(await t.clients.endSessionUrl('main')).toBeNull();
    host.wrong.discovery = { end_session_endpoint: undefined };
    expect(await new TestClients(host, { endSession: true }).clients.endSessionUrl('main')).toBeNull();
  });

  it('writes neither secrets nor codes into the log', async () => {
    const { parameters: received, checks } = await t.answered();
    const code = received.get('code')!;
    await expect(t.exchange(received, { ...checks, nonce: 'another' })).rejects.toMatchObject(REFUSED);
    received.set('state', 'foreign');
    await expect(t.exchange(received, checks)).rejects.toMatchObject(REFUSED);
    const wrong = new TestClients(host, { clientSecret: 'a-wrong-secret' });
    await expect(wrong.signIn()).rejects.toMatchObject({ failure: { status: 503 } });
    const secrets = [code, checks.state, checks.nonce, checks.verifier, CLIENT_SECRET, 'a-wrong-secret'];
    expect(lines).toHaveLength(3);
    expect(secrets.filter((secret) => lines.join('\n').includes(secret))).toEqual([]);
    expect(lines[2]).toContain('WWW-Authenticate');
  });
});
