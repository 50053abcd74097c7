import { eventually } from '../../../../../test/support/eventually';
import type { SecurityStore } from './security-store';

/** What the store calls its server, once it knows. */
export async function nameOf(store: SecurityStore): Promise<string> {
  await eventually(async () => {
    await store.identify().catch(() => undefined);
    return store.instance !== null;
  });
  return store.instance!;
}

/** Reads keys that are all there, over and over, from the server that it found. */
export class Reader {
  /** Answers without one of the keys. */
  misses = 0;
  /** Times at which the server was not known. */
  unknown = 0;
  /** Answers without one of the keys that pass for answers of the server that has them. */
  readonly wrong: unknown[] = [];
  private isStopped = false;
  private readonly done: Promise<unknown>;

  private constructor(
    private readonly store: SecurityStore,
    private readonly keys: readonly string[],
    private readonly server: string | null,
  ) {
    // Several at once, for an answer to arrive at any time, and in the order of the connection.
    this.done = Promise.all([this.read(), this.read(), this.read()]);
  }

  static of(store: SecurityStore, keys: readonly string[]): Reader {
    return new Reader(store, keys, store.instance);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.done;
  }

  private async read(): Promise<void> {
    while (!this.isStopped) {
      const before = this.store.instance;
      if (before === null) this.unknown++;
      const values = await this.store.getMany([...this.keys, 'absent']).catch(() => null);
      const after = this.store.instance;
      if (values?.slice(0, -1).some((value) => value === null)) {
        this.misses++;
        if (before === this.server && after === this.server) this.wrong.push({ before, values, after });
      }
      // A refused read resolves in the same turn of the event loop.
      await new Promise(setImmediate);
    }
  }
}
