import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, createSentinel } from 'redis-5';
import { freePort } from '../../apps/sample/src/dev/embedded-postgres';
import { eventually } from './eventually';
import { RedisServer, redisBinary } from './redis';

/** What the sentinels call the master. */
const NAME = 'main';

/** A master, a replica and three sentinels of the test's own. */
export class RedisSentinels {
  private readonly directory = mkdtempSync(join(tmpdir(), 'svc-sentinels-'));
  private readonly processes: ChildProcess[] = [];
  private readonly ports: number[] = [];

  private constructor(private readonly servers: readonly RedisServer[]) {}

  /** Resolves when each sentinel knows the replica and the other sentinels. */
  static async start(): Promise<RedisSentinels> {
    const master = await RedisServer.start();
    const replica = await RedisServer.start('--replicaof', '127.0.0.1', String(master.port));
    const started = new RedisSentinels([master, replica]);
    for (let i = 0; i < 3; i++) await started.startSentinel(master.port);
    await eventually(() => started.agree({ 'num-slaves': '1', 'num-other-sentinels': '2' }));
    await started.awaitReplication();
    return started;
  }

  /** The addresses of the sentinels. */
  get nodes(): { host: string; port: number }[] {
    return this.ports.map((port) => ({ host: '127.0.0.1', port }));
  }

  /** A sentinel object of node-redis 5, connected. */
  async connect(options: Partial<Parameters<typeof createSentinel>[0]> = {}): Promise<Sentinel> {
    const sentinel = createSentinel({
      name: NAME,
      sentinelRootNodes: this.nodes,
      // One that reconnects by itself waits for the old master, however often the sentinels name another one.
      nodeClientOptions: { socket: { reconnectStrategy: false, connectTimeout: 1000 } },
      ...options,
    });
    // The listeners of a store come later.
    sentinel.on('error', () => undefined);
    return sentinel.connect();
  }

  /** The server that the sentinels name as the master. */
  async master(): Promise<RedisServer> {
    const [, port] = (await this.ask(0, 'get-master-addr-by-name', NAME)) as string[];
    return this.servers.find((server) => server.port === Number(port))!;
  }

  /** The server that is no master, dead or alive. */
  async other(): Promise<RedisServer> {
    const master = await this.master();
    return this.servers.find((server) => server !== master)!;
  }

  /** Resolves when the replica has everything that the master has. */
  async awaitReplication(): Promise<void> {
    // The sentinels close every connection to a server that they make a replica.
    const offset = async (server: RedisServer, name: string): Promise<string | undefined> =>
      new RegExp(`^${name}:(\\d+)`, 'm').exec(await server.told('INFO', 'replication').catch(String))?.[1];
    await eventually(async () => {
      const written = await offset(await this.master(), 'master_repl_offset');
      return written !== undefined && (await offset(await this.other(), 'slave_repl_offset')) === written;
    });
  }

  /** From now on the replica learns of no write: it lags when it is promoted. */
  async cutReplication(): Promise<void> {
    const master = await this.master();
    await master.command('ACL', 'SETUSER', 'default', '-psync', '-sync', '-replconf');
    await master.command('CLIENT', 'KILL', 'TYPE', 'replica');
  }

  /** Has the replica promoted, of a master that is killed before or one that lives, and is demoted. */
  async failover(kill: boolean): Promise<void> {
    const [old, promoted] = [await this.master(), await this.other()];
    if (kill) await old.stop();
    // The sentinels refuse while they have heard nothing of the replica for some seconds.
    await eventually(async () => (await this.ask(0, 'failover', NAME).catch(() => null)) !== null);
    await eventually(() => this.agree({ port: String(promoted.port) }));
  }

  async stop(): Promise<void> {
    for (const sentinel of this.processes) {
      if (sentinel.exitCode !== null || sentinel.signalCode) continue;
      const gone = new Promise((resolve) => sentinel.once('exit', resolve));
      sentinel.kill('SIGKILL');
      await gone;
    }
    for (const server of this.servers) await server.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async startSentinel(master: number): Promise<void> {
    const port = await freePort();
    const file = join(this.directory, `${port}.conf`);
    writeFileSync(
      file,
      [
        `port ${port}`,
        'bind 127.0.0.1',
        `dir ${this.directory}`,
        `sentinel monitor ${NAME} 127.0.0.1 ${master} 2`,
        // However slow the machine is: what fails over is what a test has fail over.
        `sentinel down-after-milliseconds ${NAME} 600000`,
      ].join('\n'),
    );
    this.processes.push(spawn(redisBinary!, [file, '--sentinel'], { stdio: 'ignore' }));
    this.ports.push(port);
    await eventually(() => command(port, 'PING').then(Boolean, () => false));
  }

  private ask(sentinel: number, ...words: string[]): Promise<unknown> {
    return command(this.ports[sentinel]!, 'SENTINEL', ...words);
  }

  /** Whether every sentinel says this of the master. */
  private async agree(facts: Record<string, string>): Promise<boolean> {
    const told = await Promise.all(this.ports.map((_, i) => this.ask(i, 'master', NAME) as Promise<string[]>));
    return told.every((words) =>
      Object.entries(facts).every(([name, value]) => words[words.indexOf(name) + 1] === value),
    );
  }
}

/** Sends one command to a sentinel. */
async function command(port: number, ...words: string[]): Promise<unknown> {
  const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: false } });
  // The error is that of `connect`, too.
  await client.on('error', () => undefined).connect();
  try {
    return await client.sendCommand(words);
  } finally {
    client.destroy();
  }
}

/** A sentinel object of node-redis 5. */
export type Sentinel = Awaited<ReturnType<ReturnType<typeof createSentinel>['connect']>>;
