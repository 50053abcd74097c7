/** One counter of attempts and its bound. */
export interface Limit {
  readonly key: string;
  /** Attempts the window allows. */
  readonly max: number;
  /** Length of the window in seconds, from the first attempt counted in it. */
  readonly seconds: number;
  /** Seconds for which the first refused attempt closes the counter; left out, it opens with the next window. */
  readonly blockSeconds?: number;
}

/** A counter after an attempt. */
export interface Bucket {
  /** Attempts that count until the window is over. */
  readonly counted: number;
  /** Attempts that take up room until they are settled. */
  readonly pending: number;
  /** Seconds until the window is over; 0 where nothing is counted. */
  readonly secondsLeft: number;
}

/** What became of an attempt that was to be counted. */
export interface Tally {
  /** Whether every counter had room. Otherwise none has counted the attempt. */
  readonly admitted: boolean;
  /** The counters in the order of their limits. */
  readonly buckets: readonly Bucket[];
}

/** How a pending attempt ended: it counts, it empties the counter, or it never was. */
export type AttemptOutcome = 'failed' | 'succeeded' | 'undone';

/**
 * The name of a server that does not say its name, such as one that refuses `INFO`. It does not change where another
 * server takes over, so a service that only verifies cannot rely on such a store.
 */
export const UNNAMED = '?';

/**
 * Shared, short-lived security state: denylist, counters, spent codes, ceremonies.
 *
 * Every operation is atomic and throws `StoreUnavailable` when the store cannot answer: an error is
 * never an empty answer, or revoked tokens would come back to life in an outage.
 *
 * @publicApi
 */
export abstract class SecurityStore {
  /** False for a store that one process keeps to itself; production refuses it. */
  abstract readonly shared: boolean;

  /**
   * Names the server process whose data answers now; null while that is not known. Answers that were read while it
   * was the same, and not null, come from one process that ran all the time. A process that takes over the data of
   * another one, as a replica of it, gets another name.
   *
   * The name does not change when the store is emptied. A store that cannot tell has the constant name `''`; it must
   * never lose a part of its data, only nothing or all.
   */
  get instance(): string | null {
    return '';
  }

  /**
   * Asks the server for its name again, since a proxy may have replaced the server unseen. {@link instance} is
   * current when this resolves. Throws `StoreUnavailable`, and leaves the name null, when there is no answer in time.
   */
  identify(): Promise<void> {
    return Promise.resolve();
  }

  /**
   * All keys that begin with `prefix`, in pages. A key that is written or expires meanwhile may be missing, and a key
   * may come twice. The pages are of one server only if {@link instance} is the same before and after, and not null.
   */
  abstract scan(prefix: string): AsyncIterable<string[]>;

  /** The values of `keys` in their order, in one round trip; null where there is none. */
  abstract getMany(keys: readonly string[]): Promise<(string | null)[]>;

  /** Writes `value` under every key, in one round trip. Throws unless all were written. */
  abstract setMany(keys: readonly string[], value: string, ttlSeconds: number): Promise<void>;

  /** Writes `value` unless something is there already, and says whether it did. One atomic operation. */
  abstract add(key: string, value: string, ttlSeconds: number): Promise<boolean>;

  /** The value of `key`, which is gone from then on; null where there is none. One atomic operation. */
  abstract take(key: string): Promise<string | null>;

  /** Moves the number under `key` forward, and says whether it did: false unless `to` is greater. One atomic operation. */
  abstract advance(key: string, to: number, ttlSeconds: number): Promise<boolean>;

  /**
   * Counts an attempt under every limit, or under none where one is exhausted. One atomic operation.
   *
   * @param pending the attempt takes up room until {@link settle} says how it ended, so that however many
   * run at once no more than `max` do; one that is never settled, as when this throws although the store has
   * counted, lasts until its window is over. One that is settled in a later window leaves that one's room alone
   * or frees it: it does not know its window
   */
  abstract count(limits: readonly Limit[], pending?: boolean): Promise<Tally>;

  /** Ends a pending attempt under every limit it was counted under. One atomic operation. */
  abstract settle(limits: readonly Limit[], attemptOutcome: AttemptOutcome): Promise<void>;
}
