import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Ended, runInProcess } from '../../../../../test/console/in-process';
import { WorkingDirectory } from '../../../../../test/console/working-directory';
import { type TestDatabase, createDatabase, createEmptyDatabase, executed } from '../../../../../test/support/database';
import { ENCRYPTION_KEY, SECRET } from '../../../../../test/support/host.module';
import { RedisServer } from '../../../../../test/support/redis';
import { describeWithOwnRedis } from '../../../../../test/support/with-redis';
import type { Finding } from './config-checks';
import { runCli } from './commands';

const HOST = join(__dirname, '../../../../../test/support/host.module.ts');
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
    for (const check of ['node', 'start', 'options', 'keys', 'postgres', 'tables', 'indexes', 'clocks', 'redis'])
      expect(stdout).toMatch(new RegExp(`^ok +${check} `, 'm'));
    for (const secret of [SECRET, ENCRYPTION_KEY, PASSWORD]) expect(stdout).not.toContain(secret);
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

  it.each<[string, (url: URL) => void, RegExp]>([
    ['nothing listens', (url) => (url.port = '1'), /ECONNREFUSED.*Start PostgreSQL, or correct the host and the port/],
    ['the database does not exist', (url) => (url.pathname = '/none'), /"none" does not exist.*createdb/],
    [
      'the password is wrong',
      (url) => ([url.username, url.password] = ['mallory', 'db-password-0123']),
      /mallory.*Correct the user and the password in DATABASE_URL/,
    ],
  ])(
    'says what is wrong with DATABASE_URL if %s, and does not wait for the attempts of TypeORM',
    async (_, change, text) => {
      const url = new URL(database.url);
      change(url);
      setEnvironment({ DATABASE_URL: url.href });
      writeModule(withRedis());
      const found = await report('app.module.js');
      expect(problemsOf(found)[0]).toMatch(/^error postgres: No connection to PostgreSQL/);
      expect(problemsOf(found)[0]).toMatch(text);
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
      expect.stringMatching(/^warning indexes: operators\.email has no index/),
      expect.stringMatching(/^warning indexes: people\.email has no index/),
    ]);
    await own.drop();
  });

  it('names an index that is missing, and an identifier that is not unique', async () => {
    await executed(
      'DROP INDEX svc_sessions_live; ALTER TABLE people DROP CONSTRAINT people_email_key; CREATE INDEX ON people (lower(email))',
      database.url,
    );
    writeModule(withRedis());
    expect(problemsOf(await report('app.module.js'))).toEqual([
      expect.stringContaining(
        'error indexes: The index svc_sessions_live of svc_sessions is missing or invalid. CREATE INDEX svc_sessions_live ' +
          'ON "svc_sessions" (guard, user_id, created_at, id) WHERE revoked_at IS NULL;',
      ),
      expect.stringMatching(/^warning indexes: people\.email has no unique index: two users can have one identifier/),
    ]);
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
      expect.stringMatching(/^error options: redis\.url \(SVC_REDIS_URL\) could not be connected.*ECONNREFUSED/),
    ]);
    expect(away.stdout).not.toContain('wrong-password');
  });

  it('checks an application in memory, a mail server, cookies and a proxy', async () => {
    place.write('app.listen(3000);', 'main.js');
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

  it('compares the keys with those that the running application publishes', async () => {
    const pair = (): [string, string] => {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      return [publicKey, privateKey].map((key, i) =>
        String(key.export({ type: i ? 'pkcs8' : 'spki', format: 'pem' })),
      ) as [string, string];
    };
    const [publicKey, privateKey] = pair();
    writeModule(withRedis({ algorithm: 'ES256', keys: { private: privateKey, public: { default: publicKey } } }));
    let keys: object[] = [];
    const server = createServer((_, response) => void response.end(JSON.stringify({ keys })));
    await new Promise((ready) => void server.listen(0, '127.0.0.1', () => ready(undefined)));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const found = await report('app.module.js', '--url', url);
    expect(problemsOf(found)[0]).toMatch(/^error jwks: .*does not list the key "default".*Deploy the same/);
    const { createPublicKey } = await import('node:crypto');
    keys = [{ ...createPublicKey(publicKey).export({ format: 'jwk' }), kid: 'default' }];
    expect(problemsOf(await report('app.module.js', '--url', url))).toEqual([]);
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
      expect(problemsOf(found)[0]).toMatch(/^error options: keys\.active \(SVC_ACTIVE_KID\)/);
    });

    it.each<[string, string[], RegExp]>([
      ['the file does not exist', ['dist/none.js'], /There is no file dist\/none\.js\. Build the application first/],
      ['the file is not compiled', ['app.module.ts'], /is not compiled\. Name its compiled file/],
      ['the file exports nothing', ['empty.js'], /exports nothing\. Name the export/],
      ['there is no such export', ['empty.js', '--export', 'App'], /has no export App/],
      ['an option is unknown', ['--jsn'], /Unknown option '--jsn'/],
      ['there are two files', ['a.js', 'b.js'], /One file is expected/],
      ['the env file does not exist', ['--env-file', 'prod.env'], /There is no env file prod\.env/],
    ])('exits with 2 if %s', async (_, args, message) => {
      place.write('', 'app.module.ts');
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
