import { BoundTokenRefused } from '@svc/auth/bound-sessions';
import { SecurityStore } from '@svc/auth';
import { SignJWT } from 'jose';
import { createPrivateKey, sign } from 'node:crypto';
import { Device, type Sent } from '../support/flows/bound-sessions';
import { requestWith } from '../support/clients/raw-headers';
import { TestApp, claimsOf } from '../support/hosts/app';
import { ADA } from '../support/hosts/user-entities';

const seconds = (): number => Math.floor(Date.now() / 1000);
const REFUSED = { form: 'was signed', replayed: 'used before' };

describe('a proof', () => {
  const t = TestApp.forFile({ options: { features: { boundSessions: true } } });
  let device: Device;
  beforeAll(async () => (device = await Device.create()));
  beforeEach(() => t.person(ADA));

  const withPrivateKey = async (): Promise<Sent> => ({ header: { jwk: await device.privateJwk() } });
  const ofOtherKey = async (): Promise<Sent> => ({ header: { jwk: (await Device.create()).jwk } });

  /** A proof whose header has other parts, which its key has signed. */
  const withHeader = async (more: object): Promise<Sent> => {
    const proof = await device.proof('POST', `${await t.app.getUrl()}/auth/login`);
    const [header, claims] = proof.split('.') as [string, string];
    const parsed = JSON.parse(Buffer.from(header, 'base64url').toString()) as object;
    const signed = `${Buffer.from(JSON.stringify({ ...parsed, ...more })).toString('base64url')}.${claims}`;
    const key = createPrivateKey({ key: await device.privateJwk(), format: 'jwk' } as never);
    const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
    return { proof: `${signed}.${signature.toString('base64url')}` };
  };
  const withCritical = async (): Promise<Sent[]> => [
    await withHeader({ crit: ['more'], more: 1 }),
    await withHeader({ crit: ['b64'], b64: false }),
    await withHeader({ crit: [] }),
  ];
  /** The key of the header as a secret, and a key that is for something else. */
  const withConfusedKey = async (): Promise<Sent[]> => {
    const { jwk } = device;
    const forged = (alg: string) =>
      new SignJWT({ jti: 'x', htm: 'POST', iat: seconds() }).setProtectedHeader({ typ: 'dpop+jwt', alg, jwk } as never);
    const secret = new TextEncoder().encode(JSON.stringify(jwk));
    const others = [
      { alg: 'EdDSA' },
      { alg: 'ES384' },
      { jwk: { ...jwk, use: 'enc' } },
      { jwk: { ...jwk, alg: 'ES384' } },
    ];
    return [
      { proof: await forged('HS256').sign(secret) },
      ...(await Promise.all(others.map(withHeader))),
      ...(await Promise.all(
        [{ ...jwk, kty: 'OKP' }, { ...jwk, x: jwk.y }, 'x', [jwk]].map((one) => withHeader({ jwk: one })),
      )),
    ];
  };

  /** Proofs with the header of one that was accepted. */
  const ofKnownKey = async (): Promise<Sent[]> => {
    expect((await device.login(t)).status).toBe(200);
    const proof = await device.proof('POST', `${await t.app.getUrl()}/auth/login`);
    const [header, claims, signature] = proof.split('.') as [string, string, string];
    const swapped = Buffer.from(Buffer.from(signature, 'base64url').toReversed()).toString('base64url');
    const other = Buffer.from(JSON.stringify({ ...claimsOf(proof), jti: 'other' })).toString('base64url');
    return [
      { claims: { exp: seconds() - 10 } },
      { claims: { nbf: seconds() + 60 } },
      ...[`${claims}.${swapped}`, `${other}.${signature}`, `${claims}.`, claims].map((rest) => ({
        proof: `${header}.${rest}`,
      })),
    ];
  };

  it.each<[string, Sent | (() => Sent[] | Promise<Sent | Sent[]>), string]>([
    ['without its type', { header: { typ: 'JWT' } }, 'send one header'],
    ['with the type of an access token', { header: { typ: 'at+jwt' } }, 'send one header'],
    ['without a key', { header: { jwk: undefined } }, 'send one header'],
    ['with a private key', withPrivateKey, 'send one header'],
    ['of another key than it names', ofOtherKey, 'send one header'],
    ['with a key of another kind', { header: { jwk: { kty: 'oct', k: 'c2VjcmV0' } } }, 'send one header'],
    [
      'with a key on another curve',
      { header: { jwk: { kty: 'EC', crv: 'P-384', x: 'AA', y: 'AA' } } },
      'send one header',
    ],
    ['with a critical header', withCritical, 'send one header'],
    ['that names a key for another use or algorithm, or a secret', withConfusedKey, 'send one header'],
    ['that is too long', { header: { more: 'x'.repeat(5000) } }, 'send one header'],
    ['without an id', { claims: { jti: undefined } }, 'jti'],
    ['with an empty id', { claims: { jti: '' } }, 'jti'],
    ['with a number as the id', { claims: { jti: 7 } }, 'jti'],
    ['of another method', { claims: { htm: 'GET' } }, 'htm'],
    ['of the method in lower case', { claims: { htm: 'post' } }, 'htm'],
    ['without a method', { claims: { htm: undefined } }, 'htm'],
    ['of another address', { claims: { htu: 'https://evil.example/auth/login' } }, 'htu'],
    ['of a path, without a host', { claims: { htu: '/auth/login' } }, 'htu'],
    ['without an address', { claims: { htu: undefined } }, 'htu'],
    ['five minutes old', { claims: { iat: seconds() - 300 } }, 'iat'],
    ['from five minutes ahead', { claims: { iat: seconds() + 300 } }, 'iat'],
    [
      'without a time, or with a text or a fraction as one',
      () => [undefined, String(seconds()), seconds() + 0.5].map((iat) => ({ claims: { iat } })),
      'iat',
    ],
    ['that has expired, is not valid yet, or has another signature, of a known key', ofKnownKey, 'send one header'],
    ['that is no JWT', { proof: 'x.y.z' }, 'send one header'],
    [
      'that is unsigned',
      { proof: `${Buffer.from('{"alg":"none","typ":"dpop+jwt"}').toString('base64url')}.e30.` },
      'send one header',
    ],
  ])('%s starts no session', async (_, sent, why) => {
    const all = [typeof sent === 'function' ? await sent() : sent].flat();
    const sessions = (): Promise<unknown[]> => t.database.query('SELECT id FROM svc_sessions');
    const before = await sessions();
    for (const one of all) {
      const { status, headers, body } = await device.login(t, one);
      expect([one, status, body.reason]).toEqual([one, 400, 'invalid_dpop_proof']);
      expect(headers.get('www-authenticate')).toContain(why);
    }
    expect(await sessions()).toEqual(before);
  });

  it('is accepted with the address in another spelling, and with a query', async () => {
    const url = await t.app.getUrl();
    for (const htu of [
      `${url}/auth/login?next=1#top`,
      `${url.replace('http', 'HTTP')}/auth/%6cogin`,
      `${url}/x/../auth/login`,
    ])
      expect((await device.login(t, { claims: { htu } })).status).toBe(200);
  });

  it('is used once, at every node, and for one token', async () => {
    const { body } = await device.login(t);
    const token = body.access_token;
    const url = `${await t.app.getUrl()}/private`;
    const proof = await device.proof('GET', url, { token });
    const answers = await Promise.all([1, 2, 3, 4].map(() => device.get(t, '/private', token, { proof })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401]);
    const refused = answers.find(({ status }) => status === 401)!;
    expect(refused.headers.get('www-authenticate')).toContain(REFUSED.replayed);
    const node = await TestApp.start({ databaseUrl: t.databaseUrl, options: { features: { boundSessions: true } } });
    try {
      // The address of this node is in another proof of the same id.
      const { jti } = claimsOf(proof);
      const again = await device.get(node, '/private', token, { claims: { jti } });
      expect([again.status, again.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringContaining('used before'),
      ]);
    } finally {
      await node.stop();
    }
    const other = (await device.login(t)).body.access_token;
    for (const claims of [
      { ath: undefined },
      { ath: 'x' },
      { ath: (claimsOf(await device.proof('GET', url, { token: other })) as { ath: string }).ath },
    ]) {
      const { status, headers } = await device.get(t, '/private', token, { claims });
      expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('ath is not')]);
    }
  });

  it('is sent once: of two headers none is read', async () => {
    const { body } = await device.login(t);
    const url = `${await t.app.getUrl()}/private`;
    const [one, two] = [
      await device.proof('GET', url, { token: body.access_token }),
      await device.proof('GET', url, { token: body.access_token }),
    ];
    const fields = ['Authorization', `DPoP ${body.access_token}`, 'DPoP', one];
    expect(await requestWith(url, [...fields, 'dpop', two])).toBe(401);
    expect(await requestWith(url, fields)).toBe(200);
  });

  it('writes to the store only if it is valid, and for its time', async () => {
    const store = t.app.get(SecurityStore);
    const keys = async (): Promise<string[]> => {
      const all: string[] = [];
      for await (const page of store.scan('svc:proof:')) all.push(...page);
      return all;
    };
    for (let i = 0; i < 20; i++) {
      await device.login(t, { claims: { htm: 'GET' } });
      await device.login(t, { header: { typ: 'x' } });
    }
    expect(await keys()).toEqual([]);
    const added = jest.spyOn(store, 'add');
    await device.login(t);
    expect(await keys()).toHaveLength(1);
    // Until the time of the proof is over, and for the difference of the clocks of the stores.
    const [[, , ttl]] = added.mock.calls as unknown as [[string, string, number]];
    expect([ttl > 110, ttl <= 121]).toEqual([true, true]);
    added.mockRestore();
  });

  it('names the path as it was sent: an encoded character is accepted, and one that ends or changes a path is not', async () => {
    const { access_token: token } = (await device.login(t)).body;
    const url = await t.app.getUrl();
    const status = async (path: string, htu: string): Promise<number> =>
      (await device.get(t, path, token, { claims: { htu: url + htu } })).status;
    const seen = t.recorded(BoundTokenRefused);
    expect((await device.send(t, 'DELETE', '/auth/sessions/ada%40example.com', { token })).status).toBe(404);
    for (const [path, htu] of [
      ['/private%3F', '/private'],
      ['/auth/sessions%5C', '/auth/sessions/'],
    ] as const)
      expect([path, [401, 404].includes(await status(path, htu))]).toEqual([path, true]);
    expect(seen).toEqual([]);
  });

  it('that is wrong does not hide a theft; one of the right key with a wrong clock is no theft', async () => {
    const { access_token: token, refresh_token: refreshToken } = (await device.login(t)).body;
    const thief = await Device.create();
    const seen = t.recorded(BoundTokenRefused);
    const old = { claims: { iat: seconds() - 300 } };
    for (const sent of [{ proof: 'x' }, old, { claims: { htu: 'https://evil.example/' } }]) {
      expect((await thief.get(t, '/private', token, sent)).status).toBe(401);
      expect((await thief.refresh(t, refreshToken, sent)).status).toBe(400);
    }
    const other = (await device.login(t)).body.access_token;
    const stolen = await device.proof('GET', `${await t.app.getUrl()}/private`, { token: other });
    expect((await thief.get(t, '/private', token, { proof: stolen })).status).toBe(401);
    expect(seen).toHaveLength(7);
    expect((await device.get(t, '/private', token, old)).status).toBe(401);
    expect(seen).toHaveLength(7);
    // It was of no use there, so it was not used up.
    expect((await device.get(t, '/private', other, { proof: stolen })).status).toBe(200);
  });

  it('is asked for before the limit of a session counts, so that a thief cannot close it', async () => {
    const limited = await TestApp.start({
      options: {
        features: { boundSessions: true },
        rateLimits: {
          login: { maxAttempts: 1e9, ipMaxAttempts: 1e9, accountMaxAttempts: 1e9 },
          refresh: { by: 'session', maxAttempts: 2 },
        },
      },
    });
    try {
      await limited.person(ADA);
      const { refresh_token: refreshToken } = (await device.login(limited)).body;
      const thief = await Device.create();
      for (let i = 0; i < 2; i++) expect((await thief.refresh(limited, refreshToken)).status).toBe(401);
      expect((await device.refresh(limited, refreshToken)).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });

  it('of a request that names no session is answered as one without it', async () => {
    const seen = t.recorded(BoundTokenRefused);
    expect((await device.refresh(t, 'x')).status).toBe(401);
    expect((await device.get(t, '/private', 'x')).status).toBe(401);
    expect(seen).toEqual([]);
  });

  it('counts in cookie mode and at other guards, each for its own sessions', async () => {
    const cookies = await TestApp.start({
      options: {
        features: { boundSessions: true },
        cookieMode: true,
        guards: { admin: { boundSessions: { mode: 'require' } } },
      },
    });
    try {
      await cookies.person(ADA);
      await cookies.person(ADA, 'admin');
      const login = await device.login(cookies);
      const cookie = login.headers.get('set-cookie')!.split(';', 1)[0]!;
      const refresh = (by: Device, proof?: null) =>
        by.send(cookies, 'POST', '/auth/refresh', { proof, headers: { cookie } });
      const thief = await Device.create();
      expect([(await refresh(thief)).status, (await refresh(device, null)).status]).toEqual([401, 401]);
      expect(await refresh(device)).toMatchObject({ status: 200, body: { token_type: 'DPoP' } });
      const bare = await device.login(cookies, { proof: null }, ADA, '/admin/auth/login');
      expect([bare.status, bare.body.reason]).toEqual([400, 'dpop_required']);
      const staff = await device.login(cookies, {}, ADA, '/admin/auth/login');
      expect((await device.get(cookies, '/staff', staff.body.access_token)).status).toBe(200);
      expect((await device.get(cookies, '/private', staff.body.access_token)).status).toBe(401);
    } finally {
      await cookies.stop();
    }
  });
});

