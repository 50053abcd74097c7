import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { livesAndEnds, signIn, statusAt } from '../examples/life-of-a-session';
import { send } from '../support/hosts/processes';
import { type TestDatabase, createEmptyDatabase, executed } from '../support/stores/database';
import { RedisServer } from '../support/stores/redis';
import { describeWithOwnRedis } from '../support/stores/with-redis';
import { type Bundle, BundleProcess, bundled, removeBundles } from './bundled';

const ADA = { name: 'Ada', email: 'ada@example.com', password: 'a horse with wings' };

/** Milliseconds for which a process is frozen: longer than a connection is silent before it is asked. */
const FROZEN_MS = 6000;

describeWithOwnRedis('one file with the example minimal and all its packages', () => {
  let redis: RedisServer;
  let database: TestDatabase;
  const running: BundleProcess[] = [];

  beforeAll(async () => {
    [redis, database] = [await RedisServer.start(), await createEmptyDatabase()];
  });
  afterEach(() => running.splice(0).forEach((host) => host.stop()));
  afterAll(async () => {
    removeBundles();
    await database?.drop();
    await redis?.stop();
  });

  const secret = randomBytes(32).toString('hex');
  async function start(bundle: Bundle): Promise<BundleProcess> {
    const stores = { DATABASE_URL: database.url, REDIS_URL: redis.url, SVC_SECRET: secret };
    const host = await BundleProcess.start(bundle, stores);
    running.push(host);
    return host;
  }

  const placeOf = ({ url }: BundleProcess) => ({ auth: `${url}/auth`, guarded: `${url}/hello` });
  const register = ({ url }: BundleProcess, email: string) =>
    send(`${url}/auth/register`, 'POST', { ...ADA, email, password_confirmation: ADA.password });

  it.each(['esbuild.mjs', 'esbuild-esm.mjs', 'webpack.mjs', 'ncc'])(
    'by %s registers, signs in, guards its route, refreshes, and refuses every token after the sign-out',
    async (how) => {
      const host = await start(bundled(how));
      expect((await register(host, `${how}@example.com`)).status).toBe(200);
      await livesAndEnds(placeOf(host), `${how}@example.com`, ADA.password);
      expect(host.logs).not.toContain('ERROR');
    },
  );

  it('answers as usual after its process was frozen and its connections were closed', async () => {
    const bundle = bundled('esbuild.mjs');
    const [host, other] = [await start(bundle), await start(bundle)];
    await register(host, ADA.email);
    const [kept, ended] = [
      await signIn(placeOf(host), ADA.email, ADA.password),
      await signIn(placeOf(host), ADA.email, ADA.password),
    ];
    const { guarded } = placeOf(host);
    expect(await Promise.all([kept, ended].map(({ access }) => statusAt(guarded, access)))).toEqual([200, 200]);
    host.freeze();
    await executed(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      database.url,
    );
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await sleep(FROZEN_MS);
    expect((await send(`${other.url}/auth/logout`, 'POST', undefined, ended.access)).status).toBe(204);
    // The requests wait until the process continues: it reads them together with the ends of its connections.
    const answers = [kept, ended].map(({ access }) => statusAt(guarded, access));
    const refreshed = send(`${host.url}/auth/refresh`, 'POST', { refresh_token: kept.refresh });
    const refused = send(`${host.url}/auth/refresh`, 'POST', { refresh_token: ended.refresh });
    host.thaw();
    expect(await Promise.all(answers)).toEqual([200, 401]);
    expect((await refreshed).status).toBe(200);
    expect((await refused).status).toBe(401);
  });

  it('is refused at its start with the setting that keeps names, if a minifier has changed those of the classes', async () => {
    const minified = bundled('esbuild.mjs', (script) => script.replace('keepNames: true', 'minify: true'));
    await expect(start(minified)).rejects.toThrow(/names of the classes of @svc\/auth.*keepNames/);
  });
});
