import { randomBytes } from 'node:crypto';
import { freePort } from '../../../apps/sample/src/dev/embedded-postgres';
import { redisCache } from '../../../apps/sample/src/redis-cache';
import { createEmptyDatabase } from '../stores/database';
import { ExampleProcess, installExample } from './example-process';
import { sharedRedisUrl } from '../stores/shared-redis';

/** A running host of `examples/`. */
export interface RunningExample {
  /** The address of the host, or of its first part. */
  readonly url: string;
  /** The address of each part: `urls.issuer` for the script `start:issuer`. */
  readonly urls: Readonly<Record<string, string>>;
  /** Where it is installed. */
  readonly folder: string;
  /** The variables with which it runs. */
  readonly variables: Readonly<Record<string, string>>;
  /** Everything that the host has printed. */
  readonly logs: string;
  /** Stops the host and drops its database. */
  stop(): Promise<void>;
}

/**
 * Installs an example from its manifest with the packed library, and starts it with an empty database, an empty Redis and
 * a new secret.
 *
 * @param name the folder in `examples/`
 * @param variables additional environment variables
 * @param instead a folder of the example whose files replace others
 * @throws Error with the output of the host if it does not start
 */
export async function start(
  name: string,
  variables: Record<string, string> = {},
  instead?: string,
): Promise<RunningExample> {
  const folder = installExample(name, { instead });
  const [database, redisUrl] = [await createEmptyDatabase(), sharedRedisUrl()];
  if (redisUrl) {
    const { client } = await redisCache(redisUrl);
    await client.flushDb();
    await client.disconnect();
  }
  const stores = { DATABASE_URL: database.url, ...(redisUrl && { REDIS_URL: redisUrl, SVC_REDIS_URL: redisUrl }) };
  const [secret, key] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
  const all = { ...stores, SVC_SECRET: secret, SVC_ENCRYPTION_KEY: key, ...variables };
  try {
    const host = await ExampleProcess.start(folder, all, freePort);
    return {
      folder,
      variables: all,
      url: host.url,
      urls: host.urls,
      get logs() {
        return host.logs;
      },
      stop: async () => {
        await host.stop();
        await database.drop();
      },
    };
  } catch (error) {
    await database.drop();
    throw error;
  }
}
