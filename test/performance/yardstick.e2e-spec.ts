import { Cleanup } from '../../bench/cleanup';
import { Server } from '../../bench/server';
import { altered } from '../support/clients/forge';
import { type TestDatabase, createDatabase } from '../support/stores/database';
import { describeWithRedis, sharedRedisUrl } from '../support/stores/with-redis';

interface Tokens {
  access_token: string;
  refresh_token: string;
}

/** The refreshes with which the benchmark compares that of the library. They use its statements, which can change. */
const APPS = [
  ['the lean application', 'lean', 'express'],
  ['the lean application', 'lean', 'fastify'],
  ['the bare exchange', 'bare', 'express'],
] as const;

describeWithRedis('the yardstick of the benchmark', () => {
  let database: TestDatabase;
  const cleanup = new Cleanup();

  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(async () => {
    await cleanup.run();
    await database.drop();
  });

  it.each(APPS)(
    '%s (%s, %s) exchanges each token of a session once, for a token of the same form',
    async (_, app, adapter) => {
      const stores = { databaseUrl: database.url, redisUrl: sharedRedisUrl()!, postmaster: 0, version: '' };
      const server = await Server.start(app, stores, cleanup, { adapter, BENCH_VARIANT: 'pipelined' });
      const refresh = async (token: string): Promise<{ status: number; body: Tokens }> => {
        const body = JSON.stringify({ refresh_token: token });
        const answer = await fetch(`${server.url}/refresh`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        });
        return { status: answer.status, body: (await answer.json()) as Tokens };
      };
      const [{ refresh_token: first }] = (await server.sessions('', 1)) as [Tokens];
      const seen = [first];
      for (let n = 0; n < 3; n++) {
        const { status, body } = await refresh(seen.at(-1)!);
        expect(status).toBe(200);
        expect(body.access_token.split('.')).toHaveLength(3);
        seen.push(body.refresh_token);
      }
      expect(new Set(seen).size).toBe(4);
      expect((await refresh(altered(seen.at(-1)!))).status).not.toBe(200);
      await server.stop();
    },
  );
});
