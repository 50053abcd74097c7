import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { machineTime } from '../platform/clock';
import { RequestScope } from '../platform/deadline';
import { redisRefusal } from '../platform/errors';
import { type SecurityStore, UNNAMED } from './security-store';

/** The common interface of the clients of node-redis: `@redis/client` 1 (node-redis 4), 5 and 6. */
export interface RedisClient {
  readonly isOpen?: boolean;
  readonly isReady?: boolean;
  /** The options with which it was created. */
  readonly options?: { readonly socket?: object };
  connect?(): Promise<unknown>;
  disconnect?(): Promise<unknown>;
  sendCommand(args: readonly string[]): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'ready', listener: () => void): unknown;
}

/** A sentinel object of node-redis 5 or 6 (`createSentinel`). It opens a new client for every master. */
export interface RedisSentinel {
  /** True from `connect` to `close`, also without a master. */
  readonly isReady: boolean;
  getSentinelNode(): unknown;
  /**
   * Runs a command on a client of the master or of a replica. After a lost connection or a refused write, it searches
   * for the master and repeats the command. Every command of a sentinel object uses this method.
   */
  _execute<T>(isReadonly: boolean, command: (client: RedisClient) => Promise<T>): Promise<T>;
  on(event: 'error', listener: (error: Error | string) => void): unknown;
  /** Emitted when the sentinels report other servers. */
  on(event: 'topology-change', listener: () => void): unknown;
}

/** A pool of node-redis 5 or 6 (`createClientPool`). */
interface RedisPool extends RedisClient {
  execute<T>(command: (client: RedisClient) => Promise<T>): Promise<T>;
}

export type RedisSource = RedisClient | RedisSentinel;

export const isSentinel = (source: RedisSource): source is RedisSentinel =>
  typeof (source as Partial<RedisSentinel>).getSentinelNode === 'function';

const isPool = (source: RedisSource): source is RedisPool =>
  typeof (source as Partial<RedisPool>).execute === 'function';

/**
 * Runs a command on a client with a single connection to the master. A sentinel object and a pool emit no event when
 * such a connection breaks; the client does.
 */
export function onMaster<T>(source: RedisSource, command: (client: RedisClient) => Promise<T>): Promise<T> {
  if (isSentinel(source)) return source._execute(false, command);
  return isPool(source) ? source.execute(command) : command(source);
}

/** The options that a store needs. */
export interface StoreSettings {
  /** The longest wait for a reply, in milliseconds. */
  readonly storeTimeoutMs: number;
  /** Prefix of every key. */
  readonly keyPrefix: string;
}

/** Makes a store at the start of the module, whose options it needs. */
export abstract class StoreFactory {
  /** @throws AuthConfigError if the store cannot be used */
  abstract create(settings: StoreSettings): Promise<SecurityStore>;

  /** The clients of all servers, for `svc-auth doctor`. */
  abstract clients(): Promise<RedisClient[]>;
}

/** The longest time without an answer, in milliseconds, that a running process lets pass: it asks Redis once a second. */
const SILENCE_MS = 5000;

/** The shortest time between two replacements of a connection, in milliseconds. */
const REPLACE_PAUSE_MS = 500;

/**
 * With these codes, a server refuses commands because of its present role or state, or because it does not know the user any
 * more. The address may lead to another server by now, and another password may be known. Not those of a cluster, whose
 * topology is read again.
 */
const REPLACED = /^(READONLY|MASTERDOWN|MISCONF|LOADING|UNBLOCKED|NOAUTH|WRONGPASS)$/;

/**
 * Replaces a connection that is of no use any more:
 *
 * - No command is answered. The server may be unreachable without an error on the connection. TCP detects this only after
 *   about 15 minutes, and until then every request would be refused.
 * - The server refuses commands, such as a former master that is a replica now. It does not end the connections of its
 *   clients, so the name of the host would never be resolved again.
 *
 * A sentinel object is not reconnected. It replaces its connections when the sentinels report another master. If its
 * connection is closed before that, it waits for the old master and does not search for the new one.
 */
export class Connection {
  private silentSince?: number;
  private replacedAt = -Infinity;
  private reopenedAt = -Infinity;
  private isReplacing = false;
  /** The time of the machine at the last answer. */
  private answeredAt = Infinity;
  private isLostInSilence = false;
  private wasReady: boolean;
  private proving?: Promise<void>;
  private readonly waiting: (() => void)[] = [];

  /**
   * @param timeoutMs longest wait for a reply, in milliseconds
   * @param mayConnect whether the client is connected again after it was disconnected
   */
  constructor(
    private readonly client: RedisSource,
    private readonly timeoutMs: number,
    private readonly mayConnect: () => boolean,
  ) {
    this.wasReady = client.isReady === true;
  }

