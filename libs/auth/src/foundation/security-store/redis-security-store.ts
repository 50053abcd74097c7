import { Logger } from '@nestjs/common';
import { withTimeout } from '../platform/deadline';
import { StoreUnavailable, redisRefusal } from '../platform/errors';
import { policyIn } from './store-proof';
import {
  Connection,
  type RedisClient,
  type RedisSource,
  isSentinel,
  onMaster,
  type ServerName,
  ServerNames,
} from './redis-client';
import { mendReplyParser } from './reply-parser';
import {
  type Bucket,
  type InstanceRead,
  type Limit,
  type AttemptOutcome,
  ONE_TAG,
  SecurityStore,
  type Tally,
} from './security-store';

// A counter is a hash: n counted, p pending, b blocked. It expires at the end of its window.
const READ = `
local function read(key)
  local c = redis.call('HMGET', key, 'n', 'p', 'b')
  return tonumber(c[1] or 0), tonumber(c[2] or 0), c[3]
end
local function add(key, field, window)
  redis.call('HINCRBY', key, field, 1)
  if redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, window) end
end`;

/**
 * KEYS counters; ARGV field, then per counter: max, window and block in ms. Returns admitted, then n, p, ms left each.
 */
export const COUNT = `${READ}
local admitted = 1
for i, key in ipairs(KEYS) do
  local n, p, blocked = read(key)
  if n + p >= tonumber(ARGV[3 * i - 1]) then
    admitted = 0
    local block = tonumber(ARGV[3 * i + 1])
    if block > 0 and n + p > 0 and not blocked then
      redis.call('HSET', key, 'b', 1)
      redis.call('PEXPIRE', key, block)
    end
  end
end
local answer = { admitted }
for i, key in ipairs(KEYS) do
  if admitted == 1 then add(key, ARGV[1], ARGV[3 * i]) end
  local n, p = read(key)
  table.insert(answer, n)
  table.insert(answer, p)
  table.insert(answer, math.max(redis.call('PTTL', key), 0))
end
return answer`;

/** KEYS counters; ARGV outcome, then the window of each in ms. */
export const SETTLE = `${READ}
for i, key in ipairs(KEYS) do
  if ARGV[1] == 'failed' then add(key, 'n', ARGV[i + 1]) end
  local n, p = read(key)
  if p > 0 then p = redis.call('HINCRBY', key, 'p', -1) end
  if ARGV[1] == 'succeeded' and n > 0 then n = 0; redis.call('HSET', key, 'n', 0) end
  if n + p == 0 then redis.call('DEL', key) end
end`;

/**
 * KEYS counter; ARGV field, and the remaining time of its window in ms when the attempt was counted. Takes the attempt back
 * unless that window has ended: in a later window more time remains. Returns n, p, ms left.
 */
export const UNCOUNT = `${READ}
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and left <= tonumber(ARGV[2]) then
  local n, p = read(KEYS[1])
  if (ARGV[1] == 'n' and n or p) > 0 then
    if n + p == 1 then redis.call('DEL', KEYS[1]) else redis.call('HINCRBY', KEYS[1], ARGV[1], -1) end
  end
end
local n, p = read(KEYS[1])
return { n, p, math.max(redis.call('PTTL', KEYS[1]), 0) }`;

const ms = (seconds: number): string => String(Math.ceil(seconds * 1000));

export const countArguments = (limits: readonly Limit[], pending: boolean): string[] => [
  pending ? 'p' : 'n',
  ...limits.flatMap(({ max, seconds, blockSeconds = 0 }) => [String(max), ms(seconds), ms(blockSeconds)]),
];

export const settleArguments = (limits: readonly Limit[], outcome: string): string[] => [
  outcome,
  ...limits.map(({ seconds }) => ms(seconds)),
];

