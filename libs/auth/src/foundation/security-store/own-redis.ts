import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { EventEmitter, once } from 'node:events';
import { connect as connectTcp, isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { RequestScope, callHost } from '../platform/deadline';
import { AuthConfigError } from '../platform/errors';
import { type PeerName, optionalPeer } from '../platform/optional-peer';
import { connectionFailure, disconnected, urlProblem } from './first-connection';
import type { RedisClient } from './redis-client';

/** What is used of `redis` and of `@redis/client`, versions 4 to 6. */
interface NodeRedis {
  createClient(options: object): NodeClient;
}

/** A client of node-redis, of which each `connect` opens one connection. */
type NodeClient = RedisClient & Required<Pick<RedisClient, 'connect'>> & { duplicate(options: object): NodeClient };

/** `redis.url`: a URL, or a function that returns the URL for the next connection. */
export type RedisUrl = string | (() => string | Promise<string>);

/** The options of `redis` with which a connection is opened. */
export interface RedisConnection {
  readonly url: RedisUrl;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly tls?: true | ConnectionOptions | undefined;
}

/** Milliseconds for the TCP connection, and for the whole handshake: a server that hangs accepts a connection. */
const [CONNECT_MS, HANDSHAKE_MS] = [2000, 4000];

/**
 * The pause between two attempts: after a connection that was lost, for each attempt that failed, and the longest one. It is
 * short, so that requests succeed again soon after an outage of any length.
 */
const [SHORT_PAUSE_MS, PAUSE_MS, MAX_PAUSE_MS] = [20, 50, 500];

/** Milliseconds for the question whether a port uses TLS. */
const QUESTION_MS = 1000;

/** The URL with the credentials and the protocol of the other options. node-redis reads both from the URL only. */
function urlWith(text: string, { username, password, tls }: RedisConnection): URL {
  const url = new URL(tls ? text.replace(/^redis:/i, 'rediss:') : text);
  // The setters leave a percent sign as it is, and node-redis decodes both.
  if (username !== undefined) url.username = encodeURIComponent(username);
  if (password !== undefined) url.password = encodeURIComponent(password);
  return url;
}

/** Of a host name, the server may have a certificate for each name (SNI). */
const tlsOptions = ({ hostname, protocol }: URL, tls: RedisConnection['tls']): object => ({
  ...(protocol === 'rediss:' && !isIP(hostname.replaceAll(/[[\]]/g, '')) && { servername: hostname }),
  ...(typeof tls === 'object' && tls),
});

/** Whether a port uses the other protocol than the URL, with the correction. It sends no password. */
async function otherProtocol({ hostname, port: given, protocol }: URL): Promise<string> {
  const [host, port] = [hostname.replaceAll(/[[\]]/g, ''), Number(given || 6379)];
  const isTls = protocol === 'rediss:';
  const socket = isTls ? connectTcp({ host, port }) : connectTls({ host, port, rejectUnauthorized: false });
  try {
    const signal = AbortSignal.timeout(QUESTION_MS);
    if (!isTls) await once(socket, 'secureConnect', { signal });
    else {
      socket.write('PING\r\n');
      const [reply] = (await once(socket, 'data', { signal })) as [Buffer];
      if (!/^[+-]/.test(String(reply))) return '';
    }
  } catch {
    return '';
  } finally {
    socket.on('error', () => undefined).destroy();
  }
  return isTls
    ? ' This port does not use TLS: set redis.url to a URL with redis:// and remove redis.tls, or name the TLS port of Redis.'
    : ' This port uses TLS: set redis.url to a URL with rediss://.';
}

/** The commands of a request are not queued while Redis is away: the request is answered 503. */
const optionsFor = (url: URL, tls: RedisConnection['tls'], signal: AbortSignal): object => ({
  // Those of an earlier URL do not apply.
  username: undefined,
  password: undefined,
  database: undefined,
  credentialsProvider: undefined,
  url: url.href,
  disableOfflineQueue: true,
  // node-redis writes into the object of the socket.
  socket: { connectTimeout: CONNECT_MS, reconnectStrategy: false, signal, ...tlsOptions(url, tls) },
});

/** The error of the host's function may quote what it has read. */
const withoutText = (error: unknown): never => {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown };
  throw new Error(`the function redis.url failed (${[name, code].filter(Boolean).join(' ')})`);
};

/**
 * A client that opens one connection after the other. Before each of them it reads the URL again, so it finds a new password,
 * and it resolves the host name again, so it finds a new master.
 */
class OwnClient extends EventEmitter implements RedisClient {
  /** The URL of the last attempt. */
  private asked?: URL;
  private last?: NodeClient;
  private current?: NodeClient;
  private stopping?: AbortController;
  private onLost = (): void => undefined;

  constructor(
    private readonly connection: RedisConnection,
    private readonly library: NodeRedis,
  ) {
    super();
  }

  /** The host and the port of the last attempt. No other part of a URL, which may contain a password, is in a message. */
  get address(): string {
    return `${this.asked?.hostname ?? ''}:${this.asked?.port || 6379}`;
  }

  /** Why the last attempt may have failed; an empty text if that is not known. */
  async hint(): Promise<string> {
    return this.asked ? otherProtocol(this.asked) : '';
  }

