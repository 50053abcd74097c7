import { Controller, Get, type INestApplication, Module, Post, UseGuards } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { Authenticated, Public, SharedThrottlerStorage, Throttled } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import request from 'supertest';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { startHost } from '../support/hosts/adapter';
import { rateLimitedForFile, newAddress, startRateLimited } from '../support/hosts/rate-limited-host';
import { createDatabase } from '../support/stores/database';
import { HostController, HostModule, hostOptions } from '../support/hosts/host.module';
import { RedisServer } from '../support/stores/redis';
import { describeWithOwnRedis } from '../support/stores/with-redis';

@Controller('limited')
@Throttled('by-class')
class LimitedController {
  @Get('once')
  @Public()
  @Throttled('by-handler')
  once() {
    return {};
  }

  @Get('twice')
  twice() {
    return {};
  }

  @Post('secret')
  @Throttled('svc-confirm')
  @Authenticated()
  secret() {
    return {};
  }

  @Post('staff')
  @Authenticated('admin')
  @Throttled('svc-confirm')
  staff() {
    return {};
  }
}

@Controller('behind-passport')
@UseGuards(AuthGuard('admin'))
class BehindPassport {
  @Get()
  @Throttled('by-class')
  any() {
    return {};
  }
}

@Controller()
@Throttled('by-clss')
class Mistyped {
  @Get()
  any() {
    return {};
  }
}

@Controller()
class Inherited {
  @Get()
  @Throttled('constructor')
  any() {
    return {};
  }
}

@Controller('open')
class OpenController {
  @Get()
  open() {
    return {};
  }
}

const once = { maxAttempts: 1, decaySeconds: 60 };

describe('limiters of the host', () => {
  const contexts: unknown[] = [];
  const t = rateLimitedForFile(
    {
      rateLimits: {
        confirm: { maxAttempts: 3, decaySeconds: 60 },
        limiters: {
          'svc-login': () => [],
          'svc-admin-login': (_, { client }) => ({ key: client, ...once }),
          'by-class': (_, context) => {
            contexts.push(context);
            return { key: context.client, maxAttempts: 2, decaySeconds: 60 };
          },
          'by-handler': (_, { client }) => ({ key: client, ...once }),
        },
      },
    },
    { controllers: [HostController, LimitedController, BehindPassport] },
  );

  beforeEach(async () => {
    await t.person('ada@example.com');
    await t.person('bob@example.com');
    await t.person('root@example.com', 'admin');
    contexts.length = 0;
  });

  const get = (path: string, from: string) => t.http.get(path).set('X-Forwarded-For', from);
  const post = (path: string, token: string, from = newAddress()) =>
    t.http.post(path).set('X-Forwarded-For', from).set('Authorization', `Bearer ${token}`);

  // This test is the first, because Passport has one registry per process and every further application replaces its strategies.
  it('receive the guard and the user that Nest`s AuthGuard authenticated', async () => {
    const { accessToken } = await t.auth.guard('admin').startSession(1);
    await t.get('/behind-passport', accessToken).expect(200);
    expect(contexts).toEqual([{ guard: 'admin', client: expect.any(String), userId: '1' }]);
  });

  it('replace the limiters of the library by name, also those of extra guards', async () => {
    const from = newAddress();
    for (let i = 0; i < 40; i++)
      await t.http
        .post('/auth/login')
        .set('X-Forwarded-For', from)
        .send({ email: `${i}` })
        .expect(422);
    const staff = () => t.http.post('/admin/auth/login').set('X-Forwarded-For', from).send({});
    await staff().expect(422);
    await staff().expect(429);
  });

  it('apply to routes of the host, by controller and by handler together', async () => {
    const from = newAddress();
    const { headers } = await get('/limited/once', from).expect(200);
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' });
    // The limiter of the handler refuses first, so that of the controller does not count the request.
    await get('/limited/once', from).expect(429);
    await get('/limited/twice', from).expect(200);
    await get('/limited/twice', from).expect(429);
    expect(contexts[0]).toEqual({ guard: 'api', client: from, userId: null });
  });

  it('with the key of svc-confirm count the client and the user, after authentication', async () => {
    const ada = await t.auth.startSession(1);
    const bob = await t.auth.startSession(2);
    const root = await t.auth.guard('admin').startSession(1);
    // The limiter of the controller allows two requests per address.
    for (let i = 0; i < 3; i++) await post('/limited/secret', ada.accessToken).expect(201);
    await post('/limited/secret', ada.accessToken).expect(429);
    await post('/limited/secret', 'no.such.token').expect(401);
    await post('/limited/secret', bob.accessToken).expect(201);
    // The same id at another guard is a different user.
    await post('/limited/staff', root.accessToken).expect(201);
  });

  it.each([
    ['by-clss', Mistyped],
    ['constructor', Inherited],
  ])('with an unknown name such as %s are refused at boot', async (name, controller) => {
    const module = HostModule.with(t.databaseUrl, hostOptions({}), [controller]);
    const app = await NestFactory.create(module, { logger: false, abortOnError: false });
    await expect(app.init()).rejects.toThrow(`${controller.name}.any: There is no rate limiter "${name}"`);
  });

  it('may exist for one guard only, and @Throttled without a name is refused', async () => {
    const staffOnly = await startRateLimited(
      {
        rateLimits: {},
        guards: {
          admin: { rateLimits: { limiters: { 'by-class': (_, { guard }) => ({ key: guard, ...once }) } } },
        },
      },
      { controllers: [HostController, BehindPassport] },
    );
    await staffOnly.person('root@example.com', 'admin');
    const { accessToken } = await staffOnly.auth.guard('admin').startSession(1);
    await staffOnly.get('/behind-passport', accessToken).expect(200);
    await staffOnly.get('/behind-passport', accessToken).expect(429);
    await staffOnly.stop();
    expect(() => (Throttled as () => unknown)()).toThrow(/names no limiter/);
  });

  it('may return two windows for one key', async () => {
    const both = await startRateLimited(
      {
        rateLimits: {
          limiters: {
            'svc-login': (_, { client: key }) => [
              { key, maxAttempts: 2, decaySeconds: 60 },
              { key, maxAttempts: 3, decaySeconds: 3600 },
            ],
          },
        },
      },
      { redisUrl: '' },
    );
    const login = async (): Promise<number> => (await both.http.post('/auth/login').send({ email: 7 })).status;
    expect([await login(), await login(), await login()]).toEqual([422, 422, 429]);
    both.clock.advance(61);
    expect([await login(), await login()]).toEqual([422, 429]);
    both.clock.advance(3600);
    expect(await login()).toBe(422);
    await both.stop();
  });
});