  /** The client has a new connection. */
  ready(): void {
    [this.wasReady, this.isReplacing, this.isLostInSilence] = [true, false, false];
    for (const resume of this.waiting.splice(0)) resume();
  }

  /** The client has reported an error, after which it may have no connection. */
  failed(): void {
    if (!this.wasReady || this.client.isReady !== false) return;
    this.wasReady = false;
    this.isLostInSilence = machineTime() - this.answeredAt > SILENCE_MS;
  }

  /** Records when a reply arrives, also when the caller no longer waits for it. */
  watch(reply: Promise<unknown>): void {
    const replied = (error?: unknown): void => {
      this.silentSince = undefined;
      // The loss of the connection is no answer.
      if (error === undefined || redisRefusal(error) !== undefined) this.answeredAt = machineTime();
    };
    reply.then(() => replied(), replied);
  }

  /** Records that a command sent at `at` was not answered in time. Reconnects after twice the timeout without any reply. */
  missed(at: number): void {
    // Sent on an earlier connection.
    if (at < this.reopenedAt) return;
    this.silentSince ??= at;
    if (performance.now() - this.silentSince < 2 * this.timeoutMs || this.client.isReady === false) return;
    this.silentSince = undefined;
    this.reopen(this.client);
  }

  /**
   * Replaces the connections of these clients after a refusal, if its code is one for which another server or another password
   * may be the cure. Returns whether it is.
   */
  refused(code: string, clients: readonly RedisClient[]): boolean {
    if (!REPLACED.test(code) || isSentinel(this.client)) return false;
    if (performance.now() - this.replacedAt < REPLACE_PAUSE_MS) return true;
    this.replacedAt = performance.now();
    for (const client of clients) {
      // The last time, the connection has not ended.
      if (this.isReplacing) this.reopen(client);
      // The server answers all earlier commands before it closes the connection. So none of the host is interrupted, and its
      // client connects again as after any other loss.
      else client.sendCommand(['QUIT']).catch(() => undefined);
    }
    this.isReplacing = true;
    return true;
  }

  /** Opens a client again that has closed itself instead of connecting again after {@link refused}, as its host wants. */
  resume(): void {
    const { client } = this;
    if (!this.isReplacing || isSentinel(client) || client.isOpen !== false || !this.mayConnect()) return;
    client.connect?.().catch(() => undefined);
  }

  /**
   * Whether the process may have been suspended since the last answer, so that the connection may be lost without a sign of
   * it, or its loss was noticed only now.
   */
  get isDoubtful(): boolean {
    if (!this.canProve) return false;
    return this.client.isReady === false ? this.isLostInSilence : machineTime() - this.answeredAt > SILENCE_MS;
  }

  /**
   * Waits until the connection answers: if it does not do so soon, for the next one. So the first request after a silence is
   * not refused, and no command is sent twice. Never rejects.
   *
   * @param ask sends a command without an effect
   */
  proved(ask: () => Promise<unknown>): Promise<void> {
    return (this.proving ??= RequestScope.detached(() => this.prove(ask)).finally(() => (this.proving = undefined)));
  }

  private async prove(ask: () => Promise<unknown>): Promise<void> {
    const isAnswered = (): Promise<boolean> =>
      ask().then(
        () => true,
        (error) => redisRefusal(error) !== undefined,
      );
    const within = <T>(ms: number, wait: Promise<T>) => Promise.race([wait, sleep(ms, false, { ref: false })]);
    const isAlive = this.client.isReady !== false && (await within(this.timeoutMs / 4, isAnswered()));
    // Another silence must pass before the next proof.
    this.answeredAt = machineTime();
    if (isAlive) return;
    if (this.client.isReady !== false) this.reopen(this.client);
    await within(this.timeoutMs, new Promise<void>((resume) => this.waiting.push(resume)).then(isAnswered));
    this.isLostInSilence = false;
  }

  /** Only a client with one connection reports that it is ready again. */
  private get canProve(): boolean {
    return !isSentinel(this.client) && !isPool(this.client) && this.mayConnect();
  }

  /** Pending commands are rejected. The `reconnectStrategy` of the host applies to the new connection. */
  private reopen(client: RedisSource): void {
    if (isSentinel(client)) return;
    [this.isReplacing, this.reopenedAt] = [true, performance.now()];
    void client
      .disconnect?.()
      .then(() => (this.mayConnect() ? client.connect?.() : undefined))
      .catch(() => undefined);
  }
}

/** Whether a reply to `INFO replication` is that of a replica. */
const isReplicaIn = (info: string): boolean => /^role:slave\b/m.test(info);

/**
 * Derives the name of a server from its replies to `INFO server` and `INFO replication`. The name consists of the
 * process (`run_id`) and the history of its data (`master_replid`): when a process takes over the data of another one,
 * `run_id` stays and `master_replid` changes. Null for a replica, because its data may be older than the last write.
 * Empty when the reply contains neither.
 */
