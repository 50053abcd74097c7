import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, createSentinel } from 'redis-5';
import { freePort } from '../../../apps/sample/src/dev/embedded-postgres';
import { eventually } from '../runtime/eventually';
import { RedisServer, redisBinary } from './redis';

/** The sentinels' name of the master. */
const NAME = 'main';

/** A master, a replica and three sentinels for one test. */
export class RedisSentinels {
  private readonly directory = mkdtempSync(join(tmpdir(), 'svc-sentinels-'));
  private readonly processes: ChildProcess[] = [];
  private readonly ports: number[] = [];

  private constructor(private readonly servers: readonly RedisServer[]) {}

  /** Resolves when each sentinel has found the replica and the other sentinels. */
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

  /** A connected sentinel client of node-redis 5. */
  async connect(options: Partial<Parameters<typeof createSentinel>[0]> = {}): Promise<Sentinel> {
    const sentinel = createSentinel({
      name: NAME,
      sentinelRootNodes: this.nodes,
      // With automatic reconnection, the client waits for the old master even if the sentinels name another one.
      nodeClientOptions: { socket: { reconnectStrategy: false, connectTimeout: 60_000 } },
      ...options,
    });
    // Prevents unhandled error events: a store adds its listeners later.
    sentinel.on('error', () => undefined);
    return sentinel.connect();
  }

  /** The server that the sentinels report as the master. */
  async master(): Promise<RedisServer> {
    const [, port] = (await this.ask(0, 'get-master-addr-by-name', NAME)) as string[];
    return this.servers.find((server) => server.port === Number(port))!;
  }

  /** The server that is not the master, whether it runs or not. */
  async other(): Promise<RedisServer> {
    const master = await this.master();
    return this.servers.find((server) => server !== master)!;
  }

  /** Resolves when the replica has all the data of the master. */
  async awaitReplication(): Promise<void> {
    // The sentinels close every connection to a server when they make it a replica.
    const offset = async (server: RedisServer, name: string): Promise<string | undefined> =>
      new RegExp(`^${name}:(\\d+)`, 'm').exec(await server.command('INFO', 'replication').catch(String))?.[1];
    await eventually(async () => {
      const written = await offset(await this.master(), 'master_repl_offset');
      return written !== undefined && (await offset(await this.other(), 'slave_repl_offset')) === written;
    });
  }

  /** Stops replication. The replica lacks later writes when it is promoted. */
  async cutReplication(): Promise<void> {
    const master = await this.master();
    await master.command('ACL', 'SETUSER', 'default', '-psync', '-sync', '-replconf');
    await master.command('CLIENT', 'KILL', 'TYPE', 'replica');
  }

  /**
   * Promotes the replica. The master is killed before, or it keeps running and is demoted.
   *
   * @param meanwhile runs while there is no master
   */
  async failover(kill: boolean, meanwhile: () => Promise<unknown> = async () => undefined): Promise<void> {
    const [old, promoted] = [await this.master(), await this.other()];
    if (kill) await old.stop();
    await meanwhile();
    // The sentinels refuse a failover if they have not heard from the replica for some seconds.
    await eventually(async () => (await this.ask(0, 'failover', NAME).catch(() => null)) !== null);
    await eventually(() => this.agree({ port: String(promoted.port) }));
  }

  /** After {@link failover} with a killed master: starts the killed server as the replica of the new master. */
  async replaceReplica(): Promise<void> {
    const [master, old] = [await this.master(), await this.other()];
    await old.start();
    // The sentinels would do this some seconds later.
    await old.command('REPLICAOF', '127.0.0.1', String(master.port));
    await this.awaitReplication();
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
        // Longer than any pause of a slow machine: only a test starts a failover.
        `sentinel down-after-milliseconds ${NAME} 600000`,
      ].join('\n'),
    );
    this.processes.push(spawn(redisBinary!, [file, '--sentinel'], { stdio: 'ignore' }));
    this.ports.push(port);
    await eventually(() => command(port, 'PING').then(Boolean, () => false));
    // The sentinels find each other and agree sooner than every two seconds. Redis 6 does not have this command.
    await command(port, 'SENTINEL', 'DEBUG', 'PUBLISH-PERIOD', '200').catch(() => undefined);
  }

  private ask(sentinel: number, ...words: string[]): Promise<unknown> {
    return command(this.ports[sentinel]!, 'SENTINEL', ...words);
  }

  /** Whether every sentinel reports these facts about the master. */
  private async agree(facts: Record<string, string>): Promise<boolean> {
    const replies = await Promise.all(this.ports.map((_, i) => this.ask(i, 'master', NAME) as Promise<string[]>));
    return replies.every((words) =>
      Object.entries(facts).every(([name, value]) => words[words.indexOf(name) + 1] === value),
    );
  }
}

/** `createClient` builds a class with all commands for each new address, which takes 20 ms of CPU. A duplicate does not. */
const unconnected = createClient();

/** Sends one command to a sentinel. */
async function command(port: number, ...words: string[]): Promise<unknown> {
  const client = unconnected.duplicate({ socket: { host: '127.0.0.1', port, reconnectStrategy: false } });
  // `connect` rejects with the same error.
  await client.on('error', () => undefined).connect();
  try {
    return await client.sendCommand(words);
  } finally {
    client.destroy();
  }
}

/** A sentinel client of node-redis 5. */
export type Sentinel = Awaited<ReturnType<ReturnType<typeof createSentinel>['connect']>>;
