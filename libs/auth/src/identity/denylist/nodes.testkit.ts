import { randomUUID } from 'node:crypto';
import { redisCache } from '../../../../../apps/sample/src/redis-cache';
import { TestApp } from '../../../../../test/support/hosts/app';
import { deniedKey } from '../../../../../test/support/stores/denylist-state';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { type RedisClient, RedisServer } from '../../../../../test/support/stores/redis';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { Clock } from '../../foundation/platform/clock';
import { Database } from '../../foundation/platform/database';
import { redisClientOf } from '../../foundation/security-store/first-connection';
import { RedisSecurityStore } from '../../foundation/security-store/redis-security-store';
import type { SecurityStore } from '../../foundation/security-store/security-store';
import { DenylistMonitor } from './denylist-monitor';
import { COMPLETE } from './denylist';
import { EndedSessions } from './ended-sessions';
import { StoreContinuity } from './store-continuity';

/** Number of sessions in one batch. */
export const BATCH = 1000;

/** The current continuity id of a store that is not sharded. */
export const currentOf = async (continuity: StoreContinuity): Promise<string> =>
  (await continuity.readCurrent([], '')).continuity;

/** A node whose monitor checks the denylist when the test calls it. */
export interface Node {
  store: SecurityStore;
  ended: EndedSessions;
  monitor: DenylistMonitor;
  /** Whether the store is marked as complete. */
  isComplete(): Promise<boolean>;
}

/** Nodes on one PostgreSQL and one Redis, both emptied before each test. */
export class Nodes {
  /** The test host. Its denylist is in memory, separate from the denylist of the nodes. */
  readonly t = TestApp.forFile({
    redisUrl: '',
    // Long enough that no statement times out on a slow machine.
    options: { storeTimeoutMs: 20_000 },
  });
  client!: RedisClient;
  private redis!: RedisServer;
  private readonly clients: RedisClient[] = [];

  private constructor() {}

  static forFile(): Nodes {
    const nodes = new Nodes();
    beforeAll(async () => {
      nodes.redis = await RedisServer.start();
      ({ client: nodes.client } = await redisCache(nodes.redis.url));
    });
    beforeEach(() => nodes.client.flushAll());
    afterEach(async () => {
      jest.restoreAllMocks();
      for (const client of nodes.clients.splice(0)) await client.disconnect();
    });
    afterAll(async () => {
      await nodes.client.disconnect();
      await nodes.redis.stop();
    });
    return nodes;
  }

  async start(more: Partial<AuthConfig> = {}): Promise<Node> {
    const { client } = await redisCache(this.redis.url);
    this.clients.push(client);
    const config = { ...this.t.app.get<AuthConfig>(AUTH_CONFIG), ...more };
    const store = new RedisSecurityStore(redisClientOf(client)!, config.storeTimeoutMs);
    await eventually(async () => store.identify().then(() => store.instance !== null));
    const continuity = new StoreContinuity(store, config);
    const ended = new EndedSessions(this.t.app.get(Database), this.t.app.get(Clock), config);
    const isComplete = async (): Promise<boolean> => {
      const { values, continuity: id } = await continuity.read([COMPLETE], '');
      return id !== null && values[0] === id;
    };
    return { store, ended, monitor: new DenylistMonitor(store, continuity, ended, config), isComplete };
  }

  /** Stores sessions that are live in PostgreSQL. */
  async storeLive(count = 1): Promise<string[]> {
    const ids = Array.from({ length: count }, () => randomUUID() as string);
    await this.t.database.query(
      `INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, expires_at, last_used_at, created_at)
       SELECT id, 'api', '1', '', now(), now() + interval '30 days', now(), now() FROM unnest($1::uuid[]) AS id`,
      [ids],
    );
    return ids;
  }

  /** The ids of the sessions that are ended in PostgreSQL, in order. */
  async endedIds(): Promise<string[]> {
    const rows = await this.t.database.query('SELECT id FROM svc_sessions WHERE revoked_at IS NOT NULL ORDER BY id');
    return rows.map(({ id }: { id: string }) => id);
  }

  /** The keys of every denial in the store, in order. */
  async denied(): Promise<string[]> {
    return (await this.client.keys(deniedKey('*'))).toSorted();
  }
}

export const keysOf = (ids: readonly string[]): string[] => ids.map(deniedKey).toSorted();
