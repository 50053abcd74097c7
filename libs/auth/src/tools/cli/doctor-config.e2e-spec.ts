import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Ended, runInProcess } from '../../../../../test/console/in-process';
import { WorkingDirectory } from '../../../../../test/console/working-directory';
import { SECRET } from '../../../../../test/support/hosts/host.module';
import { runCli } from './commands';
import type { Finding } from './config-checks';

describe('svc-auth doctor, on the configuration', () => {
  let place: WorkingDirectory;

  beforeEach(() => {
    place = new WorkingDirectory();
    place.write('DATABASE_URL=\n');
    place.write(`exports.default = { secret: '${SECRET}', users: {} };`, 'options.js');
  });
  afterEach(() => place.remove());

  const run = (...args: string[]): Promise<Ended> =>
    runInProcess(() => runCli(['doctor', 'options.js', ...args]), args, place);

  /** The finding of a check, as a text. */
  async function found(check: string, ...args: string[]): Promise<string> {
    const { stdout } = await run('--json', ...args);
    const { checks } = JSON.parse(stdout) as { checks: Finding[] };
    const { status, message, cure = '' } = checks.find((one) => one.check === check)!;
    return `${status}: ${message} ${cure}`;
  }

  it.each([
    ['https://me:a-password@api.example.com', '--url has a user or a password'],
    ['https://a-password@api.example.com', '--url has a user or a password'],
    ['a-password', '--url is no http(s) URL'],
  ])('refuses --url %s, and does not print it', async (url, message) => {
    const { status, stdout, stderr } = await run('--url', url);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('a-password');
  });

  it('says which algorithms differ if the running application publishes keys, and this one signs with a secret', async () => {
    const server = createServer((_, response) => void response.end(JSON.stringify({ keys: [{ kid: 'k1' }] })));
    await new Promise((ready) => void server.listen(0, '127.0.0.1', () => ready(undefined)));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await found('jwks', '--url', url)).toMatch(
      /^error: .* lists 1 keys, but this configuration signs with a secret \(HS256\)\. Deploy the same algorithm \(SVC_ALGORITHM\)/,
    );
    server.close();
  });

  it.each([
    ['/api', /^ok: http.*\/api\/auth\/jwks lists 0 keys/],
    ['/api/', /^ok: http.*\/api\/auth\/jwks lists 0 keys/],
    ['', /^error: .*\/auth\/jwks cannot be read: HTTP 404 Check --url, which ends with the global prefix/],
  ])('reads the key set of an application with a global prefix at --url …%s', async (prefix, finding) => {
    const server = createServer(({ url }, response) => {
      response.statusCode = url === '/api/auth/jwks' ? 200 : 404;
      response.end('{"keys":[]}');
    });
    await new Promise((ready) => void server.listen(0, '127.0.0.1', () => ready(undefined)));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await found('jwks', '--url', origin + prefix)).toMatch(finding);
    server.close();
  });

  const LINK = {
    encryption: { key: SECRET.toUpperCase() },
    features: { passwordReset: true },
    passwordReset: { frontendUrl: 'http://localhost/reset' },
  };
  const MAILER = '{ mailer: { send: async () => null } }';

  it.each<[string, string, RegExp]>([
    ['a feature without what it needs', '{ features: { emailChange: true } }', /options: .*emailChange needs/],
    [
      'a guard without users',
      "{ guards: { admin: { audience: 'a', path: 'admin' } } }",
      /options: guards\.admin\.users is/,
    ],
    ['a cache that is a URL', "{ cache: 'redis://localhost' }", /options: cache is a URL\./],
    ['a cache that stores nothing', '{ cache: { get() {}, set() {}, del() {} } }', /options: cache is no store/],
    [
      'a mailed link over http',
      `{ ...${JSON.stringify(LINK)}, mail: ${MAILER} }`,
      /options: passwordReset\.frontendUrl .*must use https/,
    ],
    [
      'refresh tokens without a root',
      "{ algorithm: 'ES256', secret: undefined }",
      /options: .*has no secret from which/,
    ],
    [
      'a schedule where only tokens are verified',
      "{ verifyOnly: true, retention: { schedule: '1 1 * * *' } }",
      /options: retention\.schedule \(SVC_PRUNE_SCHEDULE\) is set, but .*verifyOnly/,
    ],
    [
      'a schedule that is no cron expression',
      "{ retention: { schedule: 'nightly' } }",
      /options: retention\.schedule .*no cron/,
    ],
    ['two places for the tables', "{ pool: {}, dataSource: 'x' }", /options: The options pool and dataSource/],
    [
      'a variable that the options do not read',
      '{ issuer: process.env.SVC_ISSUER && undefined }',
      /options: issuer .*is the example.* SVC_ISSUER is set, but the options do not have its value: .*authOptionsFromEnv/,
    ],
  ])('reports %s in a file of options, as the start does', async (_, options, text) => {
    place.write('DATABASE_URL=\nSVC_ISSUER=https://a.example.org\n');
    place.write(
      `exports.default = { secret: '${SECRET}', users: { provider: class {} }, ...${options} };`,
      'options.js',
    );
    const args = ['doctor', 'options.js', '--json'];
    const main = (): Promise<unknown> => {
      process.env.NODE_ENV = 'production';
      return runCli(args);
    };
    const { checks } = JSON.parse((await runInProcess(main, args, place)).stdout) as { checks: Finding[] };
    const errors = checks
      .filter(({ status }) => status === 'error')
      .map(({ check, message }) => `${check}: ${message}`);
    expect(errors).toContainEqual(expect.stringMatching(text));
    expect(checks).toContainEqual(expect.objectContaining({ check: 'start', status: 'skipped' }));
  });

  it('prints one line for all checks that one failure prevents, and lists each of them in JSON', async () => {
    place.write('exports.default = { secret: 7, users: {} };', 'options.js');
    const { stdout } = await run();
    const { checks } = JSON.parse((await run('--json')).stdout) as { checks: Finding[] };
    const reason = 'Not checked: the application does not start, or its options are refused.';
    const names = checks.filter(({ message }) => message === reason).map(({ check }) => check);
    expect(names.length).toBeGreaterThan(4);
    expect(stdout.split(reason)).toHaveLength(2);
    const indent = ' '.repeat(20);
    expect(stdout).toContain(
      `skipped  ${`${names.length} checks`.padEnd(11)}${reason}\n${indent}${names.join(', ')}\n`,
    );
    // Those of another cause have their own line.
    expect(stdout).toMatch(/^skipped  postgres   DATABASE_URL is not set/m);
  });

  it.each<[string, string, boolean]>([
    ['a setting of Express', "app.set('trust proxy', 1);", true],
    ['a setting of Fastify', 'new FastifyAdapter({ trustProxy: true })', true],
    ['a setting that is enabled', "app.enable('trust proxy');", true],
    ['a setting in another file', "const { configure } = require('./configure');", true],
    ['a setting in no file', "const { options } = require('./options.js');", false],
    ['a comment in its own line', "// app.set('trust proxy', 1);", false],
    ['a comment behind code', "app.listen(3000); // app.set('trust proxy', 1);", false],
    ['a setting that is off', "app.set('trust proxy', false);", false],
    ['a setting of Fastify that is off', 'new FastifyAdapter({ trustProxy: false })', false],
    ['a setting that is disabled', "app.disable('trust proxy');", false],
  ])('reads %s of main.js: %s', async (_, code, isSet) => {
    place.write("exports.configure = (app) => app.set('trust proxy', 1);", 'configure.js');
    place.write(`const url = 'http://localhost';\n${code}\n`, 'main.js');
    expect(await found('proxy')).toMatch(isSet ? /^ok: main\.js sets/ : /^skipped: main\.js does not set/);
  });
});
