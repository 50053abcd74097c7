import type { INestApplication } from '@nestjs/common';
import request from 'supertest';
import { TestApp } from '../support/hosts/app';
import { ADA } from '../support/hosts/user-entities';

const status = async (app: INestApplication, path: string, token: string): Promise<number> =>
  (await request(app.getHttpServer()).get(path).set('Authorization', `Bearer ${token}`)).status;

describe.each([
  ['Express', { fastify: false }, { fastify: false }],
  ['Fastify', { fastify: true }, { fastify: true }],
  ['Express and Fastify', { fastify: false }, { fastify: true }],
])("AuthGuard('api') of two applications in one process, on %s", (_, ofFirst, ofSecond) => {
  it('accepts the tokens of its own application only, while both run and after one of them has ended', async () => {
    const first = await TestApp.start({
      ...ofFirst,
      options: { secret: 'test-secret-of-the-first-application-0123456789' },
    });
    const second = await TestApp.start({
      ...ofSecond,
      options: { secret: 'test-secret-of-the-other-application-0123456789' },
    });
    try {
      const tokens: string[] = [];
      for (const t of [first, second]) {
        await t.person(ADA);
        tokens.push((await t.auth.startSession(1)).accessToken);
      }
      const [own, other] = tokens as [string, string];
      const all = async (): Promise<number[][]> =>
        Promise.all(
          [own, other].map((token) => Promise.all([first, second].map((t) => status(t.app, '/passport', token)))),
        );
      expect(await all()).toEqual([
        [200, 401],
        [401, 200],
      ]);
      await second.stop();
      expect([await status(first.app, '/passport', own), await status(first.app, '/passport', other)]).toEqual([
        200, 401,
      ]);
    } finally {
      await first.stop();
    }
  });
});
