import { Logger } from '@nestjs/common';
import { StoreUnavailable } from '../kernel/auth.exception';
import { answered } from '../kernel/unavailable';
import { policyIn } from './eviction.policy';
import { COUNT, SETTLE, countArguments, settleArguments } from './counter-scripts';
import { Liveness } from './liveness';
import { type RedisClient, type RedisSource, onMaster } from './redis-client';
import { mendReplyParser } from './reply-parser';
import { type Bucket, type Limit, type Outcome, SecurityStore, type Tally } from './security-store';
import { ServerNames } from './server-name';

/** KEYS a number; ARGV what it moves on to, and how long that is kept in ms. */
const ADVANCE = `
local current = redis.call('GET', KEYS[1])
if current and tonumber(current) >= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

/** Keeps the state in Redis, through the node-redis client of the host's cache. Everything is asked of the master. */
export class RedisSecurityStore extends SecurityStore {
  readonly shared = true;
  private readonly logger = new Logger(RedisSecurityStore.name);
  private readonly liveness: Liveness;
  private readonly servers = new ServerNames();

  /**
   * @param timeoutMs longest wait for an answer; node-redis itself waits for ever on a hung server
   * @param prefix put before every key
   */
  constructor(
    private readonly client: RedisSource,
    private readonly timeoutMs: number,
    private readonly prefix = '',
  ) {
    super();
    // `executeIsolated` is what node-redis 5 no longer has.
    if (!mendReplyParser() && 'executeIsolated' in client) {
      this.logger.warn('a connection that breaks in the middle of a reply confuses node-redis 4. Use node-redis 5.');
    }
    this.liveness = new Liveness(client, 2 * timeoutMs);
    // Without a listener node-redis ends the process when a connection drops. A sentinel object emits texts, too.
    client.on('error', (error: Error | string) => {
      this.logger.warn(`Redis: ${typeof error === 'string' ? error : error.message}`);
    });
  }

  override get instance(): string | null {
    return this.servers.common;
  }

  override async identify(): Promise<void> {
    try {
      await this.run(() => this.servers.ask());
    } catch (error) {
      // What does not answer may be another one by the time it does.
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
      if (keys.length > 0) yield keys.map((key) => key.slice(this.prefix.length));
      cursor = next;
    } while (cursor !== '0');
  }

  async getMany(keys: readonly string[]): Promise<(string | null)[]> {
    // Not `mGet`, which answers from memory where the host has a client-side cache.
    return (await this.send('MGET', ...keys.map((key) => this.prefix + key))) as (string | null)[];
  }

  async setMany(keys: readonly string[], value: string, ttlSeconds: number): Promise<void> {
    const set = (key: string): string[] => ['SET', this.prefix + key, value, 'PX', milliseconds(ttlSeconds)];
    // Issued in one tick, the writes leave as one pipeline: one round trip, and each one's error is seen.
    await this.run((client) => Promise.all(keys.map((key) => client.sendCommand(set(key)))));
  }

  async add(key: string, value: string, ttlSeconds: number): Promise<boolean> {
    return (await this.send('SET', this.prefix + key, value, 'PX', milliseconds(ttlSeconds), 'NX')) !== null;
  }

  async take(key: string): Promise<string | null> {
    return (await this.send('GETDEL', this.prefix + key)) as string | null;
  }

  async advance(key: string, to: number, ttlSeconds: number): Promise<boolean> {
    return (await this.send('EVAL', ADVANCE, '1', this.prefix + key, String(to), milliseconds(ttlSeconds))) === 1;
  }

  async count(limits: readonly Limit[], pending = false): Promise<Tally> {
    const answer = await this.script(COUNT, limits, countArguments(limits, pending));
    const [admitted, ...counters] = answer as number[];
    const bucket = (at: number): Bucket => {
      const [counted = 0, pendingNow = 0, left = 0] = counters.slice(at * 3);
      return { counted, pending: pendingNow, secondsLeft: left / 1000 };
    };
    return { admitted: admitted === 1, buckets: limits.map((_, at) => bucket(at)) };
  }

  async settle(limits: readonly Limit[], outcome: Outcome): Promise<void> {
    await this.script(SETTLE, limits, settleArguments(limits, outcome));
  }

  /** What it does when its memory is full; null where it does not tell, as managed services may not. */
  async evictionPolicy(): Promise<string | null> {
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

  private send(...words: string[]): Promise<unknown> {
    return this.run((client) => client.sendCommand(words));
  }

  /** Sends commands to the master, once. */
  private async run<T>(command: (client: RedisClient) => Promise<T>): Promise<T> {
    // An offline client would queue the command and run it when nobody waits for it any more.
    if (this.client.isReady === false) throw new StoreUnavailable('Redis');
    const sentAt = performance.now();
    let isOver = false;
    const once = async (client: RedisClient): Promise<T> => {
      // A sentinel object waits for a master, and then would send what nobody waits for, or what was sent before.
      if (isOver || client.isReady === false) throw new StoreUnavailable('Redis');
      isOver = true;
      this.servers.watch(client);
      return command(client);
    };
    try {
      const reply = onMaster(this.client, once);
      this.liveness.watch(reply);
      return await answered('Redis', this.timeoutMs, reply);
    } catch (error) {
      if (error instanceof StoreUnavailable && error.cause === undefined) this.liveness.missed(sentAt);
      throw error instanceof StoreUnavailable ? error : new StoreUnavailable('Redis', error);
    } finally {
      isOver = true;
    }
  }
}

const milliseconds = (seconds: number): string => String(Math.ceil(seconds * 1000));
