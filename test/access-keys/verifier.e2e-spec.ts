import { Controller, Get, Module } from '@nestjs/common';
import { AuthModule } from '@svc/auth';
import { AcceptsKeys, type AccessKeysOptions } from '@svc/auth/access-keys';
import request from 'supertest';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { startHost } from '../support/hosts/adapter';
import { SECRET } from '../support/hosts/host.module';
import { forgedKey } from '../support/flows/access-keys';
import { TestApp } from '../support/hosts/app';
import { SubjectProvider } from '../support/hosts/verifying-service';
import { sharedRedisUrl } from '../support/stores/shared-redis';
import { describeWithRedis } from '../support/stores/with-redis';

@Controller('reports')
class Reports {
  @Get()
  @AcceptsKeys()
  list() {
    return {};
  }
}

const SERVICE = { keyId: '0f9e0a52-1111-4222-8333-444455556666', userId: null, service: 'ci', abilities: [] };

describeWithRedis('the verifier of a service that only verifies', () => {
  const TEXT = forgedKey();

  async function during(
    accessKeys: AccessKeysOptions,
    use: (statusOf: (text?: string) => Promise<number>) => Promise<void>,
    storeTimeoutMs = 20_000,
  ): Promise<void> {
    const { cache, client } = await redisCache(sharedRedisUrl()!);
    const auth = AuthModule.forRoot({
      verifyOnly: true,
      secret: SECRET,
      cache,
      storeTimeoutMs,
      users: { provider: SubjectProvider },
      features: { accessKeys: true },
      accessKeys,
    });
    @Module({ imports: [auth], controllers: [Reports] })
    class Service {}
    const app = await startHost(Service);
    try {
      await use(
        async (text = TEXT) =>
          (await request(app.getHttpServer()).get('/reports').set('Authorization', `Bearer ${text}`)).status,
      );
    } finally {
      await app.close();
      await client.disconnect();
    }
  }

  it('is asked for each request by default, and as often as its cache says otherwise', async () => {
    const verifier = jest.fn(async () => SERVICE);
    await during({ verifier }, async (statusOf) => {
      for (let i = 0; i < 3; i++) expect(await statusOf()).toBe(200);
    });
    expect(verifier).toHaveBeenCalledTimes(3);
    verifier.mockClear();
    await during({ verifier, verifierCacheSeconds: 300 }, async (statusOf) => {
      for (let i = 0; i < 3; i++) expect(await statusOf()).toBe(200);
    });
    expect(verifier).toHaveBeenCalledTimes(1);
  });

  it('is not asked about a typo', async () => {
    const verifier = jest.fn(async () => SERVICE);
    await during({ verifier }, async (statusOf) => {
      expect(await statusOf(TEXT.slice(0, -1) + (TEXT.endsWith('0') ? '1' : '0'))).toBe(401);
      expect(await statusOf(forgedKey(undefined, 'shop'))).toBe(401);
    });
    expect(verifier).not.toHaveBeenCalled();
  });

  it('that fails, hangs or answers nonsense is a 503, and never an accepted key or a 500', async () => {
    const answers: (() => unknown)[] = [
      () => Promise.reject(new Error(`no answer about ${TEXT}`)),
      () => new Promise(() => undefined),
      () => Promise.resolve({}),
      () => Promise.resolve({ ...SERVICE, abilities: undefined }),
      () => Promise.resolve({ ...SERVICE, userId: undefined, service: undefined }),
      () => Promise.resolve('yes'),
    ];
    const seen: number[] = [];
    for (const answer of answers)
      await during({ verifier: answer as never }, async (statusOf) => void seen.push(await statusOf()), 300);
    expect(seen).toEqual(answers.map(() => 503));
    await during({ verifier: async () => null }, async (statusOf) => expect(await statusOf()).toBe(401));
    await during({ verifier: async () => undefined as never }, async (statusOf) => expect(await statusOf()).toBe(401));
  });
});

describe('@AcceptsKeys()', () => {
  it('refuses the start of a host without the feature, with the cure', async () => {
    await expect(TestApp.start({ controllers: [Reports] })).rejects.toThrow(/features\.accessKeys.*Turn it on/s);
  });

  it('refuses a guard without the feature', async () => {
    @Controller()
    class Staff {
      @Get('staff')
      @AcceptsKeys('admin')
      list() {
        return {};
      }
    }
    const guards = { admin: { features: { accessKeys: false } } } as never;
    await expect(
      TestApp.start({ controllers: [Staff], options: { features: { accessKeys: true }, guards } }),
    ).rejects.toThrow(/Staff\.list.*accessKeys/s);
  });
});
