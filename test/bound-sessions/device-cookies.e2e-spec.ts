import { Pruning } from '@svc/auth';
import { BoundTokenRefused } from '@svc/auth/bound-sessions';
import { SignJWT, generateKeyPair } from 'jose';
import { Browser, registrationIn } from '../support/flows/device-sessions';
import { TestApp } from '../support/hosts/app';
import { ADA } from '../support/hosts/user-entities';
import { RedisServer } from '../support/stores/redis';
import { describeWithOwnRedis } from '../support/stores/with-redis';

const ROOT = 'root@example.com';

/** The time after which the cookie of the browser has expired, and that after which no request with it is on its way. */
const [EXPIRED, STALE] = [601, 661];

describe('the session of a browser with Device Bound Session Credentials', () => {
  const t = TestApp.forFile({
    options: {
      cookieMode: true,
      features: { deviceBoundCookies: true },
      cookie: { origins: ['https://app.example.com:8443'] },
    },
  });
  let browser: Browser;
  beforeEach(async () => {
    browser = new Browser(t);
    await t.person(ADA);
    await t.person(ROOT, 'admin');
  });

  const keys = async (): Promise<number> => (await t.database.query('SELECT id FROM svc_device_keys')).length;

  it('is bound to a key after the sign-in, and goes on for weeks', async () => {
    const { answer, path, challenge } = await browser.signIn();
    expect(registrationIn(answer.headers.get('secure-session-registration')!).algorithms).toEqual(['ES256']);
    const { jwk } = await browser.key();
    const registered = await browser.register(path, await browser.proof(challenge, { header: { jwk } }));
    expect(registered).toMatchObject({
      status: 200,
      body: {
        session_identifier: expect.any(String),
        refresh_url: '/auth/device-session/refresh',
        scope: { include_site: false },
        credentials: [
          { type: 'cookie', name: '__Host-refresh.bound', attributes: 'Path=/; HttpOnly; Secure; SameSite=Strict' },
        ],
        allowed_refresh_initiators: ['app.example.com'],
      },
    });
    expect(registered.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-refresh\.bound=[^;]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Strict$/),
    ]);
    for (let day = 0; day < 14; day += 7) {
      t.clock.advance(7 * 86_400);
      browser.expire();
      expect((await browser.request('/auth/refresh')).status).toBe(200);
    }
  });

  it('is renewed with a challenge, which the browser may keep: an old one is replaced', async () => {
    const id = await browser.start();
    expect(await browser.renew(id)).toEqual([403, 200]);
    expect(await browser.renew(id)).toEqual([403, 200]);
    t.clock.advance(3600);
    expect(await browser.renew(id)).toEqual([403, 200]);
  });

  it('is of no use to a thief of all cookies after ten minutes, and goes on', async () => {
    await browser.start();
    const thief = browser.stolen();
    const seen = t.recorded(BoundTokenRefused);
    t.clock.advance(STALE);
    expect((await thief.send('/auth/refresh')).status).toBe(401);
    thief.expire();
    expect((await thief.send('/auth/refresh')).status).toBe(401);
    expect(seen).toMatchObject([{ guard: 'api', token: 'refresh' }, { token: 'refresh' }]);
    browser.expire();
    expect((await browser.request('/auth/refresh')).status).toBe(200);
  });

  it('is not stolen when its cookie is late by a moment: the browser is asked for its key, and goes on', async () => {
    const id = await browser.start();
    const seen = t.recorded(BoundTokenRefused);
    t.clock.advance(EXPIRED);
    const late = await browser.send('/auth/refresh');
    expect([late.status, late.body.reason]).toEqual([403, 'device_proof_needed']);
    const [, challenge, of] = /^"([^"]+)";id="([^"]+)"$/.exec(late.headers.get('secure-session-challenge')!)!;
    expect(of).toBe(id);
    browser.sessions.get(id)!.challenge = challenge!;
    expect(await browser.renew(id)).toEqual([200]);
    expect((await browser.send('/auth/refresh')).status).toBe(200);
    expect(seen).toEqual([]);
  });

  it('does not show whether it exists to a sender without its key', async () => {
    const ids = [await browser.start(), '00000000-0000-4000-8000-000000000000'];
    const thief = new Browser(t);
    const asked = async (id: string, more: Record<string, string> = {}) => {
      const answer = await thief.send('/auth/device-session/refresh', { 'Sec-Secure-Session-Id': `"${id}"`, ...more });
      const challenge = answer.headers.get('secure-session-challenge');
      const [, text = '', of] = /^"([^"]+)";id="([^"]+)"$/.exec(challenge ?? '') ?? [];
      return { text, seen: [answer.status, answer.body, of === id, text.length] };
    };
    const answers: unknown[] = [];
    for (const id of ids) {
      const { text, seen } = await asked(id);
      const answered = await asked(id, { 'Secure-Session-Response': await thief.proof(text) });
      answers.push([seen, answered.seen]);
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toMatchObject([
      [403, expect.anything(), true, expect.any(Number)],
      [401, expect.anything(), false, 0],
    ]);
  });

  it('needs its key one minute after the registration: requests that were on their way are answered', async () => {
    const { path, challenge } = await browser.signIn();
    const early = browser.stolen();
    const { jwk } = await browser.key();
    await browser.register(path, await browser.proof(challenge, { header: { jwk } }));
    expect((await early.send('/auth/refresh')).status).toBe(200);
    t.clock.advance(61);
    expect((await early.send('/auth/refresh')).status).toBe(401);
    expect((await browser.send('/auth/refresh')).status).toBe(401);
  });

  it('is bound to no key of a browser without them, and goes on', async () => {
    const other = new Browser(t, false);
    await other.signIn();
    t.clock.advance(86_400);
    expect((await other.request('/auth/refresh')).status).toBe(200);
    expect(await keys()).toBe(0);
  });

  it('is bound once: neither the same proof nor another key is accepted later', async () => {
    const { path, challenge } = await browser.signIn();
    const { jwk } = await browser.key();
    const proof = await browser.proof(challenge, { header: { jwk } });
    const thief = browser.stolen();
    const own = await thief.proof(challenge, { header: { jwk: (await thief.key()).jwk } });
    const answers = await Promise.all([browser.register(path, proof), browser.register(path, proof)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403]);
    expect((await thief.register(path, own)).status).toBe(403);
    expect(await keys()).toBe(1);
  });

  it('is bound by a challenge of its own sign-in only, for five minutes', async () => {
    const other = new Browser(t);
    const { challenge: foreign } = await other.signIn();
    const { path, challenge } = await browser.signIn();
    const { jwk } = await browser.key();
    const register = async (text: unknown) =>
      (await browser.register(path, await browser.proof('', { header: { jwk }, claims: { jti: text } }))).status;
    const [id, until, signature] = challenge.split('.');
    for (const text of [
      foreign,
      '',
      7,
      `${id}.9${until}.${signature}`,
      `${challenge}.x`,
      challenge.slice(0, -1),
      undefined,
    ])
      expect([text, await register(text)]).toEqual([text, 403]);
    t.clock.advance(301);
    expect(await register(challenge)).toBe(403);
    expect(await keys()).toBe(0);
    t.clock.reset();
    expect(await register(challenge)).toBe(200);
  });

  it('is bound by nothing but a signature with ES256 of the key in the header', async () => {
    const { path, challenge } = await browser.signIn();
    const { jwk, privateKey } = await browser.key();
    const other = await new Browser(t).key();
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const rsa = await generateKeyPair('RS256', { extractable: true });
    const signed = (header: object, key: Parameters<SignJWT['sign']>[0]) =>
      new SignJWT({ jti: challenge }).setProtectedHeader({ typ: 'dbsc+jwt', jwk, ...header } as never).sign(key);
    const { exportJWK } = await import('jose');
    const bad = {
      none: `${part({ typ: 'dbsc+jwt', alg: 'none', jwk })}.${part({ jti: challenge })}.`,
      HS256: await signed({ alg: 'HS256' }, new TextEncoder().encode(JSON.stringify(jwk))),
      RS256: await signed({ alg: 'RS256', jwk: await exportJWK(rsa.publicKey) }, rsa.privateKey),
      'another key': await signed({ alg: 'ES256', jwk: other.jwk }, privateKey),
      // As in former drafts.
      'the key in a claim': await new SignJWT({ jti: challenge, key: jwk, jwk })
        .setProtectedHeader({ typ: 'dbsc+jwt', alg: 'ES256' })
        .sign(privateKey),
      'a private key': await signed({ alg: 'ES256', jwk: await exportJWK(privateKey) }, privateKey),
      'another type': await signed({ alg: 'ES256', typ: 'dpop+jwt' }, privateKey),
      'no key': await signed({ alg: 'ES256', jwk: undefined }, privateKey),
      oversized: await signed({ alg: 'ES256', jwk: { ...jwk, kid: 'x'.repeat(4096) } }, privateKey),
    };
    for (const [name, proof] of Object.entries(bad))
      expect([name, (await browser.register(path, proof)).status]).toEqual([name, 403]);
    expect((await browser.send(path)).status).toBe(403);
    expect(await keys()).toBe(0);
  });

  it('is bound by no page of another site, and without its cookie by nobody', async () => {
    const { path, challenge } = await browser.signIn();
    const { jwk } = await browser.key();
    const proof = await browser.proof(challenge, { header: { jwk } });
    for (const [name, value] of [
      ['Origin', 'https://evil.example'],
      ['Sec-Fetch-Site', 'cross-site'],
    ] as const)
      expect((await browser.register(path, proof, { [name]: value })).status).toBe(403);
    expect((await new Browser(t).register(path, proof)).status).toBe(401);
    expect(await keys()).toBe(0);
  });

  it('is renewed by its own key only', async () => {
    const id = await browser.start();
    const thief = browser.stolen();
    const seen = t.recorded(BoundTokenRefused);
    thief.sessions.set(id, browser.sessions.get(id)!);
    thief.expire();
    expect(await thief.renew(id)).toEqual([403, 401]);
    expect(seen).toHaveLength(1);
    expect(thief.cookies.has('__Host-refresh.bound')).toBe(false);
  });

  it('is renewed once with a proof, and not with an old challenge or one of another session', async () => {
    const id = await browser.start();
    const other = new Browser(t);
    const otherId = await other.start();
    const challengeOf = async (own: Browser, of: string): Promise<string> => {
      const { headers } = await own.send('/auth/device-session/refresh', { 'Sec-Secure-Session-Id': `"${of}"` });
      return /^"([^"]+)"/.exec(headers.get('secure-session-challenge')!)![1]!;
    };
    const renew = async (challenge: string): Promise<number> => {
      const headers = { 'Sec-Secure-Session-Id': `"${id}"`, 'Secure-Session-Response': await browser.proof(challenge) };
      return (await browser.send('/auth/device-session/refresh', headers)).status;
    };
    const own = await challengeOf(browser, id);
    expect([await renew(own), await renew(own)]).toEqual([200, 403]);
    expect(await renew(await challengeOf(other, otherId))).toBe(403);
    const late = await challengeOf(browser, id);
    t.clock.advance(301);
    expect(await renew(late)).toBe(403);
  });

  it('does not accept the cookie of another session, or a challenge as its cookie', async () => {
    const id = await browser.start();
    const other = new Browser(t);
    await other.start();
    t.clock.advance(61);
    browser.cookies.set('__Host-refresh.bound', other.cookies.get('__Host-refresh.bound')!);
    expect((await browser.send('/auth/refresh')).status).toBe(401);
    // Whoever knows the id of a session gets challenges.
    const thief = browser.stolen();
    const asked = await thief.send('/auth/device-session/refresh', { 'Sec-Secure-Session-Id': `"${id}"` });
    const [, own] = /^"([^"]+)"/.exec(asked.headers.get('secure-session-challenge')!)!;
    thief.cookies.set('__Host-refresh.bound', own!);
    expect((await thief.send('/auth/refresh')).status).toBe(401);
  });

  it('ends in the browser when it has ended, is unknown, or another one has taken its place', async () => {
    const id = await browser.start();
    const kept = browser.sessions.get(id)!;
    const next = await browser.start();
    expect(await browser.renew(id)).toEqual([403, 401]);
    expect(await browser.renew(next)).toEqual([403, 200]);
    browser.cookies.clear();
    browser.sessions.set(id, { ...kept, challenge: null });
    // A request that another site has started has no strict cookies.
    expect(await browser.renew(id)).toEqual([403, 200]);
    await t.auth.revokeAll('1');
    expect(await browser.renew(id)).toEqual([401]);
    browser.sessions.set('00000000-0000-4000-8000-000000000000', { ...kept, challenge: null });
    expect(await browser.renew('00000000-0000-4000-8000-000000000000')).toEqual([403, 401]);
    browser.sessions.set('unknown', kept);
    expect(await browser.renew('unknown')).toEqual([401]);
  });

  it('is of one guard', async () => {
    const { challenge } = await browser.signIn();
    const { path } = await browser.signIn(ROOT, '/admin/auth');
    const { jwk } = await browser.key();
    expect(path).toBe('/admin/auth/device-session');
    expect((await browser.register(path, await browser.proof(challenge, { header: { jwk } }))).status).toBe(403);
  });

  it('leaves no key after the pruning when it has ended', async () => {
    await browser.start();
    await new Browser(t).start();
    expect((await t.app.get(Pruning).run()).deviceKeys).toBe(0);
    await browser.send('/auth/logout', {
      Authorization: `Bearer ${String((await browser.send('/auth/refresh')).body.access_token)}`,
    });
    expect((await t.app.get(Pruning).run()).deviceKeys).toBe(1);
    expect(await keys()).toBe(1);
  });
});

describeWithOwnRedis('the bound cookies of a guard whose Redis has stopped', () => {
  it('are not renewed, and the session stays in the browser: 503', async () => {
    const redis = await RedisServer.start();
    const options = { cookieMode: true, features: { deviceBoundCookies: true } };
    const t = await TestApp.start({ redisUrl: redis.url, options });
    await t.person(ADA);
    const [browser, other] = [new Browser(t), new Browser(t)];
    const id = await browser.start();
    await browser.renew(id);
    const { path, challenge } = await other.signIn();
    const proof = await other.proof(challenge, { header: { jwk: (await other.key()).jwk } });
    await redis.stop();
    expect((await browser.renew(id)).at(-1)).toBe(503);
    expect(browser.sessions.has(id)).toBe(true);
    expect((await other.register(path, proof)).status).toBe(503);
    await t.stop();
  });
});
