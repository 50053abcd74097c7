import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../apps/sample/src/dev/embedded-postgres';
import { prepareDatabase } from './database';
import { TcpProxy } from '../faults/tcp-proxy';

/** A PostgreSQL server for one test, with the tables of the tests. It can be stopped and started again. */
export class PostgresServer {
  private constructor(
    private readonly directory: string,
    private readonly settings: Record<string, string>,
    private readonly bin: string | undefined,
    private running: EmbeddedPostgres,
    /** Forwards to the server under one address. The port of the server changes with every start. */
    readonly proxy: TcpProxy,
  ) {}

  /** @param bin the folder of the binaries of another version */
  static async start(settings: Record<string, string> = {}, bin?: string): Promise<PostgresServer> {
    const directory = mkdtempSync(join(tmpdir(), 'svc-test-own-'));
    chmodSync(directory, 0o711);
    // Committed data must survive a crash of the server, not of the machine.
    const all = { fsync: 'off', max_connections: '100', ...settings };
    const running = await startEmbeddedPostgres(join(directory, 'data'), all, bin);
    await prepareDatabase(running.url);
    return new PostgresServer(directory, all, bin, running, await TcpProxy.to(portOf(running)));
  }

  get url(): string {
    return this.proxy.through(this.running.url);
  }

  /** The URL without the proxy. */
  get directUrl(): string {
    return this.running.url;
  }

  /**
   * @param crash stops as if killed: without a checkpoint and without a message to the clients; `SIGKILL` kills the server process
   * alone, and its backends find it dead
   */
  async stop(crash: boolean | 'SIGKILL' = false): Promise<void> {
    const [pid] = readFileSync(join(this.directory, 'data', 'postmaster.pid'), 'utf8').split('\n');
    const stopped = this.running.stop();
    if (crash) process.kill(Number(pid), crash === true ? 'SIGQUIT' : crash);
    await stopped;
  }

  async startAgain(): Promise<void> {
    this.running = await startEmbeddedPostgres(join(this.directory, 'data'), this.settings, this.bin);
    this.proxy.target = portOf(this.running);
  }

  async remove(): Promise<void> {
    await this.stop();
    await this.proxy.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

const portOf = ({ url }: EmbeddedPostgres): number => Number(new URL(url).port);
