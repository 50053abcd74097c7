import { eventually } from '../../../../../test/support/runtime/eventually';
import type { SecurityStore } from './security-store';

/** Waits until the store has a name for its server, and returns it. */
export async function nameOf(store: SecurityStore): Promise<string> {
  await eventually(async () => {
    await store.identify().catch(() => undefined);
    return store.instance !== null;
  });
  return store.instance!;
}

/** Reads existing keys repeatedly until it is stopped, and records wrong answers. */
export class Reader {
  /** Number of answers in which a key was missing. */
  misses = 0;
  /** Number of reads without an answer, or without the name of the server. */
  unknown = 0;
  /** Answers in which a key was missing although the name is that of the server with the keys. */
  readonly wrong: unknown[] = [];
  private isStopped = false;
  private readonly done: Promise<unknown>;

  private constructor(
    private readonly store: SecurityStore,
    private readonly keys: readonly string[],
    private readonly server: string | null,
  ) {
    // Several concurrent reads, so that answers arrive at any time.
    this.done = Promise.all([this.read(), this.read(), this.read()]);
  }

  static async of(store: SecurityStore, keys: readonly string[]): Promise<Reader> {
    const { instance } = await store.getWithInstance(keys);
    return new Reader(store, keys, instance);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.done;
  }

  private async read(): Promise<void> {
    while (!this.isStopped) {
      const read = await this.store.getWithInstance(this.keys).catch(() => null);
      if (!read?.instance) this.unknown++;
      if (read?.values.includes(null)) {
        this.misses++;
        if (read.instance === this.server) this.wrong.push(read);
      }
      // A refused read resolves in the same turn of the event loop.
      await new Promise(setImmediate);
    }
  }
}
