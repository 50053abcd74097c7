import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../apps/sample/src/dev/embedded-postgres';
import { redisCache } from '../../apps/sample/src/redis-cache';

export type RedisClient = Awaited<ReturnType<typeof redisCache>>['client'];

/** Whether this machine has a Redis server to start. */
export const redisBinary = ['redis-server', 'valkey-server'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);

/** A Redis of the test's own, to be stopped, frozen and started again. */
export class RedisServer {
  private process?: ChildProcess;

  private constructor(
    readonly port: number,
    private readonly settings: readonly string[],
  ) {}

  /** @param settings as on the command line of the server: `'--maxmemory-policy', 'allkeys-lru'` */
  static async start(...settings: string[]): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), settings);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  private get file(): string {
    return `svc-redis-${this.port}.rdb`;
  }

  async start(): Promise<void> {
    // What a replica receives goes through a file, which any server started in its folder would load.
    rmSync(join(tmpdir(), this.file), { force: true });
    const files = ['--save', '', '--dir', tmpdir(), '--dbfilename', this.file];
    // A replica gets the data at once, and not after the five seconds in which others could join it.
    const own = ['--port', String(this.port), '--bind', '127.0.0.1', '--repl-diskless-sync-delay', '0', ...files];
    this.process = spawn(redisBinary!, [...own, ...this.settings], { stdio: 'ignore' });
    while (!(await this.accepts())) await sleep(20);
  }

  /** Forgets everything. */
  async flush(): Promise<void> {
    const { client } = await redisCache(this.url);
    await client.flushAll();
    await client.disconnect();
  }

  async command(...words: string[]): Promise<void> {
    await this.told(...words);
  }

  /** What the server answers to a command. */
  async told(...words: string[]): Promise<string> {
    const { client } = await redisCache(this.url);
    client.on('error', () => undefined);
    try {
      return String(await client.sendCommand(words));
    } finally {
      await client.disconnect();
    }
  }

  /** Stops answering without closing a connection. */
  freeze(): void {
    this.process?.kill('SIGSTOP');
  }

  thaw(): void {
    this.process?.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    // It may be gone already, with the process group that an interrupted run belongs to.
    if (!this.process || this.process.exitCode !== null || this.process.signalCode) return;
    const stopped = new Promise((resolve) => this.process?.once('exit', resolve));
    this.process?.kill('SIGCONT');
    this.process?.kill('SIGKILL');
    await stopped;
    rmSync(join(tmpdir(), this.file), { force: true });
  }

  private accepts(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.unref().once('connect', () => socket.end());
    });
  }
}
