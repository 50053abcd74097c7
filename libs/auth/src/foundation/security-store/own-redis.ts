import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AuthConfigError } from '../platform/errors';
import { optionalPeer } from '../platform/optional-peer';
import { type RedisClient, connectionFailure } from './redis-client';

/** What is used of `redis` and of `@redis/client`, versions 4 and 5. */
interface NodeRedis {
  createClient(options: object): RedisClient;
}

/**
 * The commands of a request are not queued while Redis is away: the request is answered 503. The pause between two attempts
 * is at most half a second, so that requests succeed again soon after an outage of any length.
 */
const SETTINGS = {
  disableOfflineQueue: true,
  pingInterval: 10_000,
  socket: { connectTimeout: 2000, reconnectStrategy: (retries: number) => Math.min(retries * 50, 500) },
};

/** The client of `redis.url`. The module opens it when the application starts, and closes it when the application ends. */
@Injectable()
export class OwnRedis implements OnApplicationShutdown {
  private client?: RedisClient;

  /** The client, until the application ends. */
  get connected(): RedisClient | undefined {
    return this.client;
  }

  /** Connects to Redis. @throws AuthConfigError without node-redis, or if no connection is possible within 5 seconds */
  async open(url: string, load: (name: string) => NodeRedis | undefined = optionalPeer): Promise<RedisClient> {
    const library = load('redis') ?? load('@redis/client');
    if (!library) {
      throw new AuthConfigError('redis.url (SVC_REDIS_URL) needs @redis/client. Run: npm install @redis/client');
    }
    // node-redis writes into the object of the socket.
    const client = library.createClient({ url, ...SETTINGS, socket: { ...SETTINGS.socket } });
    const failure = await connectionFailure(client);
    if (failure !== null) throw new AuthConfigError(`redis.url (SVC_REDIS_URL) ${failure}`);
    this.client = client;
    return client;
  }

  /** Closes the connection. After the HTTP server and the waiting mails, so that no request loses it. */
  async onApplicationShutdown(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    // Rejects while the client is not connected.
    await client?.disconnect?.().catch(() => undefined);
  }
}
