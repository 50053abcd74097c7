import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto';
import { createAccountClient } from './account.js';
import { type HostKey, boundKey } from './bound.js';
import { openNative } from './native.testkit.js';
import { FakeServer, LOGIN, OF_GUARD, ORDERS, eventsOf } from './server.testkit.js';
import { closePage, define, openPage } from './tabs.testkit.js';
import type { AuthClientOptions } from './types.js';

const NAME = 'svc-auth:https://api.test/auth';
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = publicKey.export({ format: 'jwk' }) as Record<string, string>;

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
const KEY: HostKey = {
  jwk,
  sign: async (data) => bytesOf(sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' })),
  sha256: async (data) => bytesOf(createHash('sha256').update(data).digest()),
};

interface Proof {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
}

/** The parts of a proof whose signature is right. */
function proofIn(headers: Headers): Proof | null {
  const proof = headers.get('DPoP');
  if (proof === null) return null;
  const [header, claims, signature] = proof.split('.') as [string, string, string];
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
  expect(verify('sha256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url'))).toBe(true);
  const [one, two] = [header, claims].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
  return { header: one, claims: two };
}

/** How the server refuses a proof. */
const refusal = (error: string, headers: Record<string, string>, status = 400) => ({
  status,
  body: { message: 'The proof is refused.', reason: error },
  headers: { ...OF_GUARD, 'WWW-Authenticate': `DPoP error="${error}", algs="ES256"`, ...headers },
});

