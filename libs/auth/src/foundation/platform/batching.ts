import { RequestScope, isInconclusive } from './deadline';

interface Waiting<K, V> {
  key: K;
  resolve: (value: V) => void;
  reject: (error: unknown) => void;
}

/**
 * Joins look-ups that arrive in one turn of the event loop into one call of `load`, which answers them in
 * their order. Nobody waits for company: an idle process looks up at once, a busy one looks up together.
 *
 * When a joined call is refused, each look-up is tried alone, so that one bad key fails no other.
 *
 * @param inTurn whether a call waits for the one before it, and takes along whoever arrives meanwhile: a rush
 * costs the database one statement at a time
 */
export function batchPerTick<V, K = string>(load: (keys: K[]) => Promise<V[]>, inTurn = false): (key: K) => Promise<V> {
  let waiting: Waiting<K, V>[] = [];
  let busy = false;

  const answer = async (batch: Waiting<K, V>[]): Promise<void> => {
    try {
      const values = await load(batch.map(({ key }) => key));
      batch.forEach(({ resolve }, i) => resolve(values[i]!));
    } catch (error) {
      // A database that is down would be asked once more by everyone.
      if (batch.length > 1 && !isInconclusive(error)) await Promise.all(batch.map((one) => answer([one])));
      else for (const { reject } of batch) reject(error);
    }
  };
  const flush = async (): Promise<void> => {
    if (busy || !waiting.length) return;
    const batch = waiting;
    waiting = [];
    busy = inTurn;
    await answer(batch);
    if (!inTurn) return;
    busy = false;
    void flush();
  };
  return (key) =>
    new Promise((resolve, reject) => {
      // Runs after the sockets of this turn were read: every request that came with it is in.
      // Each waits with a patience of its own; the call is nobody's.
      if (waiting.push({ key, resolve, reject }) === 1) RequestScope.detached(() => setImmediate(() => void flush()));
    });
}
