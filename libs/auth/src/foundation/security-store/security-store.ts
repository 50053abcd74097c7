import { sha256 } from '../platform/crypto';

/** A counter of attempts and its limit. */
export interface Limit {
  readonly key: string;
  /** Counters with the same group, such as those of one account, are stored on one server of a sharded store. */
  readonly group?: string;
  /** Maximum number of attempts in a window. */
  readonly max: number;
  /** Length of the window in seconds. It begins with the first counted attempt. */
  readonly seconds: number;
  /** Seconds for which the first refused attempt closes the counter. Default: until the window ends. */
  readonly blockSeconds?: number;
}

/** The state of a counter after an attempt. */
export interface Bucket {
  /** Attempts that count until the window ends. */
  readonly counted: number;
  /** Attempts that are not settled yet. They count toward the maximum. */
  readonly pending: number;
  /** Seconds until the window ends; 0 for an empty counter. */
  readonly secondsLeft: number;
}

/** The result of an attempt to count. */
export interface Tally {
  /** Whether every counter was below its maximum. Otherwise no counter has counted the attempt. */
  readonly admitted: boolean;
  /** The counters in the order of their limits. */
  readonly buckets: readonly Bucket[];
}

/** Values, and the name of the server that answered; null if it is not known. */
export interface InstanceRead {
  readonly values: readonly (string | null)[];
  readonly instance: string | null;
  /** Whether the keys move to another server at present. Then no server certainly has all of them. */
  readonly isMoving?: boolean;
}

/** The end of a pending attempt: `failed` counts, `succeeded` empties the counter, `undone` has no effect. */
export type AttemptOutcome = 'failed' | 'succeeded' | 'undone';

/**
 * The name of a server that does not provide its name, for example because it refuses `INFO`. It does not change when
 * another server takes over. Therefore a service that only verifies tokens cannot rely on such a store.
 */
export const UNNAMED = '?';

/** The slot tag of a store that is not sharded. */
export const ONE_TAG = [''] as const;

/**
 * Stores shared, short-lived security state: denylist, counters, used codes, ceremonies.
 *
 * Every operation is atomic and throws `StoreUnavailable` when the store does not answer. An error is never an empty
 * result. Otherwise revoked tokens would be accepted during an outage.
 *
 * @publicApi
 */
export abstract class SecurityStore {
  /** False for a store in the memory of one process. The module does not start with it in production. */
  abstract readonly shared: boolean;

  /**
   * The name of the server process that holds the current data; null while it is not known. If the name is not null and
   * the same before and after a read, one process without a restart has answered the read. A process that takes over
   * the data of another process, for example as its replica, has another name.
   *
   * In a sharded store it consists of the names of all servers; {@link getWithInstance} returns that of one server.
   *
   * The name does not change when the store is emptied. A store without a server name returns the constant `''`. Such a
   * store may lose all its data, but never a part of it.
   */
  get instance(): string | null {
    return '';
  }

  /**
   * Reads the name of the server again, because a proxy may have replaced the server without a new connection.
   * {@link instance} is current when the promise resolves. Throws `StoreUnavailable` and sets the name to null when the
   * server does not answer in time.
   */
  identify(): Promise<void> {
    return Promise.resolve();
  }

  /**
   * Texts that place keys in a sharded store: keys that contain the same tag are on one server, and are lost together.
   * All tags have the same length. A store that is not sharded has one tag, which is empty.
   */
  get slotTags(): readonly string[] {
    return ONE_TAG;
  }

  /** The tag for the keys of one session or one user: always the same tag for an id. */
  slotTag(id: string): string {
    const { slotTags } = this;
    return slotTags[slotTags.length === 1 ? 0 : parseInt(sha256(id).slice(0, 8), 16) % slotTags.length]!;
  }

  /**
   * The eviction policy of the server; null when the server does not report it, as some managed services do. In production
   * the module starts with `noeviction` only, and logs a warning for null.
   */
  evictionPolicy(): Promise<string | null> {
    return Promise.resolve('noeviction');
  }

  /**
   * All keys that begin with `prefix`, in pages, some of which may be empty: the caller can work between two requests to
   * the store, however many other keys there are. A key that is written or expires during the scan may be missing. A key
   * may occur twice. The pages come from one server only if {@link instance} is not null and the same before and after.
   */
  abstract scan(prefix: string): AsyncIterable<string[]>;

  /**
   * The values of `keys` in the same order, in one round trip; null for a key without a value. Keys with the same slot tag
   * are read at one moment, or one after the other in their order.
   */
  abstract getMany(keys: readonly string[]): Promise<(string | null)[]>;

  /**
   * The values of `keys` like {@link getMany}, with the name of the one server that answered: {@link instance} of the
   * server of these keys, if it was the same before and after. Null while it is not known, and if several servers answered.
   */
  async getWithInstance(keys: readonly string[]): Promise<InstanceRead> {
    const before = this.instance;
    const values = await this.getMany(keys);
    return { values, instance: before === this.instance ? before : null };
  }

  /** Writes `value` under every key, in one round trip. Throws unless all values were written. */
  abstract setMany(keys: readonly string[], value: string, ttlSeconds: number): Promise<void>;

  /** Writes `value` if the key has no value. Returns whether it did. One atomic operation. */
  abstract add(key: string, value: string, ttlSeconds: number): Promise<boolean>;

  /** Removes `key` and returns its value; null for a key without a value. One atomic operation. */
  abstract take(key: string): Promise<string | null>;

  /** Sets the number of `key` to `to` if `to` is greater. Returns whether it did. One atomic operation. */
  abstract advance(key: string, to: number, ttlSeconds: number): Promise<boolean>;

  /**
   * Counts an attempt under every limit, or under no limit if one is exhausted. One atomic operation; in a sharded store
   * one for each server, in the order of the limits, up to the first refusal: the attempt is then taken back where it was
   * counted. No limit ever admits more than its maximum. If the process ends in between, the attempt may stay counted.
   *
   * @param pending the attempt counts toward the maximum until {@link settle} ends it, so that at most `max` attempts
   * run at the same time. An attempt that is never settled, for example because this call throws after the store has
   * counted, remains pending until the window ends. An attempt that is settled in a later window may reduce the pending
   * attempts of that window, because an attempt does not record its window
   */
  abstract count(limits: readonly Limit[], pending?: boolean): Promise<Tally>;

  /** The state of a counter. Counts nothing: no attempt is below a maximum of 0. One atomic operation. */
  async peek({ key, group, seconds }: Limit): Promise<Bucket> {
    return (await this.count([{ key, group, seconds, max: 0 }])).buckets[0]!;
  }

  /** Ends a pending attempt under every limit that counted it. One atomic operation for each server. */
  abstract settle(limits: readonly Limit[], attemptOutcome: AttemptOutcome): Promise<void>;
}
