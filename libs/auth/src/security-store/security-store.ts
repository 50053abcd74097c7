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

  /** The values of `keys` in their order, in one round trip; null where there is none. */
  abstract getMany(keys: readonly string[]): Promise<(string | null)[]>;

  /** Writes `value` under every key, in one round trip. Throws unless all were written. */
  abstract setMany(keys: readonly string[], value: string, ttlSeconds: number): Promise<void>;
}
