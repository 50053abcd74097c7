import { type KeyObject, createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { BoundTokenRefused } from '@svc/auth/bound-sessions';
import { TestApp } from '../support/hosts/app';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

/** What the tests use of the client, whose types need the DOM. */
interface Client {
  readonly session: { token: string; claims: { fid: string; cnf?: { jkt: string } } } | null;
  login(credentials: object): Promise<unknown>;
  renew(): Promise<unknown>;
  request<T>(method: string, url: string, body?: unknown): Promise<T>;
  confirmPassword(password: string): Promise<void>;
  logout(): Promise<void>;
  on(event: string, listener: (detail: { reason: string }) => void): void;
  close(): void;
}

const { createAuthClient } = require('@svc/auth-client') as { createAuthClient(options: object): Client };
const { boundKey } = require('@svc/auth-client/bound') as { boundKey(key: object): unknown };
const { createAccountClient } = require('@svc/auth-client/account') as {
  createAccountClient(auth: Client): { exportAccount(): Promise<object> };
};

const NONCE_SECONDS = 300;

const hostKey = (privateKey: KeyObject, jwk: object) => ({
  jwk,
  sign: async (data: Uint8Array) => sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
  sha256: async (data: Uint8Array) => createHash('sha256').update(data).digest(),
});

describe('the client with a key, at an application that binds sessions,', () => {
  const t = TestApp.forFile({
    options: {
      encryption: { key: randomBytes(32).toString('hex') },
      features: { boundSessions: true },
      boundSessions: { mode: 'require', nonceSeconds: NONCE_SECONDS },
    },
  });
  let client: Client;
  let url: string;
  let sent: string[];

  const opened = (bound?: unknown): Client =>
    createAuthClient({ url: `${url}/auth`, refreshToken: 'memory', bound, confirm: () => false });
  beforeEach(async () => {
    await t.person(ADA);
    url = await t.app.getUrl();
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    client = opened(boundKey(hostKey(privateKey, publicKey.export({ format: 'jwk' }))));
    sent = [];
    const { fetch } = globalThis;
    jest.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
      sent.push(input instanceof Request ? input.url : String(input));
      return fetch(input, init);
    });
  });
  afterEach(() => client.close());

  const signIn = () => client.login({ email: ADA, password: PASSWORD });
  const paths = () => sent.splice(0).map((address) => new URL(address).pathname);

  it('gets a nonce with the first answer, and uses it for all that follows', async () => {
    expect(await signIn()).toBeNull();
    expect(paths()).toEqual(['/auth/login', '/auth/login']);
    const { fid, cnf } = client.session!.claims;
    expect(cnf!.jkt).toMatch(/^[\w-]{43}$/);
    expect(await client.request('GET', `${url}/private?page=2`)).toMatchObject({ claims: { cnf } });
    expect(await client.renew()).toMatchObject({ claims: { fid, cnf } });
    await client.confirmPassword(PASSWORD);
    expect(await createAccountClient(client).exportAccount()).toHaveProperty('account');
    await client.logout();
    expect(paths()).toEqual([
      '/private',
      '/auth/refresh',
      '/auth/confirm-password',
      '/auth/account/export',
      '/auth/logout',
    ]);
  });

  it('repeats a request once when its nonce is over, and the body is in both', async () => {
    await signIn();
    paths();
    t.clock.advance(NONCE_SECONDS + 1);
    await client.confirmPassword(PASSWORD);
    await client.renew();
    expect(paths()).toEqual(['/auth/confirm-password', '/auth/confirm-password', '/auth/refresh']);
    t.clock.advance(NONCE_SECONDS + 1);
    expect(await client.renew()).toMatchObject({ claims: {} });
    expect(paths()).toEqual(['/auth/refresh', '/auth/refresh']);
  });

  it('renews a refused token with the next request', async () => {
    await signIn();
    const { token } = client.session!;
    t.clock.advance(3600);
    paths();
    await client.request('GET', `${url}/private`);
    expect(client.session!.token).not.toBe(token);
    // The nonce is over, too.
    expect(paths()).toEqual(['/private', '/auth/refresh', '/auth/refresh', '/private']);
  });

  it('is refused without its key, and is told so', async () => {
    await expect(opened().login({ email: ADA, password: PASSWORD })).rejects.toMatchObject({
      status: 400,
      reason: 'dpop_required',
    });
    await signIn();
    const stolen = t.recorded(BoundTokenRefused);
    const { status } = await fetch(`${url}/private`, { headers: { Authorization: `Bearer ${client.session!.token}` } });
    expect([status, stolen.length]).toEqual([401, 1]);
  });
});
