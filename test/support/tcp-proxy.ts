import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** One connection through the proxy. */
interface Pair {
  client: Socket;
  upstream: Socket;
  /** The peer is gone and nobody said so: whatever is sent disappears. */
  lost: boolean;
}

/** Stands between an application and a store, and breaks what is between them. One fault at a time. */
export class TcpProxy {
  private readonly pairs = new Set<Pair>();
  private readonly server: Server;
  private refusing = false;
  private delayMs = 0;
  private budget = Infinity;
  private held?: { until: Promise<void>; release: () => void };
  private answers = 0;
  private pending?: { at: number; fault: () => void };

  /** @param target the port it leads to; may be moved, for connections to come */
  private constructor(public target: number) {
    this.server = createServer((client) => this.accept(client));
  }

  static async to(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await new Promise<void>((ready) => proxy.server.listen(0, '127.0.0.1', ready));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** `url` with the proxy's address in the place of its own. */
  through(url: string): string {
    return Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(this.port) }).toString();
  }

  /** Ends the fault. What `hang` held back goes on its way; what was `lost` stays so. */
  heal(): void {
    this.refusing = false;
    this.delayMs = 0;
    this.budget = Infinity;
    this.held?.release();
    this.held = undefined;
    this.pending = undefined;
  }

  /** Starts `fault` in the place of the answer with this number, counted from 1 and from now on. */
  at(answer: number, fault: () => void): void {
    this.answers = 0;
    this.pending = { at: answer, fault };
  }

  /** Whether the fault of {@link at} is still to come. */
  get isWaiting(): boolean {
    return this.pending !== undefined;
  }

  /** Resets every connection. New ones are made. */
  cut(): void {
    for (const { client, upstream } of this.pairs) {
      client.resetAndDestroy();
      upstream.resetAndDestroy();
    }
  }

  /** The store is down: resets every connection, and whoever connects. */
  down(): void {
    this.refusing = true;
    this.cut();
  }

  /** Takes everything and passes nothing on. */
  hang(): void {
    let release = (): void => undefined;
    const until = new Promise<void>((resolve) => (release = resolve));
    this.held ??= { until, release };
  }

  /** Every byte is late by so much, in either direction. */
  slow(ms: number): void {
    this.delayMs = ms;
  }

  /** Of all answers together so many bytes arrive; then every connection is reset, and the fault is over. */
  resetAfter(bytes: number): void {
    this.budget = bytes;
  }

  /** The peer of every connection is gone, and no packet tells. New connections are made. */
  lose(): void {
    for (const pair of this.pairs) {
      pair.lost = true;
      pair.upstream.destroy();
    }
  }

  async close(): Promise<void> {
    this.heal();
    for (const { client, upstream } of this.pairs) {
      client.destroy();
      upstream.destroy();
    }
    await new Promise((closed) => this.server.close(closed));
  }

  private accept(client: Socket): void {
    client.on('error', () => undefined);
    if (this.refusing) return void client.resetAndDestroy();
    const upstream = connect(this.target, '127.0.0.1');
    const pair: Pair = { client, upstream, lost: false };
    this.pairs.add(pair);
    upstream.on('error', () => client.resetAndDestroy());
    upstream.on('close', () => !pair.lost && client.destroy());
    client.on('close', () => {
      upstream.destroy();
      this.pairs.delete(pair);
    });
    this.pipe(pair, client, upstream);
    this.pipe(pair, upstream, client);
  }

  /** In order, whatever the delay. */
  private pipe(pair: Pair, from: Socket, to: Socket): void {
    let last = Promise.resolve();
    from.on('data', (chunk: Buffer) => {
      if (to === pair.client) this.count();
      const due = performance.now() + this.delayMs;
      last = this.deliver(last, due, () => !pair.lost && !to.destroyed && this.write(pair, to, chunk));
    });
  }

  private async deliver(before: Promise<void>, due: number, write: () => unknown): Promise<void> {
    await before;
    if (performance.now() < due) await sleep(due - performance.now());
    await this.held?.until;
    write();
  }

  private count(): void {
    if (!this.pending || ++this.answers < this.pending.at) return;
    const { fault } = this.pending;
    this.pending = undefined;
    fault();
  }

  private write({ client }: Pair, to: Socket, chunk: Buffer): void {
    if (to !== client || this.budget === Infinity) return void to.write(chunk);
    const part = chunk.subarray(0, this.budget);
    this.budget -= part.length;
    to.write(part);
    if (this.budget > 0) return;
    this.budget = Infinity;
    // The client is to read the part before it learns that there is no more.
    to.end();
    setTimeout(() => this.cut(), 5);
  }
}
