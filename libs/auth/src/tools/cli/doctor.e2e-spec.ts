import { generateKeyPairSync } from 'node:crypto';
import { NestApplicationContext } from '@nestjs/core';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Ended, runInProcess } from '../../../../../test/console/in-process';
import { WorkingDirectory } from '../../../../../test/console/working-directory';
import { type TestDatabase, createDatabase, createEmptyDatabase } from '../../../../../test/support/stores/database';
import { ENCRYPTION_KEY, SECRET } from '../../../../../test/support/hosts/host.module';
import { RedisServer } from '../../../../../test/support/stores/redis';
import { describeWithOwnRedis } from '../../../../../test/support/stores/with-redis';
import type { Finding } from './config-checks';
import { runCli } from './commands';

const HOST = join(__dirname, '../../../../../test/support/hosts/host.module.ts');
const CLUSTER = join(__dirname, '../redis-cluster/redis-cluster-store.ts');
const PASSWORD = 'redis-password-0123';

/** An application whose check finds nothing. */
const SOUND = { issuer: 'https://api.acme.test', audience: 'https://api.acme.test' };

interface Report {
  status: string;
  checks: Finding[];
}

let place: WorkingDirectory;

const run = (...args: string[]): Promise<Ended> => runInProcess(() => runCli(args), args, place);

/** Writes a root module with these options, as a text. */
const writeModule = (options: string): void =>
  place.write(
    `const { HostModule } = require(${JSON.stringify(HOST)});
     exports.AppModule = HostModule.with(process.env.DATABASE_URL, { cache: undefined, ...${options} });`,
    'app.module.js',
  );

/** Runs `doctor --json` and returns its report. */
async function report(...args: string[]): Promise<Report & Pick<Ended, 'stdout'>> {
  const ended = await run('doctor', '--json', ...args);
  // An application that does not start stays registered in the process of the tests.
  expect(ended.stderr.replaceAll(/^.*DataSourceNameRegistry.*\n/gm, '')).toBe('');
  return { stdout: ended.stdout, ...(JSON.parse(ended.stdout) as Report) };
}

const problemsOf = ({ checks }: Report): string[] =>
  checks
    .filter(({ status }) => status === 'error' || status === 'warning')
    .map(({ check, status, message, cure = '' }) => `${status} ${check}: ${message} ${cure}`);

