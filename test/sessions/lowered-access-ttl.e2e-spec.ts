import { TestApp, type Tokens } from '../support/hosts/app';
import { VerifyingService } from '../support/hosts/verifying-service';
import { RedisServer } from '../support/stores/redis';
import { describeWithOwnRedis } from '../support/stores/with-redis';
import { forge } from '../support/clients/forge';

const [LONG, SHORT] = [3600, 300];
/** The default leeway plus the margin for clocks. */
const MARGIN = 5 + 60;

describeWithOwnRedis('an accessTtl that was lowered', () => {
  let redis: RedisServer;
  let t: TestApp;
  let long: Tokens;
  let ended: Tokens;
  let service: VerifyingService;
  let cleanUp: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    redis = await RedisServer.start();
    const before = await TestApp.start({ redisUrl: redis.url, options: { accessTtl: LONG } });
    await before.person('ada@example.com');
    [long, ended] = [await before.session(), await before.session()];
    await before.get('/private', long.access_token).expect(200);
    await before.call('post', '/auth/logout', ended.access_token).expect(204);
    t = await TestApp.start({ redisUrl: redis.url, databaseUrl: before.databaseUrl, options: { accessTtl: SHORT } });
    service = await VerifyingService.start(redis.url, { accessTtl: SHORT });
    cleanUp = [() => service.stop(), () => t.stop(), () => before.stop(), () => redis.stop()];
  });
  beforeEach(() => t.clock.reset());
  afterAll(async () => {
    for (const step of cleanUp) await step();
  });

  const status = async (token: string): Promise<number> => (await t.get('/private', token)).status;
  /** A token that was issued `seconds` ago. */
  const aged = (seconds: number, life: number): string => {
    const issuedAt = Math.floor(Date.now() / 1000) - seconds;
    return forge({ claims: { iat: issuedAt, nbf: issuedAt, exp: issuedAt + life } });
  };

  it('refuses tokens with a longer life at once, of active and of ended sessions', async () => {
    for (const { access_token: token } of [long, ended]) {
      expect(await status(token)).toBe(401);
      expect(await service.status(token)).toBe(401);
    }
  });

  it('refuses them until they expire, also after their denial has expired', async () => {
    for (const seconds of [SHORT - 1, SHORT + MARGIN + 1, LONG - SHORT - 1, LONG - 10, LONG - 1]) {
      t.clock.reset();
      t.clock.advance(seconds);
      expect([seconds, await status(ended.access_token), await status(long.access_token)]).toEqual([seconds, 401, 401]);
      const old = aged(seconds, LONG);
      expect([seconds, await service.status(old)]).toEqual([seconds, 401]);
    }
  });

  it('signs no user out: the session is refreshed, and its new tokens are accepted everywhere', async () => {
    const { body } = await t.refresh(long.refresh_token).expect(200);
    expect(body.expires_in).toBe(SHORT);
    expect(await status(body.access_token)).toBe(200);
    await service.opened(body.access_token);
    long = { ...long, refresh_token: body.refresh_token };
  });

  it('accepts tokens with the new life at both services, fresh or close to their end', async () => {
    await service.opened(aged(0, SHORT));
    for (const seconds of [0, 1, SHORT / 2, SHORT - 30]) {
      expect([seconds, await service.status(aged(seconds, SHORT))]).toEqual([seconds, 200]);
      expect([seconds, await status(aged(seconds, SHORT))]).toEqual([seconds, 200]);
    }
  });
});