export function serverNameIn(info: string): string | null {
  const field = (name: string): string => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? '';
  if (isReplicaIn(info)) return null;
  return [field('run_id'), field('master_replid')].filter(Boolean).join(':');
}

/** Milliseconds before the first repetition of a query, and the longest pause, as for a connection to a replica. */
const [RETRY_MS, MAX_RETRY_MS] = [100, 1000];

/** The errors of a server that forbids or does not support `INFO`. */
const REFUSED = /^(NOPERM|ERR)\b/;

/** Tracks the name of the server process behind the connection of a client. */
export class ServerName {
  /** Null while the name is not known. */
  name: string | null = null;
  /** Whether the server has reported on this connection that it is a replica: its data may be older than the last write. */
  isReplica = false;
  /** Identifies the current connection. */
  private connection: string = randomUUID();
  /** The connection on which a background query runs. */
  private learning?: string;

  constructor(
    readonly client: RedisClient,
    private readonly onReplica: () => void = () => undefined,
  ) {
    // Also on `error`: node-redis sends queued commands on a new connection before the event `ready`.
    client.on('error', () => this.changed());
    client.on('ready', () => this.changed());
    void this.learn();
  }

  /** Discards the name and queries it again in the background. */
  forget(): void {
    this.name = null;
    void this.learn();
  }

  /** Queries the name. */
  async ask(): Promise<void> {
    const { connection } = this;
    const name = serverNameIn(await this.info());
    // A reply from an earlier connection does not apply to this one.
    if (this.connection === connection) this.name = name === '' ? UNNAMED : name;
  }

  /** Reads the role again. A server that has become a replica loses its name. */
  async confirm(): Promise<void> {
    if (this.name !== null && this.name !== UNNAMED) await this.replication();
  }

  private changed(): void {
    this.connection = randomUUID();
    this.isReplica = false;
    this.forget();
  }

  /** Repeats the query until the name is known or the connection is lost. Never throws. */
  private async learn(): Promise<void> {
    const { connection } = this;
    if (this.learning === connection) return;
    this.learning = connection;
    for (let pause = RETRY_MS; ; pause = Math.min(2 * pause, MAX_RETRY_MS)) {
      if (this.connection !== connection || this.name !== null || this.client.isReady === false) break;
      await this.ask().catch(() => undefined);
      if (this.name === null) await sleep(pause, undefined, { ref: false });
    }
    if (this.learning === connection) this.learning = undefined;
  }

  private async info(): Promise<string> {
    try {
      // Two commands in one pipeline: Redis 6 does not support INFO with two sections.
      return (await Promise.all([this.client.sendCommand(['INFO', 'server']), this.replication()])).join('\n');
    } catch (error) {
      if (REFUSED.test((error as Error).message)) return '';
      throw error;
    }
  }

  /** The reply is read here before that of any later command, so that none of them counts as one of a master. */
  private replication(): Promise<unknown> {
    const { connection } = this;
    return this.client.sendCommand(['INFO', 'replication']).then((reply) => {
      if (this.connection !== connection) return reply;
      this.isReplica = isReplicaIn(String(reply));
      if (this.isReplica) {
        this.name = null;
        this.onReplica();
      }
      return reply;
    });
  }
}

/** Tracks the name of the server process behind a client, a pool or a sentinel object. */
export class ServerNames {
  private readonly names = new Map<RedisClient, ServerName>();

  /** @param onReplica is called whenever a server reports that it is a replica */
  constructor(private readonly onReplica: () => void) {}

  /**
   * The name that all connections have in common; null while the names differ or one is not known. A command on a
   * connection that breaks may be answered on the next one, so every connection is included until it is closed.
   */
  get common(): string | null {
    const [first, ...others] = this.open();
    return first && others.every(({ name }) => name === first.name) ? first.name : null;
  }

  /** Starts to track the server of a client. Call it before a command, so that the name is queried first. */
  watch(client: RedisClient): ServerName {
    const known = this.names.get(client);
    if (known) return known;
    for (const other of this.names.keys()) if (other.isOpen === false) this.names.delete(other);
    const server = new ServerName(client, this.onReplica);
    this.names.set(client, server);
    return server;
  }

  /** The clients that are open. */
  get clients(): RedisClient[] {
    return this.open().map(({ client }) => client);
  }

  /** Reads the role again on every connection. */
  async confirm(): Promise<void> {
    await Promise.all(this.open().map((server) => server.confirm()));
  }

  /** Queries the name again on every connection. */
  async ask(): Promise<void> {
    await Promise.all(this.open().map((server) => server.ask()));
  }

  /** Discards all names and queries them again in the background. */
  forget(): void {
    for (const server of this.open()) server.forget();
  }

  private open(): ServerName[] {
    return [...this.names.values()].filter(({ client }) => client.isOpen !== false);
  }
}
