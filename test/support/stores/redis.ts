import { type ChildProcess, type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { freePort } from '../../../apps/sample/src/dev/embedded-postgres';
import { redisCache } from '../../../apps/sample/src/redis-cache';

export type RedisClient = Awaited<ReturnType<typeof redisCache>>['client'];

/** The server binary of `TEST_REDIS_BINARY`, or of this machine, if there is one: Redis or Valkey. */
export const redisBinary = [process.env.TEST_REDIS_BINARY ?? '', 'redis-server', 'valkey-server'].find(
  (name) => name && spawnSync(name, ['--version']).status === 0,
);

/** A Redis server for one test. It can be stopped, frozen and started again. */
export class RedisServer {
  private process?: ChildProcess;

  private constructor(
    readonly port: number,
    private readonly settings: readonly string[],
  ) {}

  /** @param settings command line options of the server: `'--maxmemory-policy', 'allkeys-lru'` */
  static async start(...settings: string[]): Promise<RedisServer> {
    for (let attempts = 1; ; attempts++) {
      const server = new RedisServer(await freePort(), settings);
      try {
        await server.start();
        return server;
      } catch (error) {
        // Another process may have taken the port.
        if (attempts === 3) throw error;
      }
    }
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** An interrupted run may have ended the server with its process group. */
  get isRunning(): boolean {
    return this.process !== undefined && this.process.exitCode === null && !this.process.signalCode;
  }

  private get file(): string {
    return `svc-redis-${this.port}.rdb`;
  }

  async start(): Promise<void> {
    // A replica writes the data that it receives to a file, and any server started in this folder would load that file.
    rmSync(join(tmpdir(), this.file), { force: true });
    const files = ['--save', '', '--dir', tmpdir(), '--dbfilename', this.file];
    // A replica gets the data at once instead of after the five seconds in which other replicas can join.
    const own = ['--port', String(this.port), '--bind', '127.0.0.1', '--repl-diskless-sync-delay', '0', ...files];
    const child = spawn(redisBinary!, [...own, ...this.settings], { stdio: ['ignore', 'pipe', 'ignore'] });
    this.process = child;
    await ready(child);
    child.stdout.destroy();
  }

  /** Deletes all keys. */
  async flush(): Promise<void> {
    const { client } = await redisCache(this.url);
    await client.flushAll();
    await client.disconnect();
  }

  /** Sends a command and returns the reply. */
  async command(...words: string[]): Promise<string> {
    const { client } = await redisCache(this.url);
    client.on('error', () => undefined);
    try {
      return String(await client.sendCommand(words));
    } finally {
      await client.disconnect();
    }
  }

  /** Stops responding without closing a connection. */
  freeze(): void {
    this.process?.kill('SIGSTOP');
  }

  thaw(): void {
    this.process?.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    if (!this.isRunning) return;
    const stopped = new Promise((resolve) => this.process?.once('exit', resolve));
    this.process?.kill('SIGCONT');
    this.process?.kill('SIGKILL');
    await stopped;
    rmSync(join(tmpdir(), this.file), { force: true });
  }
}

/** A Redis server that uses TLS on a second port, with a certificate for `localhost`, and with a password. */
export async function startRedisWithTls(password: string) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-redis-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '2'];
  const algorithm = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  spawnSync('openssl', ['req', '-x509', ...algorithm, '-keyout', key, '-out', cert, ...subject]);
  const tlsPort = await freePort();
  const files = [
    '--tls-cert-file',
    cert,
    '--tls-key-file',
    key,
    '--tls-ca-cert-file',
    cert,
    '--tls-auth-clients',
    'no',
  ];
  const server = await RedisServer.start('--tls-port', String(tlsPort), ...files, '--requirepass', password);
  const stop = async (): Promise<void> => {
    await server.stop();
    rmSync(folder, { recursive: true });
  };
  return { port: server.port, tlsPort, ca: readFileSync(cert, 'utf8'), stop };
}

/** Waits until the server accepts connections. Rejects if it ends before. */
function ready(child: ChildProcessByStdio<null, Readable, null>): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    child.stdout.on('data', (text) => {
      log += text;
      if (log.includes('Ready to accept connections')) resolve();
    });
    child.once('error', reject).once('exit', () => reject(new Error(`Redis ended at its start: ${log}`)));
  });
}
