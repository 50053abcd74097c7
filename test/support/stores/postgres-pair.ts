import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../apps/sample/src/dev/embedded-postgres';
import { prepareDatabase } from './database';
import { eventually } from '../runtime/eventually';
import { TcpProxy } from '../faults/tcp-proxy';

const SETTINGS = {
  fsync: 'off',
  max_connections: '100',
  // The primary keeps the WAL that the standby has missed, and the standby fetches it soon after it starts.
  wal_keep_size: '256MB',
  wal_retrieve_retry_interval: '100ms',
};

/** A primary and a streaming standby for one test, with the tables of the tests. Replication is asynchronous. */
export class PostgresPair {
  /** The directories of the two servers. */
  private names = { primary: 'primary', standby: 'standby' };

  private constructor(
    private readonly directory: string,
    private primary: EmbeddedPostgres,
    private standby: EmbeddedPostgres,
    /** Forwards applications to the primary, and after {@link failOver} to the standby. */
    readonly address: TcpProxy,
    /** Forwards the standby to the primary. */
    readonly replication: TcpProxy,
  ) {}

  static async start(): Promise<PostgresPair> {
    const directory = mkdtempSync(join(tmpdir(), 'svc-test-pair-'));
    chmodSync(directory, 0o711);
    const first = await startEmbeddedPostgres(join(directory, 'primary'), SETTINGS);
    await prepareDatabase(first.url);
    await first.stop();
    // A copy of a server that was stopped cleanly is a base backup. `-a` keeps the owner.
    const { status, stderr } = spawnSync('cp', ['-a', 'primary', 'standby'], { cwd: directory, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    writeFileSync(join(directory, 'standby', 'standby.signal'), '');
    const primary = await startEmbeddedPostgres(join(directory, 'primary'), SETTINGS);
    const replication = await TcpProxy.to(portOf(primary));
    const address = await TcpProxy.to(portOf(primary));
    const standby = await startEmbeddedPostgres(join(directory, 'standby'), standbySettings(replication));
    return new PostgresPair(directory, primary, standby, address, replication);
  }

  get url(): string {
    return this.address.through(this.primary.url);
  }

  get standbyUrl(): string {
    return this.standby.url;
  }

  /** Waits until the standby has replayed everything that the primary has committed. */
  async caughtUp(): Promise<void> {
    const [{ lsn }] = await query(this.primary, 'SELECT pg_current_wal_lsn() AS lsn');
    await eventually(async () => {
      const [{ there }] = await query(this.standby, 'SELECT pg_last_wal_replay_lsn() >= $1 AS there', [lsn]);
      return there === true;
    });
  }

  /** Sets whether a commit waits for the standby. */
  async synchronous(on: boolean): Promise<void> {
    await query(this.primary, `ALTER SYSTEM SET synchronous_standby_names = '${on ? '*' : ''}'`);
    await query(this.primary, 'SELECT pg_reload_conf()');
    await eventually(async () => {
      const rows = await query(this.primary, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'");
      return rows.length > 0 === on;
    });
  }

  async stopStandby(): Promise<void> {
    await this.standby.stop();
  }

  async startStandby(): Promise<void> {
    this.standby = await startEmbeddedPostgres(
      join(this.directory, this.names.standby),
      standbySettings(this.replication),
    );
  }

  /**
   * Kills the primary, promotes the standby with the data that it has, and forwards the address to it.
   *
   * @param meanwhile runs while there is no primary
   * @param isEarly whether the address is forwarded before the promotion: meanwhile the server is read-only
   */
  async failOver(meanwhile: () => Promise<unknown> = async () => undefined, isEarly = false): Promise<void> {
    const [pid] = readFileSync(join(this.directory, this.names.primary, 'postmaster.pid'), 'utf8').split('\n');
    const stopped = this.primary.stop();
    process.kill(Number(pid), 'SIGQUIT');
    await stopped;
    if (isEarly) this.address.target = portOf(this.standby);
    await meanwhile();
    await query(this.standby, 'SELECT pg_promote(true)');
    this.address.target = portOf(this.standby);
    // The connections of an early address reach the primary now.
    if (!isEarly) this.address.cut();
  }

  /** After {@link failOver}: replaces the killed server by a standby of the new primary, also under load. */
  async replaceStandby(): Promise<void> {
    this.names = { primary: this.names.standby, standby: this.names.primary };
    this.primary = this.standby;
    const { primary, standby } = this.names;
    rmSync(join(this.directory, standby), { recursive: true });
    const client = new Client({ connectionString: this.primary.url });
    await client.connect();
    await client.query("SELECT pg_backup_start('standby', true)");
    // Files that the server deletes during the copy are not needed.
    await promisify(execFile)('cp', ['-a', primary, standby], { cwd: this.directory }).catch(() => undefined);
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)');
    await client.end();
    const directory = join(this.directory, standby);
    rmSync(join(directory, 'postmaster.pid'));
    const { uid, gid } = statSync(directory);
    const label = join(directory, 'backup_label');
    writeFileSync(label, rows[0].labelfile);
    chownSync(label, uid, gid);
    writeFileSync(join(directory, 'standby.signal'), '');
    this.replication.heal();
    this.replication.target = portOf(this.primary);
    await this.startStandby();
  }

  async remove(): Promise<void> {
    await this.standby.stop();
    await this.primary.stop();
    await this.address.close();
    await this.replication.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

const portOf = ({ url }: EmbeddedPostgres): number => Number(new URL(url).port);

const standbySettings = (replication: TcpProxy): Record<string, string> => ({
  ...SETTINGS,
  primary_conninfo: `host=127.0.0.1 port=${replication.port} user=auth`,
});

async function query({ url }: EmbeddedPostgres, text: string, values: unknown[] = []) {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}
