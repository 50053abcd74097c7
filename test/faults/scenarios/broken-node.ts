import { setTimeout as sleep } from 'node:timers/promises';
import type { TestApp, TestAppOptions, Tokens } from '../../support/hosts/app';
import { createDatabase } from '../../support/stores/database';
import { type Answer, send } from '../../support/hosts/processes';
import { TcpProxy } from '../../support/faults/tcp-proxy';
import { sharedRedisUrl } from '../../support/stores/with-redis';

/** A response and its duration in milliseconds. */
export interface Timed extends Answer {
  ms: number;
}

/** A host on the shared stores, with a fault proxy in front of each store. */
export class BrokenNode {
  private constructor(
    readonly t: TestApp,
    readonly url: string,
    readonly redis: TcpProxy,
    readonly postgres: TcpProxy,
    private readonly drop: () => Promise<void>,
  ) {}

  /** @param launch starts the host on the given stores */
  static async start(launch: (stores: TestAppOptions) => Promise<TestApp>): Promise<BrokenNode> {
    const database = await createDatabase();
    const redisUrl = sharedRedisUrl()!;
    const [postgres, redis] = await Promise.all(
      [portOf(database.url), portOf(redisUrl)].map((port) => TcpProxy.to(port)),
    );
    const stores = { databaseUrl: postgres!.through(database.url), redisUrl: redis!.through(redisUrl) };
    const t = await launch(stores);
    return new BrokenNode(t, await t.app.getUrl(), redis!, postgres!, database.drop);
  }

  heal(): void {
    this.redis.heal();
    this.postgres.heal();
  }

  /** The milliseconds until a guarded request succeeds again. */
  async recovery({ access_token: token }: Pick<Tokens, 'access_token'>): Promise<number> {
    const start = performance.now();
    while ((await this.call('GET', '/private', undefined, token)).status !== 200) await sleep(20);
    return performance.now() - start;
  }

  async call(method: string, path: string, body?: object, token?: string): Promise<Timed> {
    const start = performance.now();
    const answer = await send(this.url + path, method, body, token);
    return { ...answer, ms: performance.now() - start };
  }

  async stop(): Promise<void> {
    this.heal();
    await this.t.stop();
    await this.redis.close();
    await this.postgres.close();
    await this.drop();
  }
}

const portOf = (url: string): number => Number(new URL(url).port);