describe('limiters of the host that replace svc-login', () => {
  let rule: object;
  const t = rateLimitedForFile({ rateLimits: { limiters: { 'svc-login': () => rule as never } } });

  it.each([[''], [['a', 'b']], [undefined], [7], [{}]])('that return the key %j count the client', async (key) => {
    rule = { key, ...once };
    const from = newAddress();
    const login = (client: string) => t.http.post('/auth/login').set('X-Forwarded-For', client).send({ email: 7 });
    await login(from).expect(422);
    await login(from).expect(429);
    await login(newAddress()).expect(422);
  });

  it.each([
    ['NaN as the maximum', { key: 'x', maxAttempts: NaN, decaySeconds: 60 }],
    ['a key alone', { key: 'x' }],
    ['an infinite window', { key: 'x', maxAttempts: 1, decaySeconds: Infinity }],
    ['a window of 1e18 seconds', { key: 'x', maxAttempts: 1, decaySeconds: 1e18 }],
    ['an infinite maximum', { key: 'x', maxAttempts: Infinity, decaySeconds: 60 }],
    ['the maximum 0', { key: 'x', maxAttempts: 0, decaySeconds: 60 }],
  ])('that return %s admit no request', async (_, broken) => {
    rule = broken;
    await t.http.post('/auth/login').send({}).expect(500);
  });
});

describeWithOwnRedis('a host with ThrottlerGuard', () => {
  let redis: RedisServer;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  const closing: (() => Promise<unknown>)[] = [];
  const name = randomUUID();

  async function startNode(): Promise<INestApplication> {
    const { cache, client } = await redisCache(redis.url);
    @Module({
      imports: [
        HostModule.with(database.url, hostOptions({ cache }), [OpenController]),
        ThrottlerModule.forRootAsync({
          inject: [SharedThrottlerStorage],
          useFactory: (storage: SharedThrottlerStorage) => ({
            throttlers: [{ name, ttl: 60_000, limit: 10 }],
            storage,
          }),
        }),
      ],
      providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
    })
    class Node {}
    const app = await startHost(Node);
    closing.push(
      () => app.close(),
      async () => client.disconnect(),
    );
    return app;
  }

  beforeAll(async () => {
    redis = await RedisServer.start();
    database = await createDatabase();
  });
  afterAll(async () => {
    for (const close of closing) await close().catch(() => undefined);
    await database.drop();
    await redis.stop();
  });

  it('counts in the store of the library, exactly and for all nodes together, and refuses without Redis', async () => {
    const nodes = [await startNode(), await startNode()];
    const began = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => request(nodes[i % 2]!.getHttpServer()).get('/open')),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
    const refused = await request(nodes[0]!.getHttpServer()).get('/open').expect(429);
    const elapsed = (performance.now() - began) / 1000;
    expect(Number(refused.headers[`retry-after-${name}`])).toBeGreaterThanOrEqual(60 - elapsed - 1);

    await redis.stop();
    await request(nodes[1]!.getHttpServer()).get('/open').expect(503);
  });
});