/** KEYS the number; ARGV the new value, and its time to live in ms. */
const ADVANCE = `
local current = redis.call('GET', KEYS[1])
if current and tonumber(current) >= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

const MINUTE_MS = 60_000;

/** A sentinel object also reports the attempts to reach a sentinel that is away while its master answers. */
const QUIET_MS = 5000;

/**
 * Logs the failures of a connection: the first one, the first one with each code, then one line a minute with their number,
 * and one line when Redis answers again. While Redis is away, node-redis reports a failure for each attempt to connect, twice a
 * second.
 */
class OutageLog {
  private failures = 0;
  private unlogged = 0;
  private loggedAt = 0;
  private failedAt = 0;
  private isRefused = false;
  private readonly codes = new Set<string>();
  /** The last refusal of the server because of which there is no usable connection. */
  cause?: Error;

  constructor(private readonly logger: Logger) {}

  /** The server refuses commands, and its connection is replaced. The next connection may lead to the same server. */
  refused(code: string): void {
    this.isRefused = true;
    this.failed(new Error(`${code} (the connection is replaced)`));
  }

  failed(error: Error | string): void {
    const text = typeof error === 'string' ? error : error.message;
    const code = redisRefusal(error);
    if (code !== undefined) this.cause = error as Error;
    else if (!this.isRefused) this.cause = undefined;
    this.failedAt = performance.now();
    this.failures++;
    const isKnown = this.failures > 1 && (code === undefined || this.codes.has(code));
    if (code !== undefined) this.codes.add(code);
    if (isKnown && this.failedAt - this.loggedAt < MINUTE_MS) return void this.unlogged++;
    const more = this.unlogged ? ` (${this.unlogged} more failures since the last line)` : '';
    this.logger.warn(`Redis: ${text}${more}`);
    [this.loggedAt, this.unlogged] = [this.failedAt, 0];
  }

  /** A command was answered. A sentinel object and a pool report no new connection. */
  replied(): void {
    if (this.failures > 0 && performance.now() - this.failedAt >= QUIET_MS) this.recovered();
  }

  connected(): void {
    if (!this.isRefused) this.recovered();
  }

  private recovered(): void {
    [this.isRefused, this.cause] = [false, undefined];
    this.codes.clear();
    if (this.failures > 0) this.logger.log(`Redis answers again. Failures since it was lost: ${this.failures}.`);
    [this.failures, this.unlogged] = [0, 0];
  }
}

/** A reply of a server that has reported to be a replica. Its own error has the same code. */
const IS_REPLICA = new Error('READONLY The server is a replica (role:slave)');

/** How the client of a store is connected. */
interface Connecting {
  /** Whether the store may connect the client again, after it has replaced a connection. */
  readonly mayConnect?: () => boolean;
  /** Waits for the first connection of a client that is connected later than the store is created. */
  readonly opened?: () => Promise<void>;
  /** Whether the server may stay a replica, because the keys are on another one then. */
  readonly mayBeReplica?: boolean;
}

/** Stores the state in Redis with the node-redis client of the host. All commands go to the master. */
export class RedisSecurityStore extends SecurityStore {
  readonly shared = true;
  private readonly logger = new Logger(RedisSecurityStore.name);
  private readonly connection: Connection;
  private readonly servers: ServerNames;
  private readonly outage = new OutageLog(this.logger);

  /**
   * @param timeoutMs longest wait for a reply in milliseconds. node-redis has no timeout for a server that hangs
   * @param prefix prefix of every key
   * @param connecting how its client is connected
   */
  constructor(
    private readonly client: RedisSource,
    private readonly timeoutMs: number,
    private readonly prefix = '',
    private readonly connecting: Connecting = {},
  ) {
    super();
    const { mayConnect = () => true, mayBeReplica = false } = connecting;
    // Later versions do not have `executeIsolated`.
    if (!mendReplyParser() && 'executeIsolated' in client) {
      this.logger.warn(
        'node-redis 4 may mix up replies after a connection breaks in the middle of a reply. Use node-redis 5.',
      );
    }
    this.connection = new Connection(client, timeoutMs, mayConnect);
    this.servers = new ServerNames(() => !mayBeReplica && this.refused(IS_REPLICA));
    // Without a listener, a lost connection ends the process. A sentinel object also emits strings.
    client.on('error', (error: Error | string) => {
      this.connection.failed();
      // The error of the first connection refuses the start, and has the same text.
      if (mayConnect()) this.outage.failed(error);
    });
    // Another master may have answered since, on a connection that stays open.
    if (isSentinel(client)) client.on('topology-change', () => this.servers.forget());
    else {
      client.on('ready', () => {
        this.connection.ready();
        this.outage.connected();
      });
    }
  }

  override get instance(): string | null {
    return this.servers.common;
  }

  /** One server stores every key. */
  override get slotTags(): readonly string[] {
    return ONE_TAG;
  }

  override slotTag(): string {
    return '';
  }

  override async identify(): Promise<void> {
    try {
      await this.run(() => this.servers.ask(), true);
    } catch (error) {
      // Another server may have taken over by the time of the next reply.
      this.servers.forget();
      throw error;
    }
  }

  async *scan(prefix: string): AsyncGenerator<string[]> {
    const pattern = `${(this.prefix + prefix).replace(/[\\*?[\]]/g, '\\$&')}*`;
    let cursor = '0';
    do {
      const page = await this.send('SCAN', cursor, 'MATCH', pattern, 'COUNT', '1000');
      const [next, keys] = page as [string, string[]];
      yield keys.map((key) => key.slice(this.prefix.length));
      cursor = next;
    } while (cursor !== '0');
  }

  getMany(keys: readonly string[]): Promise<(string | null)[]> {
    // Not `mGet`: it reads from memory when the host has enabled the client-side cache.
    return this.send('MGET', ...keys.map((key) => this.prefix + key)) as Promise<(string | null)[]>;
  }

  /** The role is read in the same round trip, after the keys: a former master that became a replica keeps the connection. */
  override async getWithInstance(keys: readonly string[]): Promise<InstanceRead> {
    // Another connection, on which the server must give its name first.
    if (this.connection.isDoubtful) await this.identify();
    const [read] = await Promise.all([super.getWithInstance(keys), this.run(() => this.servers.confirm())]);
    return this.instance === read.instance ? read : { ...read, instance: null };
  }

  async setMany(keys: readonly string[], value: string, ttlSeconds: number): Promise<void> {
    const set = (key: string): string[] => ['SET', this.prefix + key, value, 'PX', ms(ttlSeconds)];
    // Commands of one tick form one pipeline: one round trip, with a separate error for each command.
    await this.run((client) => Promise.all(keys.map((key) => client.sendCommand(set(key)))));
  }

  async add(key: string, value: string, ttlSeconds: number): Promise<boolean> {
    return (await this.send('SET', this.prefix + key, value, 'PX', ms(ttlSeconds), 'NX')) !== null;
  }

  async take(key: string): Promise<string | null> {
    return (await this.send('GETDEL', this.prefix + key)) as string | null;
  }

  async advance(key: string, to: number, ttlSeconds: number): Promise<boolean> {
    return (await this.send('EVAL', ADVANCE, '1', this.prefix + key, String(to), ms(ttlSeconds))) === 1;
  }

  async count(limits: readonly Limit[], pending = false): Promise<Tally> {
    const answer = await this.script(COUNT, limits, countArguments(limits, pending));
    const [admitted, ...counters] = answer as number[];
    return { admitted: admitted === 1, buckets: limits.map((_, at) => bucketIn(counters.slice(at * 3))) };
  }

  /** Takes back an attempt that {@link count} counted and returned with this bucket. Returns the counter without it. */
  async uncount({ key }: Limit, pending: boolean, { secondsLeft }: Bucket): Promise<Bucket> {
    const field = pending ? 'p' : 'n';
    return bucketIn((await this.send('EVAL', UNCOUNT, '1', this.prefix + key, field, ms(secondsLeft))) as number[]);
  }

  async settle(limits: readonly Limit[], attemptOutcome: AttemptOutcome): Promise<void> {
    await this.script(SETTLE, limits, settleArguments(limits, attemptOutcome));
  }

  override async evictionPolicy(): Promise<string | null> {
    for (const command of [
      ['CONFIG', 'GET', 'maxmemory-policy'],
      ['INFO', 'memory'],
    ]) {
      const policy = policyIn(await this.send(...command).catch(() => null));
      if (policy !== null) return policy;
    }
    return null;
  }

  private script(text: string, limits: readonly Limit[], args: string[]): Promise<unknown> {
    return this.send('EVAL', text, String(limits.length), ...limits.map(({ key }) => this.prefix + key), ...args);
  }

  protected send(...words: string[]): Promise<unknown> {
    return this.run((client) => client.sendCommand(words));
  }

  /**
   * Runs `command` once, on the master.
   *
   * @param isQuery whether the command asks the server for its role: a replica answers it, too
   */
  private async run<T>(command: (client: RedisClient) => Promise<T>, isQuery = false): Promise<T> {
    const { connection } = this;
    const isDoubtful = connection.isDoubtful;
    if (this.client.isReady === false && !isDoubtful) {
      connection.resume();
      await this.connecting.opened?.().catch(() => undefined);
      // An offline client would queue the command and run it after the timeout.
      if (this.client.isReady === false) throw new StoreUnavailable('Redis', this.outage.cause);
    }
    const sentAt = performance.now();
    let isOver = false;
    let server: ServerName | undefined;
    const once = async (client: RedisClient): Promise<T> => {
      // A sentinel object waits for a master. It could run the command after the timeout, or a second time.
      if (isOver || client.isReady === false) throw new StoreUnavailable('Redis');
      isOver = true;
      server = this.servers.watch(client);
      return command(client);
    };
    try {
      const reply = isDoubtful
        ? connection.proved(() => this.servers.ask()).then(() => onMaster(this.client, once))
        : onMaster(this.client, once);
      connection.watch(reply);
      const answer = await withTimeout('Redis', this.timeoutMs, reply);
      if (server?.isReplica && !isQuery) throw IS_REPLICA;
      this.outage.replied();
      return answer;
    } catch (error) {
      if (error instanceof StoreUnavailable && error.cause === undefined) connection.missed(sentAt);
      this.refused(error);
      throw error instanceof StoreUnavailable ? error : new StoreUnavailable('Redis', error);
    } finally {
      isOver = true;
    }
  }

  private refused(error: unknown): void {
    const code = redisRefusal(error);
    if (code !== undefined && this.connection.refused(code, this.servers.clients)) this.outage.refused(code);
  }
}

const bucketIn = ([counted = 0, pending = 0, left = 0]: readonly number[]): Bucket => ({
  counted,
  pending,
  secondsLeft: left / 1000,
});
