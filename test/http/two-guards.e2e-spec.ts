import { Controller, Get, UseGuards } from '@nestjs/common';
import { AccessTokenGuard, Throttled } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { TestApp } from '../support/app';

@Controller('limited')
@Throttled('thrice')
class Limited {
  @Get('guarded')
  @UseGuards(AccessTokenGuard)
  guarded() {
    return {};
  }

  @Get('twice')
  @Throttled('thrice')
  @UseGuards(AccessTokenGuard)
  twice() {
    return {};
  }
}

describe('a route with gates on its class and a guard of more on itself', () => {
  let t: TestApp;

  beforeAll(async () => {
    const thrice = (request: unknown) => ({
      key: (request as { url: string }).url,
      maxAttempts: 3,
      decaySeconds: 60,
    });
    t = await TestApp.start({
      options: { keyPrefix: `${randomUUID()}:`, rateLimits: { limiters: { thrice } } },
      controllers: [Limited],
    });
    await t.person('ada@example.com');
  });
  afterAll(() => t.stop());

  it.each([['/limited/guarded'], ['/limited/twice']])('passes all of them, and each once, at %s', async (path) => {
    const { accessToken } = await t.auth.startSession(1);
    await t.get(path).expect(401);
    await t.get(path, 'no.such.token').expect(401);
    await t.get(path, accessToken).expect(200);
    await t.get(path, accessToken).expect(429);
  });
});