describe('a client with a key', () => {
  let server: FakeServer;
  beforeEach(() => {
    server = new FakeServer();
    server.jkt = 'thumbprint';
  });
  afterEach(() => {
    server.stop();
    closePage();
    define('indexedDB', undefined);
  });

  const signedIn = (options?: AuthClientOptions) => server.signedIn({ bound: boundKey(KEY), ...options });
  const proofs = () => server.seen.map(({ path, headers }) => [path, proofIn(headers)] as const);

  it('proves it when it signs in, refreshes and sends the token, each time with another proof', async () => {
    const client = await signedIn();
    const before = Math.floor(Date.now() / 1000);
    await client.renew();
    await client.request('GET', `${ORDERS}?page=2#top`);
    const htus = proofs().map(([, proof]) => proof!.claims.htu);
    expect(htus).toEqual(['https://api.test/auth/login', 'https://api.test/auth/refresh', ORDERS]);
    const [, { header, claims }] = proofs()[2] as [string, Proof];
    const ath = createHash('sha256').update(client.session!.token).digest('base64url');
    expect(header).toEqual({ typ: 'dpop+jwt', alg: 'ES256', jwk });
    expect(claims).toEqual({ jti: expect.any(String), htm: 'GET', htu: ORDERS, iat: expect.any(Number), ath });
    expect(claims.iat).toBeGreaterThanOrEqual(before - 1);
    expect(new Set(proofs().map(([, proof]) => proof!.claims.jti)).size).toBe(3);
    expect(proofs()[0]![1]!.claims).not.toHaveProperty('ath');
    expect(server.last.headers.get('Authorization')).toBe(`DPoP ${client.session!.token}`);
  });

  it('proves it in the requests of the account, and not in those without a user', async () => {
    const client = await signedIn();
    await createAccountClient(client).countRecoveryCodes();
    expect(proofs().at(-1)).toEqual(['/auth/two-factor/recovery-codes', expect.anything()]);
    server.answer = () => ({ body: {} });
    await client.forgotPassword('ada@example.com');
    await server.client({ bound: boundKey(KEY) }).fetch(ORDERS);
    expect(proofs().slice(-2)).toEqual([
      ['/auth/forgot-password', null],
      ['/orders', null],
    ]);
  });

  it('repeats a request once with the nonce of the server, and keeps the nonce for the next ones', async () => {
    server.answer = ({ headers }) => {
      const { nonce } = proofIn(headers)!.claims;
      return nonce === 'one' ? undefined : refusal('use_dpop_nonce', { 'DPoP-Nonce': 'one' });
    };
    const client = await signedIn();
    expect(server.count('/auth/login')).toBe(2);
    expect(server.last.body).toEqual(LOGIN);
    await client.request('POST', ORDERS, { tea: 2 });
    expect(server.count('/orders')).toBe(1);
    server.answer = ({ headers }) => {
      const { nonce } = proofIn(headers)!.claims;
      return nonce === 'two' ? undefined : refusal('use_dpop_nonce', { 'DPoP-Nonce': 'two' }, 401);
    };
    expect(await client.request('POST', ORDERS, { tea: 2 })).toMatchObject({ sent: { tea: 2 } });
    expect([server.count('/orders'), server.count('/auth/refresh')]).toEqual([3, 0]);
  });

  it('takes the nonce of any answer, for its origin only', async () => {
    const client = await signedIn({ origins: ['https://other.test'] });
    server.answer = () => ({ body: {}, headers: { 'DPoP-Nonce': 'given' } });
    await client.request('GET', ORDERS);
    await client.request('GET', ORDERS);
    await client.request('GET', 'https://other.test/orders');
    expect(proofs().map(([, proof]) => proof!.claims.nonce)).toEqual([undefined, undefined, 'given', undefined]);
  });

  it('repeats no request twice', async () => {
    server.answer = () => refusal('use_dpop_nonce', { 'DPoP-Nonce': String(server.seen.length) });
    const client = server.client({ bound: boundKey(KEY) });
    await expect(client.login(LOGIN)).rejects.toMatchObject({ status: 400, reason: 'use_dpop_nonce' });
    expect(server.seen).toHaveLength(2);
  });

  it('uses the time of the server after a refusal, and that of a token', async () => {
    const ahead = Date.now() + 3_600_000;
    const hourAhead = Math.floor(ahead / 1000);
    server.answer = ({ headers }) =>
      Number(proofIn(headers)!.claims.iat) < hourAhead - 60
        ? refusal('invalid_dpop_proof', { Date: new Date(ahead).toUTCString() })
        : undefined;
    const client = await signedIn();
    await client.request('GET', ORDERS);
    expect(server.seen.map(({ path }) => path)).toEqual(['/auth/login', '/auth/login', '/orders']);
    const claims = Buffer.from(JSON.stringify({ sub: 'ada', fid: 'f', cnf: { jkt: 'thumbprint' }, iat: hourAhead }));
    const tokens = { access_token: `a.${claims.toString('base64url')}.c`, refresh_token: 'r', expires_in: 900 };
    server.answer = ({ path }) =>
      path === '/auth/login' ? { body: { ...tokens, token_type: 'DPoP' } } : { body: { read: true } };
    await (await signedIn()).request('GET', ORDERS);
    expect(Number(proofs().at(-1)![1]!.claims.iat)).toBeGreaterThanOrEqual(hourAhead);
  });

  it('sends a session without a key as before', async () => {
    server.jkt = null;
    openPage();
    await server.signedIn({ refreshToken: 'localStorage' });
    const next = server.client({ refreshToken: 'localStorage', bound: boundKey() });
    await next.restore();
    await next.request('GET', ORDERS);
    expect(server.last.headers.get('Authorization')).toBe(`Bearer ${next.session!.token}`);
    expect(proofs().map(([, proof]) => proof)).toEqual([null, null, null]);
  });

  it('is rejected by a server that binds no session, after the session of the answer has ended', async () => {
    server.jkt = null;
    for (const logout of [undefined, { status: 503 }]) {
      server.answer = ({ path }) => (path === '/auth/logout' ? logout : undefined);
      await expect(signedIn()).rejects.toMatchObject({ status: 400, reason: 'not_bound' });
      expect([server.last.path, server.last.headers.get('Authorization')]).toEqual([
        '/auth/logout',
        expect.stringMatching(/^Bearer .+\..+\./),
      ]);
    }
  });

  it('refuses a sign-in where the browser cannot keep a key, and sends nothing', async () => {
    const client = server.client({ bound: boundKey() });
    await expect(client.login(LOGIN)).rejects.toMatchObject({
      name: 'AuthError',
      status: 400,
      reason: 'key_unusable',
      message: expect.stringContaining('cannot keep a key'),
    });
    expect(server.seen).toEqual([]);
  });

  it('has no session without its key: the page hears the reason, and the server gets no token', async () => {
    const { storage } = openPage();
    await server.signedIn({ refreshToken: 'localStorage' });
    storage.items.set(`${NAME}:key`, 'thumbprint');
    const client = server.client({ refreshToken: 'localStorage', bound: boundKey() });
    const heard: unknown[] = [];
    client.on('notRestored', (detail) => heard.push(detail));
    expect(await client.restore()).toBeNull();
    expect(heard).toEqual([{ otherTab: false, reason: 'key_lost' }]);
    expect(server.seen).toHaveLength(1);
    expect(storage.items.has(NAME)).toBe(false);
  });

  it('ends the session of all tabs when one has lost its key', async () => {
    const { storage } = openPage();
    const client = server.client({ refreshToken: 'localStorage', bound: boundKey() });
    const events = eventsOf(client);
    const isHere = new Promise((resolve) => client.on('signedIn', resolve));
    const other = await signedIn({ refreshToken: 'localStorage' });
    const isOver = new Promise((resolve) => other.on('signedOut', resolve));
    await isHere;
    storage.items.set(`${NAME}:key`, 'thumbprint');
    await expect(client.request('GET', ORDERS)).rejects.toMatchObject({ reason: 'signedOut' });
    expect(events).toEqual(['signedIn login other tab', 'signedOut key_lost']);
    expect(await isOver).toMatchObject({ reason: 'key_lost', otherTab: true });
    expect(server.count('/orders')).toBe(0);
  });

  it('keeps the session while the storage of the key has a passing failure', async () => {
    const { storage } = openPage();
    await server.signedIn({ refreshToken: 'localStorage' });
    storage.items.set(`${NAME}:key`, 'thumbprint');
    jest.useFakeTimers({ advanceTimers: true, doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    define('indexedDB', {
      open: () => {
        throw new DOMException('Internal error opening backing store.', 'UnknownError');
      },
    });
    const client = server.client({ refreshToken: 'localStorage', bound: boundKey() });
    const restored = client.restore().catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(2000);
    expect(await restored).toMatchObject({ reason: 'unreachable' });
    expect(storage.items.has(NAME)).toBe(true);
    jest.useRealTimers();
  });

  it('works in React Native with a key of the host', async () => {
    const close = openNative();
    try {
      const items = new Map<string, string>();
      const refreshToken = {
        getItem: (name: string) => items.get(name) ?? null,
        setItem: (name: string, value: string) => void items.set(name, value),
        removeItem: (name: string) => void items.delete(name),
      };
      const client = await signedIn({ refreshToken });
      await client.request('POST', ORDERS, { tea: 2 });
      expect(proofs().map(([path, proof]) => [path, proof?.claims.htm])).toEqual([
        ['/auth/login', 'POST'],
        ['/orders', 'POST'],
      ]);
      expect(server.last.body).toEqual({ tea: 2 });
    } finally {
      close();
    }
  });
});
