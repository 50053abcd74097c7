import { Controller, Get, type INestApplication, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createClient } from '@redis/client';
import { Authenticated, type Caller, CurrentCaller } from '@svc/auth';
import request from 'supertest';
import { modulesOf } from '../docs/page-modules';
import type { TestApp } from '../support/app';
import { startIssuer } from '../support/issuer';
import { RedisServer } from '../support/redis';
import { describeWithOwnRedis } from '../support/with-redis';

@Controller('reports')
@Authenticated()
class Reports {
  @Get()
  list(@CurrentCaller() { userId }: Caller) {
    return { of: userId };
  }
}

describeWithOwnRedis('a service that only verifies, as its recipe says', () => {
  let issuer: TestApp;
  let service: INestApplication;
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;

  beforeAll(async () => {
    server = await RedisServer.start();
    issuer = await startIssuer(server.url);
    Object.assign(process.env, { ISSUER_URL: await issuer.app.getUrl(), REDIS_URL: server.url });
    const page = modulesOf('docs/recipes/verify-only-services.md', {
      // Kept, to be closed.
      '@redis/client': { createClient: (options: object) => (client = createClient(options)) },
    });
    const AppModule: Type = page['src/app.module.ts'].AppModule;

    @Module({ imports: [AppModule], controllers: [Reports] })
    class Service {}
    service = await NestFactory.create(Service, { logger: false });
    await service.init();
  });
  afterAll(async () => {
    delete process.env.ISSUER_URL;
    delete process.env.REDIS_URL;
    await service.close();
    await client.disconnect();
    await issuer.stop();
    await server.stop();
  });

  const reports = (token: string) =>
    request(service.getHttpServer()).get('/reports').set('Authorization', `Bearer ${token}`);

  it('takes the issuer`s tokens by the keys that it publishes, until their session ends there', async () => {
    const { access_token: token } = await issuer.session();
    expect((await reports(token).expect(200)).body).toEqual({ of: '1' });
    await issuer.call('post', '/auth/logout', token).expect(204);
    await reports(token).expect(401);
  });
});
