import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AuthConfigError } from '../platform/errors';
import { optionalPeer } from '../platform/optional-peer';
import { type RedisClient, connectionFailure, disconnected } from './redis-client';

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

function addressIn(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || 6379}`;
}

/**
 * The client of `redis.url`. The module opens it when all providers of the application exist: if one of them refuses the
 * start, Nest shuts nothing down, and an open connection would keep the process running. A command before that, for example
 * of an application that is not initialized, opens it, too. The module closes it when the application ends.
 */
@Injectable()
export class OwnRedis implements OnApplicationShutdown {
  private client?: RedisClient;
  /** The host and the port of the client. No other part of a URL, which may contain a password, is in a message. */
  private address = '';
  private opening?: Promise<void>;
  private isOpen = false;
  private isClosed = false;

  /** The client, from the first connection until the application ends. */
  get connected(): RedisClient | undefined {
    return this.isOpen ? this.client : undefined;
  }

  /** Creates the client, without a connection. @throws AuthConfigError without node-redis */
  create(url: string, load: (name: string) => NodeRedis | undefined = optionalPeer): RedisClient {
    const library = load('redis') ?? load('@redis/client');
    if (!library) {
      throw new AuthConfigError('redis.url (SVC_REDIS_URL) needs @redis/client. Run: npm install @redis/client');
    }
    this.address = addressIn(url);
    // node-redis writes into the object of the socket.
    this.client = library.createClient({ url, ...SETTINGS, socket: { ...SETTINGS.socket } });
    return this.client;
  }

  /** Connects the client once, if there is one. @throws AuthConfigError if no connection is possible within 5 seconds */
  open(): Promise<void> {
    return (this.opening ??= this.connect());
  }

  /** Closes the connection. After the HTTP server and the waiting mails, so that no request loses it. */
  async onApplicationShutdown(): Promise<void> {
    [this.isOpen, this.isClosed] = [false, true];
    if (this.client) await disconnected(this.client);
  }

  private async connect(): Promise<void> {
    if (!this.client || this.isClosed) return;
    const failure = await connectionFailure(this.client);
    if (failure !== null) throw new AuthConfigError(`Redis at ${this.address} (redis.url) ${failure}`);
    // An application that ends during its start closes the client while it connects.
    if (this.isClosed) await disconnected(this.client);
    else this.isOpen = true;
  }
}