describe('a nonce of the server', () => {
  const t = TestApp.forFile({
    options: { features: { boundSessions: true }, boundSessions: { nonceSeconds: 60, mode: 'require' } },
  });
  let device: Device;
  beforeAll(async () => (device = await Device.create()));
  beforeEach(async () => {
    await t.person(ADA);
    await t.person(ADA, 'admin');
  });

  const nonceAt = async (path: string): Promise<string> => {
    const { status, headers, body } = await device.login(t, {}, ADA, path);
    expect([status, body.reason]).toEqual([400, 'use_dpop_nonce']);
    return headers.get('dpop-nonce')!;
  };

  it('is asked for, and takes the place of the time of a client with a wrong clock', async () => {
    const nonce = await nonceAt('/auth/login');
    const { status, body } = await device.login(t, { nonce, claims: { iat: seconds() - 3600 } });
    expect(status).toBe(200);
    const bare = await device.get(t, '/private', body.access_token);
    expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('use_dpop_nonce'),
    ]);
    // The strategy of Passport has no response on Fastify.
    const passport = await device.get(t, '/passport', body.access_token);
    const isSent = t.app.getHttpAdapter().getType() === 'express';
    const challenge = passport.headers.get('www-authenticate') ?? '';
    expect(passport.status).toBe(401);
    expect([
      passport.headers.has('dpop-nonce'),
      challenge.includes('use_dpop_nonce'),
      challenge.includes('algs='),
    ]).toEqual([isSent, isSent, isSent]);
    const fresh = bare.headers.get('dpop-nonce')!;
    expect((await device.get(t, '/private', body.access_token, { nonce: fresh })).status).toBe(200);
  });

  it('is refused when it is over, changed, invented, or of another guard', async () => {
    const [nonce, foreign] = [await nonceAt('/auth/login'), await nonceAt('/admin/auth/login')];
    const [time, signature] = nonce.split('.') as [string, string];
    for (const wrong of [foreign, `${Number(time) + 1}.${signature}`, `${time}.`, `${time}`, 'x', '', signature])
      expect([wrong, (await device.login(t, { nonce: wrong })).body.reason]).toEqual([wrong, 'use_dpop_nonce']);
    t.clock.advance(61);
    expect((await device.login(t, { nonce })).body.reason).toBe('use_dpop_nonce');
    t.clock.reset();
    expect((await device.login(t, { nonce })).status).toBe(200);
  });
});
