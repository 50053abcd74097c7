import { RequestScope, isInconclusive, outerTransaction } from './deadline';

interface Waiting<K, V> {
  key: K;
  resolve: (value: V) => void;
  reject: (error: unknown) => void;
}

/**
 * Batches look-ups that arrive in one turn of the event loop into one call of `load`, which returns the values in the
 * order of the keys. No look-up is delayed for a larger batch: an idle process makes single look-ups, a busy process
 * makes batches.
 *
 * When the database rejects a batch, each look-up is repeated alone, so that one invalid key does not fail the others.
 */
export function batchPerTick<V, K = string>(load: (keys: K[]) => Promise<V[]>): (key: K) => Promise<V> {
  let waiting: Waiting<K, V>[] = [];

  const answer = async (batch: Waiting<K, V>[]): Promise<void> => {
    try {
      const values = await load(batch.map(({ key }) => key));
      batch.forEach(({ resolve }, i) => resolve(values[i]!));
    } catch (error) {
      // When the database is unavailable, every look-up would repeat the failed statement.
      if (batch.length > 1 && !isInconclusive(error)) await Promise.all(batch.map((lookUp) => answer([lookUp])));
      else for (const { reject } of batch) reject(error);
    }
  };
  const flush = (): void => {
    const batch = waiting;
    waiting = [];
    void answer(batch);
  };
  return (key) => {
    // A look-up in a transaction of the host shares no statement with others: it alone sees what the transaction has written.
    if (outerTransaction()) return load([key]).then(([value]) => value!);
    return new Promise((resolve, reject) => {
      // `setImmediate` runs after the sockets of this turn were read: the batch contains every request of the turn.
      // Each look-up waits with the deadline of its request. The batch belongs to no request.
      if (waiting.push({ key, resolve, reject }) === 1) RequestScope.detached(() => setImmediate(flush));
    });
  };
}