describeWithOwnRedis('svc-auth doctor', () => {
  let redis: RedisServer;
  let database: TestDatabase;

  beforeAll(async () => {
    const folder = new WorkingDirectory();
    redis = await RedisServer.start('--requirepass', PASSWORD, '--dir', folder.directory, '--appendonly', 'yes');
  });
  afterAll(() => redis.stop());
  beforeEach(async () => {
    [place, database] = [new WorkingDirectory(), await createDatabase()];
    setEnvironment({});
  });
  afterEach(async () => {
    place.remove();
    await database.drop();
  });

  const redisUrl = (): string => redis.url.replace('//', `//default:${PASSWORD}@`);

  function setEnvironment(variables: Record<string, string>): void {
    const all = { DATABASE_URL: database.url, REDIS_URL: redisUrl(), ...variables };
    place.write(
      Object.entries(all)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    );
  }

  const withRedis = (more: object = {}): string =>
    `{ redis: { url: process.env.REDIS_URL }, ...${JSON.stringify({ ...SOUND, ...more })} }`;

  it('exits with 0 for an application without a problem, and lists what it checked', async () => {
    writeModule(withRedis());
    const { status, stdout, stderr } = await run('doctor', 'app.module.js');
    expect({ status, stderr, stdout }).toMatchObject({ status: 0, stderr: '' });
    expect(stdout).toMatch(/Errors: 0\. Warnings: 0\.\n$/);
    for (const check of [
      'node',
      'start',
      'options',
      'keys',
      'postgres',
      'tables',
      'indexes',
      'hashes',
      'clocks',
      'redis',
      'distance',
    ])
      expect(stdout).toMatch(new RegExp(`^ok +${check} `, 'm'));
    for (const secret of [SECRET, ENCRYPTION_KEY, PASSWORD]) expect(stdout).not.toContain(secret);
  });

  it('finds nothing wrong with a service that only verifies, and has no tables', async () => {
    place.write(
      `const { AuthModule, UserProvider } = require('@svc/auth');
       class Subjects extends UserProvider { findById() {} findByIdentifier() {} idOf() {} }
       const redis = { url: process.env.REDIS_URL };
       exports.AppModule = AuthModule.forRoot({
         verifyOnly: true, users: { provider: Subjects }, redis, ...${JSON.stringify({ ...SOUND, secret: SECRET })},
       });`,
      'verifier.module.js',
    );
    const found = await report('verifier.module.js');
    expect({ status: found.status, problems: problemsOf(found) }).toEqual({ status: 'ok', problems: [] });
    expect(found.checks).toContainEqual(expect.objectContaining({ check: 'start', status: 'ok' }));
  });

  it('writes only its result to stdout, whatever the application writes', async () => {
    writeModule(`{ ...process.stdout.write('a banner\\n') && ${withRedis()} }`);
    const { status, stdout, stderr } = await run('doctor', 'app.module.js', '--json');
    expect([status, stderr, JSON.parse(stdout).status]).toEqual([0, 'a banner\n', 'ok']);
  });

  it('exits with 1 for warnings: the rules of production, and a Redis that loses its data', async () => {
    writeModule('{ redis: { url: process.env.REDIS_URL } }');
    await redisCommand('CONFIG', 'SET', 'appendonly', 'no');
    await redisCommand('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    const found = await report('app.module.js');
    await redisCommand('CONFIG', 'SET', 'appendonly', 'yes');
    await redisCommand('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    expect([found.status, found.checks.length > 8]).toEqual(['warning', true]);
    expect(problemsOf(found)).toEqual([
      expect.stringMatching(/^warning production: NODE_ENV is not production.*\nissuer \(SVC_ISSUER\) is the example/),
      expect.stringMatching(/^warning redis: The maxmemory-policy of Redis is allkeys-lru.*Set maxmemory-policy/),
      expect.stringMatching(/^warning redis: appendonly is off.*CONFIG SET appendonly yes/),
    ]);
  });

  it('names every option that refuses the start, and still checks the stores of the environment', async () => {
    setEnvironment({ SVC_REDIS_URL: redisUrl() });
    writeModule("{ secret: 'too-short', accessTtl: 0, acessTtl: 1 }");
    const found = await report('app.module.js');
    expect(problemsOf(found)).toEqual([
      expect.stringMatching(/^error options: accessTtl \(SVC_ACCESS_TTL\) is 0\. Use/),
      expect.stringMatching(/^error options: acessTtl is not an option\. The nearest known name is accessTtl/),
    ]);
    expect(found.checks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ check: 'postgres', status: 'ok' }),
        expect.objectContaining({ check: 'redis', status: 'ok' }),
      ]),
    );
    expect(found.stdout).not.toContain('too-short');
  });

  it('names options of a wrong type, also those that are refused while the file is loaded', async () => {
    setEnvironment({ SVC_REDIS_URL: redisUrl() });
    writeModule("{ secret: Buffer.from('a-secret-in-a-buffer'), path: 5 }");
    const found = await report('app.module.js');
    expect(problemsOf(found)).toEqual([
      expect.stringMatching(/^error keys: secret \(SVC_SECRET\) is a Buffer\. Use a text/),
      expect.stringMatching(/^error options: path is a number\. Use a text/),
    ]);
    for (const check of ['postgres', 'redis'])
      expect(found.checks).toContainEqual(expect.objectContaining({ check, status: 'ok' }));
  });

  it.each<[string, (url: URL) => void, RegExp]>([
    ['nothing listens', (url) => (url.port = '1'), /ECONNREFUSED.*Start PostgreSQL, or correct the host and the port/],
    ['the database does not exist', (url) => (url.pathname = '/none'), /"none" does not exist.*createdb/],
    [
      'the password is wrong',
      (url) => ([url.username, url.password] = ['mallory', 'db-password-0123']),
      /mallory.*Correct the user and the password in DATABASE_URL/,
    ],
  ])(
    'says what is wrong with DATABASE_URL if %s, still checks REDIS_URL, and does not wait for the attempts of TypeORM',
    async (_, change, text) => {
      const url = new URL(database.url);
      change(url);
      setEnvironment({ DATABASE_URL: url.href });
      writeModule(withRedis());
      const found = await report('app.module.js');
      expect(problemsOf(found)[0]).toMatch(/^error postgres: No connection to PostgreSQL/);
      expect(problemsOf(found)[0]).toMatch(text);
      expect(found.checks).toContainEqual(expect.objectContaining({ check: 'redis', status: 'ok' }));
      expect(found.status).toBe('error');
      expect(found.stdout).not.toContain('db-password-0123');
    },
  );

  it('names missing tables and columns, each with its migration', async () => {
    const own = await createEmptyDatabase();
    setEnvironment({ DATABASE_URL: own.url });
    writeModule(withRedis());
    expect(problemsOf(await report('app.module.js'))).toEqual([
      expect.stringMatching(
        /^error tables: The table svc_sessions is missing: CreateSvcSessions\d+ of authMigrations\.[^]*The table people is missing: a migration of your own[^]*migration:run/,
      ),
    ]);
    await own.drop();
  });

  describe('for an application on the option pool', () => {
    beforeEach(() => {
      place.write(
        `const { Pool } = require(${JSON.stringify(require.resolve('pg'))});
         const { AuthModule, UserProvider } = require('@svc/auth');
         class NoUsers extends UserProvider {}
         const pool = new Pool({ connectionString: process.env.DATABASE_URL, idleTimeoutMillis: 1 });
         const options = { redis: { url: process.env.REDIS_URL }, ...${JSON.stringify({ ...SOUND, secret: SECRET, features: { accountDeletion: false } })} };
         exports.AppModule = AuthModule.forRoot({ ...options, pool, users: { provider: NoUsers } });`,
        'pool.module.js',
      );
    });

    it('names missing tables, and how they are created there', async () => {
      const own = await createEmptyDatabase();
      setEnvironment({ DATABASE_URL: own.url });
      expect(problemsOf(await report('pool.module.js'))).toEqual([
        expect.stringMatching(
          /^error tables: The table svc_sessions is missing[^]*migrateAuth\(pool\).*svc:migrate\.$/,
        ),
      ]);
      await own.drop();
    });

    it('says once that the database does not exist, with the correction', async () => {
      const url = new URL(database.url);
      url.pathname = '/none';
      setEnvironment({ DATABASE_URL: url.href });
      expect(problemsOf(await report('pool.module.js'))).toEqual([
        expect.stringMatching(/^error postgres: No connection to PostgreSQL: .*"none" does not exist.*createdb/),
      ]);
    });
  });

  it('finds a clock that differs', async () => {
    writeModule(withRedis());
    const now = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => now() - 60_000);
    const found = await report('app.module.js');
    expect(problemsOf(found)).toEqual([
      expect.stringMatching(
        /^error clocks: The clock of PostgreSQL differs.*by (59|60)\d{3} ms.*leeway allows 5 s.*NTP/,
      ),
      expect.stringMatching(/^error clocks: The clock of Redis differs.*NTP/),
    ]);
  });

  it('says if Redis cannot be reached, or refuses the password', async () => {
    writeModule(withRedis());
    setEnvironment({ REDIS_URL: 'redis://default:wrong-password@127.0.0.1:1' });
    const away = await report('app.module.js');
    expect(problemsOf(away)).toEqual([
      expect.stringMatching(
        /^error redis: Redis at 127\.0\.0\.1:1 \(redis\.url\) could not be connected.*ECONNREFUSED/,
      ),
    ]);
    expect(away.stdout).not.toContain('wrong-password');
  });

  /** The checks that were skipped, each with its reason. */
  const skippedIn = ({ checks }: Report): Record<string, string> =>
    Object.fromEntries(
      checks.filter(({ status }) => status === 'skipped').map(({ check, message }) => [check, message]),
    );

  const OF_OPTIONS = Object.fromEntries(
    ['variables', 'keys', 'cookies', 'proxy', 'mail', 'production'].map((check) => [
      check,
      'Not checked: the application does not start, or its options are refused.',
    ]),
  );

  it('lists the checks that could not run because Redis is away, each with the reason, and still checks PostgreSQL', async () => {
    writeModule(withRedis());
    setEnvironment({ REDIS_URL: 'redis://127.0.0.1:1' });
    const found = await report('app.module.js');
    expect(skippedIn(found)).toEqual(OF_OPTIONS);
    for (const check of ['postgres', 'tables', 'indexes', 'clocks'])
      expect(found.checks).toContainEqual(expect.objectContaining({ check, status: 'ok' }));
  });

  it.each([
    ['missing', 'undefined', /^error keys: keys has no key to verify tokens with/],
    ['short', "'too-short'", /^error keys: secret \(SVC_SECRET\) /],
  ])('reports a secret that is %s under keys, and that the stores are not known', async (_, secret, text) => {
    setEnvironment({ DATABASE_URL: '', REDIS_URL: '' });
    place.write(
      `const { AuthModule, UserProvider } = require('@svc/auth');
       class NoUsers extends UserProvider {}
       exports.AppModule = AuthModule.forRoot({ verifyOnly: true, users: { provider: NoUsers }, secret: ${secret} });`,
      'app.module.js',
    );
    const found = await report('app.module.js');
    expect(problemsOf(found)).toEqual([expect.stringMatching(text)]);
    const { keys: _keys, ...others } = OF_OPTIONS;
    expect(skippedIn(found)).toEqual({
      ...others,
      redis: 'Not checked: its address is not known.',
      postgres: 'DATABASE_URL is not set, so PostgreSQL is not checked.',
      tables: 'Not checked: there is no connection to PostgreSQL.',
      indexes: 'Not checked: there is no connection to PostgreSQL.',
      hashes: 'Not checked: there is no connection to PostgreSQL.',
      emails: 'Not checked: there is no connection to PostgreSQL.',
      clocks: 'Not checked: no store has answered.',
      distance: 'Not checked: no store has answered.',
    });
  });

  it('checks the Redis of options of which others are refused', async () => {
    place.write('exports.default = { redis: { url: process.env.REDIS_URL }, acessTtl: 1, users: {} };', 'options.js');
    const found = await report('options.js');
    expect(problemsOf(found)).toEqual([expect.stringMatching(/^error options: acessTtl is not an option/)]);
    expect(found.checks).toContainEqual(expect.objectContaining({ check: 'redis', status: 'ok' }));
    expect(found.stdout).not.toContain(PASSWORD);
  });

  it('checks an application in memory, a mail server, cookies and a proxy', async () => {
    place.write("// app.set('trust proxy', 1);\napp.listen(3000);", 'main.js');
    writeModule(
      `{ cookieMode: true, cookie: { secure: false }, ...${JSON.stringify(SOUND)},
         mail: { mailer: require('@svc/auth').nodemailerMailer('smtp://me:mail-password@127.0.0.1:1', 'a@example.com') } }`,
    );
    process.env.NODE_ENV = 'test';
    const found = await report('app.module.js');
    expect(problemsOf(found)).toEqual([
      expect.stringMatching(/^warning cookies: cookie\.secure \(SVC_COOKIE_SECURE\) is false/),
      expect.stringMatching(/^error mail: No mail can be sent: .*ECONNREFUSED.*mail\.mailer/),
      expect.stringMatching(/^warning production: .*[^]*cookie\.secure[^]*Neither redis\.url/),
      expect.stringMatching(/^warning redis: Neither redis\.url \(SVC_REDIS_URL\) nor cache is set/),
    ]);
    expect(found.checks).toContainEqual(expect.objectContaining({ check: 'proxy', status: 'skipped' }));
    expect(found.stdout).not.toContain('mail-password');
  });

  it('hides a secret in the error of another library', async () => {
    setEnvironment({ SMTP_PASSWORD: 'mail-password-0123', HTTP_PROXY: 'http://me:proxy-100%25%@127.0.0.1' });
    writeModule(
      `{ redis: { url: process.env.REDIS_URL }, ...${JSON.stringify(SOUND)},
         mail: { mailer: { send: async () => null, verify: async () => { throw new Error('AUTH PLAIN mail-password-0123 ${SECRET} proxy-100%25%'); } } } }`,
    );
    const found = await report('app.module.js');
    expect(problemsOf(found)).toEqual([expect.stringContaining('No mail can be sent: AUTH PLAIN *** *** ***')]);
  });

  it('hides secrets in the errors of a file of the host', async () => {
    setEnvironment({ SMTP_PASS: 'smtp-pass-0123' });
    place.write(`throw new Error('no mail: smtp-pass-0123')`, 'app.module.js');
    expect(problemsOf(await report('app.module.js'))).toEqual([
      expect.stringMatching(/^error start: .*app\.module\.js cannot be loaded: no mail: \*\*\* $/),
    ]);
  });

  it('keeps its findings if the application does not close, and prints the error without its secrets', async () => {
    writeModule(withRedis());
    // As an error of a hook does in Nest 11. Nest 12 logs it.
    const { close } = NestApplicationContext.prototype;
    jest.spyOn(NestApplicationContext.prototype, 'close').mockImplementation(async function (this: typeof close) {
      await close.call(this as never);
      throw new Error(`closed: ${SECRET}`);
    } as typeof close);
    const found = await report('app.module.js');
    expect(problemsOf(found)).toEqual([
      'warning start: The application does not close without an error: closed: *** Correct its hooks of the shutdown ' +
        '(onApplicationShutdown).',
    ]);
    expect(found.checks).toContainEqual(expect.objectContaining({ check: 'redis', status: 'ok' }));
  });

  it('keeps its findings if a check fails', async () => {
    place.write(
      `const cache = { on() {}, masters: [{}], getSlotMaster: () => null, sendCommand: async () => null, isOpen: true,
         nodeClient: async () => { throw new Error('no node'); } };
       const { clusterStore } = require(${JSON.stringify(CLUSTER)});
       exports.default = { secret: '${SECRET}', users: {}, cache: clusterStore(cache) };`,
      'options.js',
    );
    const found = await report('options.js');
    expect(problemsOf(found)).toContain('error redis: The check was not possible: no node ');
    expect(found.checks).toContainEqual(expect.objectContaining({ check: 'postgres', status: 'ok' }));
  });

  const pair = (): [publicKey: string, privateKey: string] => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return [publicKey, privateKey].map((key, i) =>
      String(key.export({ type: i ? 'pkcs8' : 'spki', format: 'pem' })),
    ) as [string, string];
  };

  it('compares the keys with those that the running application publishes', async () => {
    const [publicKey, privateKey] = pair();
    writeModule(withRedis({ algorithm: 'ES256', keys: { private: privateKey, public: { default: publicKey } } }));
    let keys: object[] | undefined = [];
    let status = 200;
    const server = createServer((_, response) => void response.writeHead(status).end(JSON.stringify({ keys })));
    await new Promise((ready) => void server.listen(0, '127.0.0.1', () => ready(undefined)));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const found = await report('app.module.js', '--url', url);
    expect(problemsOf(found)[0]).toMatch(/^error jwks: .*lists no key, as with HS256, .*uses ES256\. Deploy the same/);
    keys = [{ kid: 'other' }];
    expect(problemsOf(await report('app.module.js', '--url', url))[0]).toMatch(
      /^error jwks: .*does not list the key "default".*Deploy the same/,
    );
    const { createPublicKey } = await import('node:crypto');
    keys = [{ ...createPublicKey(publicKey).export({ format: 'jwk' }), kid: 'default' }];
    expect(problemsOf(await report('app.module.js', '--url', url))).toEqual([]);
    status = 404;
    expect(problemsOf(await report('app.module.js', '--url', url))[0]).toMatch(/jwks cannot be read: HTTP 404 /);
    status = 200;
    keys = undefined;
    expect(problemsOf(await report('app.module.js', '--url', url))[0]).toMatch(/read: the answer is no key set /);
    server.close();
    expect(found.stdout).not.toContain('BEGIN PRIVATE KEY');
  });

  describe('without an application', () => {
    it('checks the environment: its options, and both stores', async () => {
      setEnvironment({
        SVC_SECRET: SECRET,
        SVC_REDIS_URL: redisUrl(),
        SVC_ISSUER: SOUND.issuer,
        SVC_AUDIENCE: 'x',
        SVC_ACCES_TTL: '1',
      });
      const found = await report();
      expect(problemsOf(found)).toEqual([
        expect.stringMatching(/^warning variables: SVC_ACCES_TTL is not a variable.*SVC_ACCESS_TTL/),
      ]);
      expect(found.stdout).not.toContain(SECRET);
    });

    it('says that it does not check PostgreSQL without an address', async () => {
      setEnvironment({ SVC_SECRET: SECRET, SVC_REDIS_URL: redisUrl(), DATABASE_URL: '' });
      expect((await report()).checks).toContainEqual({
        check: 'postgres',
        status: 'skipped',
        message: 'DATABASE_URL is not set, so PostgreSQL is not checked.',
      });
    });

    it('checks the options that a file exports, also by a function', async () => {
      place.write("exports.default = async () => ({ algorithm: 'RS256', users: {}, audience: [] });", 'options.js');
      const found = await report('options.js');
      expect(problemsOf(found)).toContainEqual(expect.stringMatching(/^error keys: keys\.active \(SVC_ACTIVE_KID\)/));
    });

    it('names the guard of each key, also beside a guard with an invalid key pair', async () => {
      const keys = { private: pair()[1], public: { default: pair()[0] } };
      const staff = { algorithm: 'HS256', secret: '0123456789abcdef'.repeat(4), path: 'staff', users: {} };
      const options = { algorithm: 'ES256', keys, users: {}, guards: { staff } };
      place.write(`exports.default = ${JSON.stringify(options)};`, 'options.js');
      const { checks } = await report('options.js');
      const ofKeys = checks
        .filter(({ check, status }) => check === 'keys' && status === 'ok')
        .map(({ message }) => message);
      expect(ofKeys).toEqual([
        'The guard "staff" uses HS256 with a secret of 64 characters, which is hexadecimal and has at most 256 bits.',
      ]);
    });

    it('prints a result for options that contradict each other', async () => {
      place.write("exports.default = { redis: { url: 'redis://localhost' }, cache: {}, users: {} };", 'options.js');
      const found = await report('options.js');
      expect(problemsOf(found)).toEqual([
        expect.stringMatching(/^error options: redis\.url \(SVC_REDIS_URL\) and cache are both set/),
      ]);
      expect(found.checks).toContainEqual(expect.objectContaining({ check: 'postgres', status: 'ok' }));
    });

    it.each<[string, string[], RegExp]>([
      ['the file does not exist', ['dist/none.js'], /There is no file dist\/none\.js\. Build the application first/],
      // Tests load `.ts` files in this process, so that one would be loaded.
      ['the file is not compiled', ['app.module.cts'], /is not compiled\. Name its compiled file/],
      ['the file exports nothing', ['empty.js'], /exports nothing\. Name the export/],
      ['there is no such export', ['empty.js', '--export', 'App'], /has no export App/],
      ['an option is unknown', ['--jsn'], /Unknown option '--jsn'/],
      ['there are two files', ['a.js', 'b.js'], /One file is expected/],
      ['the env file does not exist', ['--env', 'prod.env'], /There is no env file prod\.env/],
    ])('exits with 2 if %s', async (_, args, message) => {
      place.write('', 'app.module.cts');
      place.write('', 'empty.js');
      const { status, stdout, stderr } = await run('doctor', ...args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(message);
    });
  });

  async function redisCommand(...words: string[]): Promise<void> {
    const { createClient } = await import('@redis/client');
    const client = await createClient({ url: redisUrl() }).connect();
    await client.sendCommand(words);
    await client.disconnect();
  }
});
