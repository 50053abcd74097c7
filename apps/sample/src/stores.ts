import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { Client } from 'pg';
import type { Environment } from './environment';

/** A store that does not answer within this time is asked again. */
const ATTEMPT_MS = 5000;

const PAUSE_MS = 500;

/** A store that the application needs at its start. */
interface Store {
  /** The kind, the host and the port. No other part of a URL, which may contain a password, is in a message. */
  name: string;
  /** Connects once. @throws Error with the reason */
  ask(): Promise<void>;
  /** Whether another attempt is useless: the store answers, and refuses this application. */
  refuses(error: Error): boolean;
}

/**
 * Waits until the stores of the environment accept connections, at most `storesTimeout` seconds.
 *
 * @throws Error with the store and the reason, when the time is over, or at once if the store refuses the credentials
 */
export async function waitForStores(environment: Environment): Promise<void> {
  const { databaseUrl, redisUrl, storesTimeout, logger } = environment;
  const end = performance.now() + storesTimeout * 1000;
  const stores = [databaseUrl && postgresAt(databaseUrl), redisUrl && redisAt(redisUrl)];
  for (const store of stores) if (store) await waitFor(store);

  async function waitFor(store: Store): Promise<void> {
    for (let known = ''; ; await sleep(PAUSE_MS)) {
      const error = await store.ask().catch((reason: Error) => reason);
      if (!error) return;
      const reason = reasonOf(error);
      if (store.refuses(error)) throw new Error(`${store.name} refuses the connection: ${reason}`, { cause: error });
      if (performance.now() >= end) {
        throw new Error(`${store.name} was not available within ${storesTimeout} s (STORES_TIMEOUT): ${reason}`, {
          cause: error,
        });
      }
      if (reason !== known) logger.warn(`Waiting for ${store.name}: ${reason}`, 'Sample');
      known = reason;
    }
  }
}

function postgresAt(url: string): Store {
  const { host, port } = new Client({ connectionString: url });
  return {
    name: `PostgreSQL at ${host}:${port}`,
    async ask() {
      const client = new Client({ connectionString: url, connectionTimeoutMillis: ATTEMPT_MS });
      client.on('error', () => undefined);
      try {
        await client.connect();
      } finally {
        await client.end();
      }
    },
    // Class 28: the credentials, or the rules of the server. 3D000: no such database. SASL: a password is missing.
    refuses: (error) => /^(28|3D000)/.test((error as { code?: string }).code ?? '') || error.message.startsWith('SASL'),
  };
}

function redisAt(url: string): Store {
  const { hostname, port } = new URL(url);
  return {
    name: `Redis at ${hostname}:${port || 6379}`,
    async ask() {
      const client = createClient({ url, socket: { connectTimeout: ATTEMPT_MS, reconnectStrategy: false } });
      client.on('error', () => undefined);
      const timeout = new AbortController();
      try {
        await Promise.race([
          client.connect().then(() => client.ping()),
          sleep(ATTEMPT_MS, undefined, timeout).then(() => Promise.reject(new Error('no answer'))),
        ]);
      } finally {
        timeout.abort();
        if (client.isOpen) await client.disconnect();
      }
    },
    refuses: ({ message }) => /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR DB index|ERR invalid DB)/i.test(message),
  };
}

/** A host name can have several addresses: then each of them has its own error. */
const reasonOf = (error: Error): string =>
  error instanceof AggregateError ? error.errors.map(({ message }: Error) => message).join(', ') : error.message;
