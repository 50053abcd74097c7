import { type RedisSource, isSentinel } from './redis-client';

/**
 * Replaces a connection on which nothing is answered any more. Its peer may have gone without a word, which TCP
 * notices after a quarter of an hour; until then the client would send into the void, and nobody be let in.
 *
 * A sentinel object is left alone. It replaces its connections when the sentinels name another master; one whose
 * connection is closed meanwhile waits for the old master, and does not look for the new one.
 */
export class Liveness {
  private silentSince?: number;

  /** @param patienceMs how long nothing at all may be answered */
  constructor(
    private readonly client: RedisSource,
    private readonly patienceMs: number,
  ) {}

  /** Waits for a reply, to know that there was one, also when nobody waits for it any more. */
  watch(reply: Promise<unknown>): void {
    const heard = (): void => void (this.silentSince = undefined);
    reply.then(heard, heard);
  }

  /** A command that was sent at `at` has not been answered in its time. */
  missed(at: number): void {
    this.silentSince ??= at;
    if (performance.now() - this.silentSince < this.patienceMs || this.client.isReady === false) return;
    this.silentSince = undefined;
    const { client } = this;
    if (isSentinel(client)) return;
    // What waits on it is refused; the host's `reconnectStrategy` decides how the new one is made.
    void client
      .disconnect?.()
      .then(() => client.connect?.())
      .catch(() => undefined);
  }
}
