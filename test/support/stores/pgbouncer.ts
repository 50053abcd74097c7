import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../../../apps/sample/src/dev/embedded-postgres';

/** The PgBouncer of this machine, if there is one. Debian installs it in a directory that is not in every PATH. */
export const pgbouncerBinary = ['pgbouncer', '/usr/sbin/pgbouncer'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);

/** PgBouncer refuses to run as root, so root starts it as a user without rights. */
const UNPRIVILEGED_ID = 65534;

export interface PgBouncerOptions {
  /** URL of the PostgreSQL server. Clients may use every database of it. */
  target: string;
  mode: 'transaction' | 'statement' | 'session';
  /** Further lines of the section `[pgbouncer]`: `{ default_pool_size: '3' }`. */
  settings?: Record<string, string>;
}

/** A PgBouncer in front of one server, for one test. */
export class PgBouncer {
  private constructor(
    private readonly directory: string,
    private readonly process: ChildProcess,
    private readonly port: number,
    /** URL of the database of `target`, through the pooler. */
    readonly url: string,
  ) {}

  static async start({ target, mode, settings = {} }: PgBouncerOptions): Promise<PgBouncer> {
    const port = await freePort();
    const { hostname, port: targetPort, username, password } = new URL(target);
    const directory = mkdtempSync(join(tmpdir(), 'svc-test-pgbouncer-'));
    const server = `host=${hostname} port=${targetPort || 5432} user=${username}`;
    const lines = {
      listen_addr: '127.0.0.1',
      listen_port: String(port),
      unix_socket_dir: '',
      // With `any`, every client is the user of the line in [databases].
      auth_type: 'any',
      admin_users: 'pgbouncer',
      logfile: join(directory, 'log'),
      pool_mode: mode,
      ...settings,
    };
    writeFileSync(
      join(directory, 'ini'),
      [
        '[databases]',
        `* = ${server}${password && ` password=${decodeURIComponent(password)}`}`,
        '[pgbouncer]',
        ...Object.entries(lines).map(([name, value]) => `${name} = ${value}`),
        '',
      ].join('\n'),
    );
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(directory, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
    chmodSync(directory, 0o755);
    const identity = isRoot ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {};
    // -q: the log goes to the file only.
    const child = spawn(pgbouncerBinary!, ['-q', join(directory, 'ini')], { ...identity, stdio: 'ignore' });
    const url = Object.assign(new URL(target), { hostname: '127.0.0.1', port: String(port) }).toString();
    const pooler = new PgBouncer(directory, child, port, url);
    while (!(await accepts(port))) {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}: ${pooler.log}`);
      await sleep(20);
    }
    return pooler;
  }

  /** Everything that it has logged. */
  get log(): string {
    const file = join(this.directory, 'log');
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  /** Runs a command of its console, such as `SHOW POOLS` or `PAUSE`. */
  async command(text: string): Promise<Record<string, string>[]> {
    const client = new Client({ connectionString: `postgres://pgbouncer@127.0.0.1:${this.port}/pgbouncer` });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  async stop(): Promise<void> {
    if (this.process.exitCode === null && !this.process.signalCode) {
      const stopped = new Promise((resolve) => this.process.once('exit', resolve));
      // SIGTERM waits for the clients from PgBouncer 1.23 on.
      this.process.kill('SIGKILL');
      await stopped;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.unref().once('connect', () => socket.end());
  });
}
