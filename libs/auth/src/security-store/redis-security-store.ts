import { Logger } from '@nestjs/common';
import { StoreUnavailable } from '../kernel/auth.exception';
import { answered } from '../kernel/unavailable';
import { policyIn } from './eviction.policy';
import { COUNT, SETTLE, countArguments, settleArguments } from './counter-scripts';
import { Liveness } from './liveness';
import type { RedisClient } from './redis-client';
import { mendReplyParser } from './reply-parser';
import { type Bucket, type Limit, type Outcome, SecurityStore, type Tally } from './security-store';

/** KEYS a number; ARGV what it moves on to, and how long that is kept in ms. */
const ADVANCE = `
local current = redis.call('GET', KEYS[1])
if current and tonumber(current) >= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

/** Keeps the state in Redis, through the node-redis client of the host's cache. */
export class RedisSecurityStore extends SecurityStore {
  readonly shared = true;
  override connection = 0;
  private readonly logger = new Logger(RedisSecurityStore.name);
  private readonly liveness: Liveness;

  /**
   * @param timeoutMs longest wait for an answer; node-redis itself waits for ever on a hung server
   * @param prefix put before every key
   */
  constructor(
    private readonly client: RedisClient,
    private readonly timeoutMs: number,
    private readonly prefix = '',
  ) {
    super();
    // `executeIsolated` is what node-redis 5 no longer has.
    if (!mendReplyParser() && 'executeIsolated' in client) {
      this.logger.warn('a connection that breaks in the middle of a reply confuses node-redis 4. Use node-redis 5.');
    }
    this.liveness = new Liveness(client, 2 * timeoutMs);
    // Without a listener node-redis ends the process when a connection drops.
    client.on('error', (error) => this.logger.warn(`Redis: ${error.message}`));
    client.on('ready', () => void this.connection++);
  }

  getMany(keys: readonly string[]): Promise<(string | null)[]> {
    return this.run(() => this.client.mGet(keys.map((key) => this.prefix + key)));
  }

  async setMany(keys: readonly string[], value: string, ttlSeconds: number): Promise<void> {
    const options = { PX: Math.ceil(ttlSeconds * 1000) };
    // Issued in one tick, the writes leave as one pipeline: one round trip, and each one's error is seen.
    await this.run(() => Promise.all(keys.map((key) => this.client.set(this.prefix + key, value, options))));
  }

  async add(key: string, value: string, ttlSeconds: number): Promise<boolean> {
    const options = { PX: Math.ceil(ttlSeconds * 1000), NX: true } as const;
    return (await this.run(() => this.client.set(this.prefix + key, value, options))) !== null;
  }

  take(key: string): Promise<string | null> {
    return this.run(() => this.client.getDel(this.prefix + key));
  }

  async advance(key: string, to: number, ttlSeconds: number): Promise<boolean> {
    const args = { keys: [this.prefix + key], arguments: [String(to), String(Math.ceil(ttlSeconds * 1000))] };
    return (await this.run(() => this.client.eval(ADVANCE, args))) === 1;
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
      const policy = policyIn(await this.run(() => this.client.sendCommand(command)).catch(() => null));
      if (policy !== null) return policy;
    }
    return null;
  }

  private script(text: string, limits: readonly Limit[], args: string[]): Promise<unknown> {
    return this.run(() =>
      this.client.eval(text, { keys: limits.map(({ key }) => this.prefix + key), arguments: args }),
    );
  }

  private async run<T>(command: () => Promise<T>): Promise<T> {
    // An offline client would queue the command and run it when nobody waits for it any more.
    if (this.client.isReady === false) throw new StoreUnavailable('Redis');
    const sentAt = performance.now();
    try {
      const reply = command();
      this.liveness.watch(reply);
      return await answered('Redis', this.timeoutMs, reply);
    } catch (error) {
      if (error instanceof StoreUnavailable && error.cause === undefined) this.liveness.missed(sentAt);
      throw error instanceof StoreUnavailable ? error : new StoreUnavailable('Redis', error);
    }
  }
}
