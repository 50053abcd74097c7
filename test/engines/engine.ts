import { createClient } from 'redis-5';
import { redisCache } from '../../apps/sample/src/redis-cache';
import type { AuthModuleOptions } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { createDatabase } from '../support/stores/database';
import { sharedRedisUrl } from '../support/stores/with-redis';

/** A connection of one node to the shared store: the value of the option `cache`. */
export interface StoreConnection {
  cache: unknown;
  close(): Promise<unknown>;
}

/** The stores of a deployment while they run. */
export interface RunningEngine {
  databaseUrl: string;
  /** URL of a read replica of the data source. */
  replicaUrl?: string;
  connect(): Promise<StoreConnection>;
  /** What this engine needs in the configuration of every node. */
  options?: Partial<AuthModuleOptions>;
  stop(): Promise<unknown>;
}

/** A kind of deployment that the flows run on. */
export interface Engine {
  name: string;
  /** The missing program, if the engine cannot run here. Jest reports its tests as skipped. */
  missing?: string | undefined;
  start(): Promise<RunningEngine>;
}

/** What the kill matrix needs beside the stores. */
export interface KillableEngine extends RunningEngine {
  /** Resolves when the next kill loses nothing that was acknowledged before the call. */
  secure?(): Promise<unknown>;
  /** Runs shortly before the kill, for example to make a standby lag. */
  prepare?(round: number): Promise<unknown>;
  /**
   * Kills the master. Resolves when the stores are available again.
   *
   * @param meanwhile waits while there is no master, until clients have got answers
   */
  kill(meanwhile: () => Promise<unknown>, round: number): Promise<unknown>;
  /** Restores the redundancy for the next round. */
  repair?(round: number): Promise<unknown>;
}

/** A client of node-redis 4 below a cache. */
export async function nodeRedis4(url: string): Promise<StoreConnection> {
  const { cache, client } = await redisCache(url);
  return { cache, close: () => client.disconnect() };
}

/** A client of node-redis 5. */
export async function nodeRedis5(url: string): Promise<StoreConnection> {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: { connectTimeout: 1000, reconnectStrategy: (retries) => Math.min(retries * 50, 500) },
  });
  // An error event without a listener would end the process.
  await client.on('error', () => undefined).connect();
  return { cache: client, close: async () => client.destroy() };
}

/** The PostgreSQL of the test run, with the store that `connect` opens. */
export async function onSharedPostgres(
  connect: () => Promise<StoreConnection>,
  stop: () => Promise<unknown>,
): Promise<RunningEngine> {
  const { url, drop } = await createDatabase();
  return { databaseUrl: url, connect, stop: async () => void (await drop(), await stop()) };
}

/** The Redis of the test run, with a PostgreSQL of the engine. */
export const onSharedRedis = (
  databaseUrl: string,
  stop: () => Promise<unknown>,
  options: Partial<AuthModuleOptions> = {},
): RunningEngine => ({
  databaseUrl,
  connect: () => nodeRedis4(sharedRedisUrl()!),
  // Several databases use this Redis.
  options: { keyPrefix: `${randomUUID()}:`, ...options },
  stop,
});
