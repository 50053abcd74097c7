import { Controller, Get, Module } from '@nestjs/common';
import { AuthModule, type Caller, CurrentCaller, Unauthenticated } from '@svc/auth';
import { AcceptsKeys, type VerifiedKey } from '@svc/auth/access-keys';
import request from 'supertest';
import { TestApp } from '../support/hosts/app';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { startHost } from '../support/hosts/adapter';
import { SECRET } from '../support/hosts/host.module';
import { SubjectProvider } from '../support/hosts/verifying-service';
import { sharedRedisUrl } from '../support/stores/shared-redis';
import { serviceKey } from '../support/flows/access-keys';

@Controller('reports')
class Reports {
  @Get()
  @AcceptsKeys()
  list(@CurrentCaller() { keyId, service, userId }: Caller) {
    return { keyId, service, userId };
  }
}

describe('a service that only verifies', () => {
  const t = TestApp.forFile({ options: { features: { accessKeys: true } } });

  async function start(verifier?: (key: string) => Promise<VerifiedKey | null>, seconds = 0) {
    const { cache, client } = await redisCache(sharedRedisUrl()!);
    const auth = AuthModule.forRoot({
      verifyOnly: true,
      secret: SECRET,
      cache,
      users: { provider: SubjectProvider },
      features: { accessKeys: true },
      accessKeys: { verifier, verifierCacheSeconds: seconds },
    });
    @Module({ imports: [auth], controllers: [Reports] })
    class Service {}
    try {
      const app = await startHost(Service);
      return {
        app,
        stop: async () => {
          await app.close();
          client.disconnect();
        },
      };
    } catch (error) {
      client.disconnect();
      throw error;
    }
  }

  it('asks the issuer about a key', async () => {
    const ask = async (key: string) =>
      t.auth.accessKeys.verify(key, { ip: '127.0.0.1' }).catch((error: unknown) => {
        if (error instanceof Unauthenticated) return null;
        throw error;
      });
    const service = await start(ask);
    try {
      const key = await serviceKey(t);
      const call = () =>
        request(service.app.getHttpServer()).get('/reports').set('Authorization', `Bearer ${key.access_key}`);
      const { body } = await call().expect(200);
      expect(body).toEqual({ keyId: key.id, service: 'ci', userId: '' });
      await t.auth.accessKeys.revokeAny(key.id);
      await call().expect(401);
    } finally {
      await service.stop();
    }
  });

  it('does not start without a way to ask', async () => {
    await expect(start()).rejects.toThrow(/accessKeys.verifier/);
  });
});
