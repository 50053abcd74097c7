import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { type Ended, runInProcess } from '../../../../../test/console/in-process';
import { WorkingDirectory } from '../../../../../test/console/working-directory';
import { blocksOf, fileOf } from '../../../../../test/docs/blocks';
import { runCli } from './commands';

/** The root module that `nest new` generates. `end` is the ending of imports: `.js` in ESM. */
const generated = (end: '' | '.js'): string => `import { Module } from '@nestjs/common';
import { AppController } from './app.controller${end}';
import { AppService } from './app.service${end}';

@Module({
  imports: [],
  controllers: [AppController],
  providers: [AppService],
})
export class AppModule {}
`;

const shown = (file: string): string =>
  blocksOf('docs/quick-start.md')
    .find((block) => fileOf(block) === file)!
    .text.replace(/^\/\/ .*\n/, '');

/** The lines of a text, without the order, which differs for imports. */
const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.trim())
    .toSorted();

describe('svc-auth init', () => {
  let place: WorkingDirectory;

  const run = (...args: string[]): Promise<Ended> => runInProcess(() => runCli(['init', ...args]), args, place);
  const read = (file: string): string => readFileSync(place.path(file), 'utf8');

  /** An application as `nest new` generates it. */
  function newApplication(end: '' | '.js' = ''): void {
    mkdirSync(place.path('src'));
    writeFileSync(place.path('src/app.module.ts'), generated(end));
    place.write('{ "name": "@acme/hello", "dependencies": { "@nestjs/core": "^12.0.1" } }', 'package.json');
    place.write('node_modules\n', '.gitignore');
  }

  beforeEach(() => (place = new WorkingDirectory()));
  afterEach(() => place.remove());

  it('makes the changes of the quick start', async () => {
    newApplication();
    const { status, stdout, stderr } = await run();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(
      /created src\/users\.ts\nchanged src\/app\.module\.ts\ncreated \.env\nchanged \.gitignore\n/,
    );
    expect(stdout).toMatch(/npm install @svc\/auth @nestjs\/jwt .*@redis\/client\n/);
    expect(read('src/users.ts')).toBe(shown('src/users.ts'));
    // The page removes the service that it no longer uses, and sets the variables in the shell.
    const besides = /AppService|existsSync|loadEnvFile/;
    const written = linesOf(read('src/app.module.ts').replaceAll(/'(\.\/[\w.]+)'/g, "'$1.js'"));
    expect(written.filter((line) => !besides.test(line))).toEqual(linesOf(shown('src/app.module.ts')));
    expect(parseEnv(read('.env'))).toEqual({
      DATABASE_URL: 'postgres://localhost/hello',
      REDIS_URL: 'redis://localhost:6379',
      SVC_SECRET: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(read('.gitignore')).toBe('node_modules\n.env\n');
    expect(stdout).not.toContain(parseEnv(read('.env')).SVC_SECRET);
  });

  it('creates no .gitignore where there is none', async () => {
    newApplication();
    rmSync(place.path('.gitignore'));
    await run();
    expect(place.files.toSorted()).toEqual(['.env', 'package.json', 'src']);
  });

  it('keeps the endings of imports in an application in ESM', async () => {
    newApplication('.js');
    await run();
    expect(read('src/app.module.ts')).toContain("import { CreateUsers1795000000000, User } from './users.js';");
  });

  it('changes nothing at a second run', async () => {
    newApplication();
    await run();
    const files = ['src/users.ts', 'src/app.module.ts', '.env', '.gitignore'];
    const before = files.map(read);
    expect((await run()).stdout).toMatch(/^Nothing to change\.\n/);
    expect(files.map(read)).toEqual(before);
  });

  it('keeps the values that an env file has, and adds the others', async () => {
    newApplication();
    place.write('# mine\nSVC_SECRET=kept\nDATABASE_URL=\n');
    await run();
    expect(read('.env')).toBe(
      '# mine\nSVC_SECRET=kept\nDATABASE_URL=postgres://localhost/hello\nREDIS_URL=redis://localhost:6379\n',
    );
  });

  it('prints the changes and writes nothing with --dry-run', async () => {
    newApplication();
    const { status, stdout } = await run('--dry-run');
    expect([status, place.files.toSorted()]).toEqual([0, ['.gitignore', 'package.json', 'src']]);
    expect(read('src/app.module.ts')).toBe(generated(''));
    expect(stdout).toMatch(/^--- \(new\)\n\+\+\+ src\/users\.ts\n\+import \{ withAuthColumns \}/);
    expect(stdout).toContain("\n+if (existsSync('.env')) process.loadEnvFile();\n");
    expect(stdout).toContain('\n-  imports: [],\n+  imports: [\n');
    expect(stdout).toContain('+    AuthModule.forRoot({');
    expect(stdout).toContain('+SVC_SECRET=(a new secret)');
  });

  it('prints no line of an existing env file with --dry-run', async () => {
    newApplication();
    place.write('PAYMENT_KEY=sk_live_0123\nSVC_SECRET=of-the-application\n');
    const { stdout } = await run('--dry-run');
    expect(stdout).toContain('\n+DATABASE_URL=');
    for (const text of ['PAYMENT_KEY', 'sk_live_0123', 'of-the-application']) expect(stdout).not.toContain(text);
  });

  it.each<[string, (text: string) => string, RegExp]>([
    [
      'has other imports',
      (text) => text.replace('imports: []', 'imports: [OrdersModule]'),
      /not as nest new generates/,
    ],
    [
      'has no imports',
      (text) => text.replace('  imports: [],\n', ''),
      /Add these lines yourself:[^]*AuthModule\.forRoot/,
    ],
    ['has a data source', (text) => `import { TypeOrmModule } from '@nestjs/typeorm';\n${text}`, /left as it is/],
  ])('changes no file if the root module %s, and prints the lines to add', async (_, change, message) => {
    newApplication();
    writeFileSync(place.path('src/app.module.ts'), change(generated('')));
    const { status, stdout, stderr } = await run();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(message);
    expect(place.files.toSorted()).toEqual(['.gitignore', 'package.json', 'src']);
  });

  it('changes no file outside a Nest application, or if src/users.ts is another file', async () => {
    expect(await run()).toMatchObject({ status: 1, stderr: expect.stringMatching(/There is no src\/app\.module\.ts/) });
    newApplication();
    writeFileSync(place.path('src/users.ts'), 'export class Customer {}\n');
    expect(await run()).toMatchObject({ status: 1, stderr: expect.stringMatching(/src\/users\.ts exists/) });
    expect(place.files.toSorted()).toEqual(['.gitignore', 'package.json', 'src']);
  });
});

describe('svc-auth', () => {
  const place = new WorkingDirectory();
  const run = (...args: string[]): Promise<Ended> => runInProcess(() => runCli(args), args, place);
  afterAll(() => place.remove());

  it.each([[[]], [['--help']], [['doctor', '--help']]])('prints its commands with %j', async (args: string[]) => {
    const { status, stdout } = await run(...args);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^Usage: npx svc-auth[^]*secret[^]*keygen[^]*doctor[^]*init/),
    ]);
  });

  it('refuses another command', async () => {
    expect(await run('docter')).toMatchObject({ status: 1, stderr: expect.stringMatching(/"docter" is no command/) });
  });

  it('makes secrets and key pairs as the console does', async () => {
    expect(await run('secret', '--show')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^[0-9a-f]{64}\n$/),
    });
    expect(await run('secret')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/There is no env file \.env/),
    });
    place.write('SVC_SECRET=old\n');
    expect(await run('secret')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/Overwrite it with: --force/),
    });
    expect(await run('secret', '-f')).toMatchObject({ status: 0, stdout: 'SVC_SECRET is set in .env.\n' });
    const { status, stdout } = await run('keygen', '--algorithm', 'RS256', '--kid', 'k1');
    expect([status, stdout]).toEqual([0, expect.stringMatching(/SVC_ALGORITHM=RS256\nSVC_ACTIVE_KID=k1\n/)]);
    expect(await run('keygen', '--algorithm=EdDSA')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/Use one of: ES256, RS256/),
    });
  });
});
