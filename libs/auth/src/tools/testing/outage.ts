import type { INestApplicationContext } from '@nestjs/common';
import { Database } from '../../foundation/platform/database';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { SecurityStore } from '../../foundation/security-store/security-store';

/** A pool of node-postgres: every query of a data source takes a connection from it, with a callback or a promise. */
interface Pool {
  connect(done?: (error: Error) => void): Promise<unknown> | void;
}

/** The verbs of the security store that answer with a promise. */
const VERBS = [
  'identify',
  'getMany',
  'getWithInstance',
  'setMany',
  'add',
  'take',
  'advance',
  'count',
  'settle',
] as const satisfies (keyof SecurityStore)[];

/** The error of node-postgres for a server that is not reachable. */
const refused = (): Error => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/**
 * Makes the stores of a running application unavailable, for tests of its answers (503). The servers are not touched:
 * other applications still reach them. A statement or a transaction that already runs is not interrupted.
 *
 * @example
 * const outage = new Outage(app);
 * outage.redis();
 * await request(app.getHttpServer()).get('/orders').set(ada.headers).expect(503);
 * outage.end();
 * @publicApi
 */
export class Outage {
  private readonly restoring: (() => unknown)[] = [];

  constructor(private readonly app: INestApplicationContext) {}

  /** The security store does not answer: Redis, or the memory of the process. Other uses of Redis are not affected. */
  redis(): void {
    const store = this.app.get(SecurityStore, { strict: false });
    for (const verb of VERBS) this.replace(store, verb, () => Promise.reject(new StoreUnavailable('Redis')));
    this.replace(store, 'scan', () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new StoreUnavailable('Redis')) }),
    }));
  }

  /**
   * The data source of the library gets no connection. If the host's own queries use the same data source, they fail with
   * the error of node-postgres for an unreachable server.
   */
  postgres(): void {
    const { driver } = this.app.get(Database, { strict: false }).source;
    const { master, slaves } = driver as unknown as { master: Pool; slaves: Pool[] };
    for (const pool of [master, ...slaves])
      this.replace(pool, 'connect', (done?: (error: Error) => void) =>
        done ? void process.nextTick(done, refused()) : Promise.reject(refused()),
      );
  }

  /** Ends all outages that this object has begun. */
  end(): void {
    for (const restore of this.restoring.splice(0)) restore();
  }

  private replace(target: object, name: string, value: unknown): void {
    const own = Object.getOwnPropertyDescriptor(target, name);
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
    this.restoring.unshift(() =>
      own ? Object.defineProperty(target, name, own) : Reflect.deleteProperty(target, name),
    );
  }
}
