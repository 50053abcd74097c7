import { RefreshTokenReused } from '@svc/auth';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp, claimsOf } from '../support/hosts/app';
import { startChallenge, codeOf, completeChallenge, enrolledForFile } from '../support/flows/two-factor';
import { describeWithRedis, sharedRedisUrl } from '../support/stores/with-redis';

/** The difference between the clocks of the two nodes in seconds. */
const APART = 60;

describeWithRedis('two nodes whose clocks are a minute apart', () => {
  const right = TestApp.forFile();
  const fast = TestApp.forFile(() => ({ databaseUrl: right.databaseUrl }));
  // Each node has its own clock. The clock of the database is the same for both.
  Object.assign(fast.clock, { now: () => right.clock.now() + APART * 1000 });

  beforeEach(() => right.person('ada@example.com'));

  /** Advances the clock of the database for both nodes. */
  const pass = (seconds: number): void => [right, fast].forEach((node) => node.clock.advance(seconds));

  it('refresh one session alternately', async () => {
    let tokens = await right.session();
    for (const node of [fast, right, fast, fast, right]) {
      tokens = (await node.refresh(tokens.refresh_token).expect(200)).body;
      await node.get('/private', tokens.access_token).expect(200);
    }
  });

  it('apply the same grace period: a retry at the other node is accepted, a later replay is a reuse', async () => {
    const reused = [right, fast].map((node) => node.recorded(RefreshTokenReused));
    for (const [first, second] of [
      [right, fast],
      [fast, right],
    ] as const) {
      const { refresh_token: token } = await right.session();
      await first.refresh(token).expect(200);
      const { body: current } = await second.refresh(token).expect(200);
      pass(31);
      await second.refresh(token).expect(401);
      await first.refresh(current.refresh_token).expect(401);
    }
    expect(reused.flat()).toHaveLength(2);
  });

  it('refuse a token that either of them revoked', async () => {
    for (const [minting, ending] of [
      [fast, right],
      [right, fast],
    ] as const) {
      const { access_token: token } = await minting.session();
      const other = await ending.session();
      await ending.call('delete', '/auth/sessions', other.access_token).expect(204);
      for (const node of [right, fast]) await node.get('/private', token).expect(401);
    }
  });
});

describeWithRedis('with a node whose clock is behind, Redis keeps', () => {
  /** Seconds: a minute, half of which a slow machine may need between two commands. */
  const MARGIN = 60 - 30;
  const [ACCESS_TTL, CHALLENGE_TTL, LEEWAY, CODE_LIFETIME] = [900, 300, 5, 90];
  const { t, ada } = enrolledForFile();
  let client: Awaited<ReturnType<typeof redisCache>>['client'];
  beforeAll(async () => ({ client } = await redisCache(sharedRedisUrl()!)));
  afterAll(() => client.disconnect());

  it('the denial of a session longer than the lifetime of its access tokens', async () => {
    await t.call('post', '/auth/logout', ada.token).expect(204);
    expect(await client.ttl(`svc:dl:fid:${claimsOf(ada.token).fid}`)).toBeGreaterThan(ACCESS_TTL + LEEWAY + MARGIN);
  });

  it('a used challenge and its code longer than either can be presented', async () => {
    const token = await startChallenge(t);
    await completeChallenge(t, { challenge_token: token, code: codeOf(t, ada.secret) }).expect(200);
    expect(await client.ttl(`svc:dl:jti:${claimsOf(token).jti}`)).toBeGreaterThan(CHALLENGE_TTL + LEEWAY + MARGIN);
    const codes = await client.keys('svc:2fa:*');
    // The entries of the enrolment and of this login, and the last used step.
    expect(codes).toHaveLength(3);
    for (const key of codes) expect(await client.ttl(key)).toBeGreaterThan(CODE_LIFETIME + MARGIN);
  });
});

describe('a host without Redis', () => {
  const login = { maxAttempts: 1, decaySeconds: 60 };
  const t = TestApp.forFile({ redisUrl: '', options: { rateLimits: { login } } });

  it.each([
    ['forward', 3600],
    ['back', -3600],
  ])('limits for the same time when the time of the machine is set %s by an hour', async (_, seconds) => {
    await t.person('ada@example.com');
    t.clock.stop();
    await t.login('ada@example.com', 'wrong').expect(422);
    jest.spyOn(t.clock, 'now').mockReturnValue(t.clock.now() + seconds * 1000);
    t.clock.advance(58);
    await t.login('ada@example.com').expect(429).expect('Retry-After', '2');
    t.clock.advance(2);
    await t.login('ada@example.com').expect(200);
  });
});
