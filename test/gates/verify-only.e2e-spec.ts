import { Controller, Get, type INestApplication, Module } from '@nestjs/common';
import {
  Auth,
  AuthModule,
  type AuthModuleOptions,
  Authenticated,
  type Caller,
  CurrentCaller,
  Pruning,
  RequireConfirmation,
} from '@svc/auth';
import { randomUUID } from 'node:crypto';
import request from 'supertest';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { startHost } from '../support/hosts/adapter';
import type { TestApp } from '../support/hosts/app';
import { LEASE, emptyRedisWithoutRebuild } from '../support/stores/denylist-state';
import { ENCRYPTION_KEY } from '../support/hosts/host.module';
import { publicKey, startIssuer } from '../support/hosts/issuer';
import { RedisServer } from '../support/stores/redis';
import { eventually } from '../support/runtime/eventually';
import { HELD_MS, StoreTimeouts } from '../support/faults/store-timeouts';
import { describeWithOwnRedis } from '../support/stores/with-redis';
import { PASSWORD } from '../support/hosts/user-entities';
import { SubjectProvider } from '../support/hosts/verifying-service';

/** Far above the time of a refusal, and far below the time limit of a test. */
const STORE_TIMEOUT_MS = HELD_MS;

@Controller()
class Reports {
  @Get('reports')
  @Authenticated()
  list(@CurrentCaller() { userId, user }: Caller) {
    return { userId, user };
  }

  @Get('reports/confirmed')
  @Authenticated()
  @RequireConfirmation()
  confirmed(@CurrentCaller() { userId }: Caller) {
    return { userId };
  }
}

describeWithOwnRedis('a verifying service', () => {
  let issuer: TestApp;
  let service: INestApplication;
  let server: RedisServer;
  let redis: Awaited<ReturnType<typeof redisCache>>;

  beforeAll(async () => {
    server = await RedisServer.start();
    issuer = await startIssuer(server.url);
    redis = await redisCache(server.url);

    service = await startService();
  });
  afterAll(async () => {
    await service.close();
    await redis.client.disconnect();
    await issuer.stop();
    await server.stop();
  });

  function startService(options: Partial<AuthModuleOptions> = {}): Promise<INestApplication> {
    @Module({
      imports: [
        AuthModule.forRoot({
          verifyOnly: true,
          algorithm: 'ES256',
          keys: { active: 'k1', public: { k1: publicKey } },
          audience: 'https://reports.example.com',
          cache: redis.cache,
          storeTimeoutMs: STORE_TIMEOUT_MS,
          users: { provider: SubjectProvider },
          ...options,
        }),
      ],
      controllers: [Reports],
    })
    class Service {}
    return startHost(Service);
  }

  const reports = (token: string) =>
    request(service.getHttpServer()).get('/reports').set('Authorization', `Bearer ${token}`);

  it('needs no database and no private key, and applies a revocation at once', async () => {
    const { access_token: token } = await issuer.session();
    const { body } = await reports(token).expect(200);
    expect(body).toEqual({ userId: '1', user: { id: '1' } });
    await issuer.call('post', '/auth/logout', token).expect(204);
    await reports(token).expect(401);
  });

  it('with the audiences of the issuer accepts its confirmations, of the same session only, although it stores no hashes', async () => {
    const same = await startService({ audience: ['https://api.example.com', 'https://reports.example.com'] });
    const [one, other] = [await issuer.session(), await issuer.session()];
    const { body } = await issuer.call('post', '/auth/confirm-password', one.access_token).send({ password: PASSWORD });
    const confirmed = (token: string, confirmation?: string) => {
      const call = request(same.getHttpServer()).get('/reports/confirmed').set('Authorization', `Bearer ${token}`);
      return confirmation ? call.set('X-Svc-Confirmation', confirmation) : call;
    };
    await confirmed(one.access_token).expect(423);
    await confirmed(one.access_token, body.confirmation_token).expect(200);
    await confirmed(other.access_token, body.confirmation_token).expect(423);
    await same.close();
  });

  it('accepts no token after Redis has lost the denylist, until the issuer has rebuilt it', async () => {
    const [live, revoked] = [(await issuer.session()).access_token, (await issuer.session()).access_token];
    await issuer.call('post', '/auth/logout', revoked).expect(204);
    for (let round = 0; round < 3; round++) {
      await emptyRedisWithoutRebuild(redis.client);
      // At once: no timeout ends here.
      const refused = () => Promise.all([reports(live).expect(503), reports(revoked).expect(503)]);
      await StoreTimeouts.of(service).during(refused, () => false);
      await issuer.get('/private', live).expect(200);
      await redis.client.del(LEASE);
      await eventually(async () => (await reports(live)).status === 200);
      await reports(revoked).expect(401);
    }
  });

  it('mounts no routes, and refuses the calls that start, end or prune sessions', async () => {
    await request(service.getHttpServer()).post('/auth/login').send({}).expect(404);
    const auth = service.get(Auth);
    const calls = [
      () => auth.startSession('1'),
      () => auth.revoke(randomUUID()),
      () => auth.revokeAll('1'),
      () => auth.revokeOthers('1', randomUUID()),
      () => auth.revokeEverything(),
      () => auth.login.attempt({ identifier: 'ada@example.com', password: PASSWORD }, { ip: '203.0.113.7' }),
      () => service.get(Pruning).run(),
      () => service.get(Pruning).runUnlessActive(),
    ];
    for (const call of calls) {
      const refusal: unknown = await (async () => call())().catch((error: Error) => error.cause ?? error);
      expect(refusal).toMatchObject({ message: expect.stringContaining('only verifies tokens (verifyOnly)') });
    }
  });

  it('does not start with mounted routes, nor without verifyOnly if it cannot sign', async () => {
    await expect((async () => startService({ routes: true }))()).rejects.toThrow(/routes and verifyOnly are both true/);
    const own = startService({ verifyOnly: false, routes: false, encryption: { key: ENCRYPTION_KEY } });
    await expect(own).rejects.toThrow(/SVC_PRIVATE_KEY.* set verifyOnly to true/);
  });
});
