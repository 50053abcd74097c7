import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** One connection through the proxy. */
interface Pair {
  client: Socket;
  upstream: Socket;
  /** The peer is unreachable and the connection was not closed: all sent data is lost. */
  lost: boolean;
  /** Whether the next data of the client resets the connection. */
  forgotten: boolean;
}

/** Forwards connections between an application and a store and injects faults, one at a time. */
export class TcpProxy {
  private readonly pairs = new Set<Pair>();
  private readonly server: Server;
  private refusing = false;
  private delayMs = 0;
  private budget = Infinity;
  private blocked?: { until: Promise<void>; release: () => void };
  private answers = 0;
  private pending?: { at: number; fault: () => void };
  private awaited?: { text: string; fault: () => void };

  /** @param target the target port. It can be changed for later connections. */
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

  /** Ends the fault. Data that `hang` held back is delivered. Data that was `lost` stays lost. */
  heal(): void {
    this.refusing = false;
    this.delayMs = 0;
    this.budget = Infinity;
    this.blocked?.release();
    this.blocked = undefined;
    this.pending = undefined;
    this.awaited = undefined;
  }

  /** Starts `fault` instead of the next data of a client that contains this text. */
  instead(text: string, fault: () => void): void {
    this.awaited = { text, fault };
  }

  /** Starts `fault` instead of the response with this number. The count starts at 1 with this call. */
  at(answer: number, fault: () => void): void {
    this.answers = 0;
    this.pending = { at: answer, fault };
  }

  /** Whether the fault of {@link at} has not happened yet. */
  get isWaiting(): boolean {
    return this.pending !== undefined;
  }

  /** Resets every connection. New connections are accepted. */
  cut(): void {
    for (const { client, upstream } of this.pairs) {
      client.resetAndDestroy();
      upstream.resetAndDestroy();
    }
  }

  /** Simulates a stopped store: resets every existing and every new connection. */
  down(): void {
    this.refusing = true;
    this.cut();
  }

  /** Accepts all data and forwards nothing. */
  hang(): void {
    let release = (): void => undefined;
    const until = new Promise<void>((resolve) => (release = resolve));
    this.blocked ??= { until, release };
  }

  /** Delays every byte in both directions. */
  slow(ms: number): void {
    this.delayMs = ms;
  }

  /** Delivers this many bytes of the following responses, then resets every connection and ends the fault. */
  resetAfter(bytes: number): void {
    this.budget = bytes;
  }

  /** Makes the peer of every connection unreachable without closing it. New connections are accepted. */
  lose(): void {
    for (const pair of this.pairs) {
      pair.lost = true;
      pair.upstream.destroy();
    }
  }

  /** The peer of every connection forgets it, as after a long silence: the next data of the client resets it. */
  forget(): void {
    for (const pair of this.pairs) pair.forgotten = true;
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
    const pair: Pair = { client, upstream, lost: false, forgotten: false };
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

  /** Keeps the order of the data for any delay. */
  private pipe(pair: Pair, from: Socket, to: Socket): void {
    let last = Promise.resolve();
    from.on('data', (chunk: Buffer) => {
      if (pair.forgotten) return void pair.client.resetAndDestroy();
      if (to === pair.client) this.count();
      else this.inspect(chunk);
      const deadline = performance.now() + this.delayMs;
      last = this.deliver(last, deadline, () => !pair.lost && !to.destroyed && this.write(pair, to, chunk));
    });
  }

  private async deliver(before: Promise<void>, deadline: number, write: () => unknown): Promise<void> {
    await before;
    if (performance.now() < deadline) await sleep(deadline - performance.now());
    await this.blocked?.until;
    write();
  }

  private inspect(chunk: Buffer): void {
    if (!this.awaited || !chunk.includes(this.awaited.text)) return;
    const { fault } = this.awaited;
    this.awaited = undefined;
    fault();
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
    // The client must read the partial response before the reset.
    to.end();
    setTimeout(() => this.cut(), 5);
  }
}