  get isOpen(): boolean {
    return this.stopping !== undefined;
  }

  get isReady(): boolean {
    return this.current?.isReady === true;
  }

  sendCommand(args: readonly string[]): Promise<unknown> {
    return this.current ? this.current.sendCommand(args) : Promise.reject(new Error('The client is not connected'));
  }

  /** Resolves when the first connection is ready, or when the client was closed before. */
  async connect(): Promise<void> {
    if (this.stopping) return;
    const { signal } = (this.stopping = new AbortController());
    await new Promise<void>((resolve) => {
      this.once('ready', resolve);
      void this.stayConnected(signal).then(resolve);
    });
  }

  async disconnect(): Promise<void> {
    const { current, stopping } = this;
    [this.current, this.stopping] = [undefined, undefined];
    if (current) await disconnected(current);
    stopping?.abort();
    this.onLost();
  }

  private async stayConnected(stop: AbortSignal): Promise<void> {
    let failures = 0;
    while (!stop.aborted) {
      try {
        await this.useOne(stop);
        failures = 0;
      } catch (error) {
        failures++;
        if (!stop.aborted) this.emit('error', error);
      }
      await sleep(Math.min(failures * PAUSE_MS, MAX_PAUSE_MS) || SHORT_PAUSE_MS);
    }
  }

  /** Opens one connection, and resolves when it is lost. Rejects if it cannot be opened. */
  private async useOne(stop: AbortSignal): Promise<void> {
    const url = await this.nextUrl();
    if (stop.aborted) return;
    // For one connection only: a socket that could not connect stays a listener of its signal.
    const ending = new AbortController();
    const client = this.made(url, ending.signal);
    const end = (): void => ending.abort();
    stop.addEventListener('abort', end);
    const timer = setTimeout(end, HANDSHAKE_MS);
    try {
      const lost = new Promise<void>((resolve) => (this.onLost = resolve));
      await client.connect();
      clearTimeout(timer);
      if (stop.aborted) return;
      this.current = client;
      this.emit('ready');
      await lost;
    } finally {
      clearTimeout(timer);
      stop.removeEventListener('abort', end);
      // One that was closed while it connected can be ready by now.
      end();
    }
  }

  private async nextUrl(): Promise<URL> {
    const { url: source } = this.connection;
    const url = typeof source === 'function' ? await callHost('redis.url', source).catch(withoutText) : source;
    const problem = urlProblem(url);
    if (problem !== null) throw new AuthConfigError(`redis.url ${problem}`);
    return (this.asked = urlWith(url, this.connection));
  }

  private made(url: URL, signal: AbortSignal): NodeClient {
    const options = optionsFor(url, this.connection.tls, signal);
    // `createClient` builds a class with all commands, and `duplicate` does not.
    const client = (this.last = this.last?.duplicate(options) ?? this.library.createClient(options));
    client.on('error', (error) => this.failed(client, error));
    return client;
  }

  /** An error that does not end the connection, or the first one after its end. */
  private failed(client: NodeClient, error: Error): void {
    if (client !== this.current) return;
    if (!client.isReady) {
      this.current = undefined;
      this.onLost();
    }
    this.emit('error', error);
  }
}

/**
 * The client of `redis.url`. The module opens it when all providers of the application exist: if one of them refuses the
 * start, Nest shuts nothing down, and an open connection would keep the process running. A command before that, for example
 * of an application that is not initialized, opens it, too. The module closes it when the application ends.
 */
@Injectable()
export class OwnRedis implements OnApplicationShutdown {
  private client?: OwnClient;
  private opening?: Promise<void>;
  private isOpen = false;
  private isClosed = false;

  /** The client, from the first connection until the application ends. */
  get connected(): RedisClient | undefined {
    return this.isOpen ? this.client : undefined;
  }

  /** Creates the client, without a connection. @throws AuthConfigError without node-redis */
  create(options: RedisConnection, load: (name: PeerName) => NodeRedis | undefined = optionalPeer): RedisClient {
    const library = load('redis') ?? load('@redis/client');
    if (!library) {
      throw new AuthConfigError('redis.url (SVC_REDIS_URL) needs @redis/client. Run: npm install @redis/client');
    }
    return (this.client = new OwnClient(options, library));
  }

  /** Connects the client once, if there is one. @throws AuthConfigError if no connection is possible within about 5 seconds */
  open(): Promise<void> {
    return (this.opening ??= this.connect());
  }

  /** Closes the connection. After the HTTP server and the waiting mails, so that no request loses it. */
  async onApplicationShutdown(): Promise<void> {
    [this.isOpen, this.isClosed] = [false, true];
    await this.client?.disconnect();
  }

  private async connect(): Promise<void> {
    const { client } = this;
    if (!client || this.isClosed) return;
    const failure = await RequestScope.detached(() => connectionFailure(client));
    if (failure !== null) {
      throw new AuthConfigError(`Redis at ${client.address} (redis.url) ${failure}${await client.hint()}`);
    }
    // An application that ends during its start closes the client while it connects.
    if (this.isClosed) await client.disconnect();
    else this.isOpen = true;
  }
}
