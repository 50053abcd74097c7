import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { type Ended, runInProcess } from '../../../../../test/console/in-process';
import { WorkingDirectory } from '../../../../../test/console/working-directory';
import { ROOT, blocksOf, fileOf } from '../../../../../test/docs/blocks';
import { consoleCommands } from '../../../../../test/docs/console-commands';
import { unformatted } from '../../../../../test/docs/formatted';
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

  const run = (...args: string[]): Promise<Ended> => {
    const main = (): Promise<unknown> => {
      process.env.USER = 'ada';
      return runCli(['init', ...args]);
    };
    return runInProcess(main, args, place);
  };
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
      DATABASE_URL: 'postgres://ada@localhost/hello',
      REDIS_URL: 'redis://localhost:6379',
      SVC_SECRET: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(read('.gitignore')).toBe('node_modules\n.env\n');
    expect(stdout).not.toContain(parseEnv(read('.env')).SVC_SECRET);
  });

  it.each<'' | '.js'>(['', '.js'])('writes code as the prettier of the application formats it (%j)', async (end) => {
    newApplication(end);
    await run();
    const files = ['src/users.ts', 'src/app.module.ts'].map((file) => ({ file, text: read(file) }));
    expect(unformatted(files)).toEqual([]);
  });

  it('creates a .gitignore where there is none, because a folder above can be the repository', async () => {
    newApplication();
    rmSync(place.path('.gitignore'));
    expect((await run()).stdout).toContain('\ncreated .gitignore\n');
    expect(read('.gitignore')).toBe('.env\n');
  });

  it.each<[string, string, string, string]>([
    ['.env', 'node_modules', '', 'node_modules\n.env\n'],
    ['./.env', '', '', '.env\n'],
    ['config/.env', '*.log\r\n', '', '*.log\r\nconfig/.env\r\n'],
    ['.env.local', '.env\n*.env\n', '', '.env\n*.env\n.env.local\n'],
    ['.env', '.env\n!.env\n', '', '.env\n!.env\n.env\n'],
    ['.env', '.env*\n!.env.example\n', 'not ', '.env*\n!.env.example\n'],
    ['config/.env', '**/.env\n', 'not ', '**/.env\n'],
    ['[a] #1.env', '', '', '\\[a\\]\\ \\#1.env\n'],
  ])('adds the env file %s to the .gitignore %j, where it is %signored', async (file, before, not, after) => {
    newApplication();
    place.write(before, '.gitignore');
    const { stdout } = await run('--env', file);
    expect(stdout.includes('changed .gitignore')).toBe(not === '');
    expect(read('.gitignore')).toBe(after);
    // As git reads it. Without git there is no status.
    const git = (...args: string[]) => spawnSync('git', args, { cwd: place.directory, encoding: 'utf8' });
    git('init', '--quiet');
    expect(git('check-ignore', '--verbose', file).status ?? 0).toBe(0);
    await run('--env', place.path(file));
    expect(read('.gitignore')).toBe(after);
  });

  it('generates a root module that loads the named env file, and names it in the next steps', async () => {
    newApplication();
    const { stdout } = await run('--env', './.env.local');
    expect(read('src/app.module.ts')).toContain("\nif (existsSync('.env.local')) process.loadEnvFile('.env.local');\n");
    expect(place.files).toContain('.env.local');
    expect(stdout).toMatch(/REDIS_URL in \.env\.local,[^]*svc-auth doctor --env \.env\.local\n/);
  });

  it('says if the env file is outside of the folder, where its .gitignore has no effect', async () => {
    newApplication();
    const outside = new WorkingDirectory();
    const { stdout } = await run('--env', outside.path('.env'));
    expect(stdout).toMatch(/\.\.\/.*\.env is outside of this folder\. Make sure that git ignores it\.\n/);
    expect([outside.files, read('.gitignore')]).toEqual([['.env'], 'node_modules\n']);
    outside.remove();
  });

  it('creates the env file for its owner only, and keeps the mode of one that exists, with a warning', async () => {
    newApplication();
    expect((await run()).stdout).not.toContain('chmod');
    const modeOf = (): number => statSync(place.path('.env')).mode & 0o777;
    expect(modeOf()).toBe(0o600);
    place.write('# mine\n');
    chmodSync(place.path('.env'), 0o644);
    expect((await run()).stdout).toContain(
      'Other users of this machine can read .env, which has secrets: chmod 600 .env',
    );
    expect(modeOf()).toBe(0o644);
  });

  it('keeps the bytes of files in another encoding', async () => {
    newApplication();
    const latin1 = Buffer.from('# caf\xe9\nNAME=M\xfcller\n', 'latin1');
    place.write(latin1);
    place.write(latin1, '.gitignore');
    await run();
    for (const file of ['.env', '.gitignore'])
      expect(readFileSync(place.path(file)).subarray(0, latin1.length)).toEqual(latin1);
  });

  it('keeps the endings of imports in an application in ESM', async () => {
    newApplication('.js');
    await run();
    expect(read('src/app.module.ts')).toContain("import { CreateUsers1795000000000, User } from './users.js';");
  });

  it.each<'' | '.js'>(['', '.js'])('prints the guarded controller of the quick start at the end (%j)', async (end) => {
    newApplication(end);
    const { stdout } = await run();
    expect(stdout.replaceAll(/'(\.\/\w+)'/g, "'$1.js'")).toContain(`\n\n${shown('src/app.controller.ts')}`);
    expect(stdout).toContain(`from './users${end}';`);
    expect(stdout).not.toContain('docs/');
  });

  it('changes nothing at a second run', async () => {
    newApplication();
    await run();
    const files = ['src/users.ts', 'src/app.module.ts', '.env', '.gitignore'];
    const before = files.map(read);
    expect((await run()).stdout).toMatch(/^Nothing to change\.\n/);
    expect(files.map(read)).toEqual(before);
    // The host has moved its users.
    rmSync(place.path('src/users.ts'));
    expect((await run()).stdout).toMatch(/^Nothing to change\.\n/);
  });

  it('keeps the values that an env file has, and adds the others', async () => {
    newApplication();
    place.write('# mine\nSVC_SECRET=kept\nDATABASE_URL=\n');
    await run();
    expect(read('.env')).toBe(
      '# mine\nSVC_SECRET=kept\nDATABASE_URL=postgres://ada@localhost/hello\nREDIS_URL=redis://localhost:6379\n',
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
    place.write('PAYMENT_KEY=sk_live_0123\nSVC_SECRET = of-the-application\nDATABASE_URL= # formerly db-password\n');
    const { stdout } = await run('--dry-run');
    expect(stdout).toContain('\n+DATABASE_URL=postgres://ada@localhost/hello\n');
    for (const text of ['PAYMENT_KEY', 'sk_live_0123', 'of-the-application', 'db-password'])
      expect(stdout).not.toContain(text);
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
    [
      'has an AuthModule of its own',
      (text) => `import { AuthModule } from './auth/auth.module';\n${text}`,
      /left as it is[^]*AuthModule is another one[^]*under another name[^]*import \{ AuthModule, authEntities/,
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
    for (const name of ['Customer', 'User']) {
      writeFileSync(place.path('src/users.ts'), `export class ${name} {}\n`);
      expect(await run()).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/src\/users\.ts exists.*by hand: https:\/\//),
      });
    }
    expect(place.files.toSorted()).toEqual(['.gitignore', 'package.json', 'src']);
  });

  it.each<[string, string, RegExp | null]>([
    [
      'src/users/user.entity.ts',
      "@Entity('users')\nexport class Account {}",
      /^src\/users\/user\.entity\.ts has an entity/,
    ],
    ['src/user.entity.ts', '@Entity()\nexport class User {}', /^src\/user\.entity\.ts has an entity of users/],
    ['src/user.ts', "@Entity({ name: 'user' })\nexport class UserEntity extends Base {}", /second table/],
    ['src/users.ts', "@Entity('users')\nexport class User {}", /src\/users\.ts exists/],
    ['src/order.ts', "@Entity('orders')\nexport class Order {}\nclass User {}", null],
    ['src/user.spec.ts', "@Entity('users')\nclass User {}", null],
  ])('makes no second table of users beside the one of %s: %j', async (file, text, message) => {
    newApplication();
    mkdirSync(place.path(join(file, '..')), { recursive: true });
    writeFileSync(place.path(file), text);
    const { status, stderr } = await run();
    if (message === null) return expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(message) });
    expect(read('src/app.module.ts')).toBe(generated(''));
    expect(place.files).not.toContain('.env');
  });

  it('says how to keep an existing table of users, with the verifier of its hashes', async () => {
    newApplication();
    place.write('{ "dependencies": { "bcryptjs": "^3.0.0" } }', 'package.json');
    writeFileSync(place.path('src/user.entity.ts'), "@Entity('users')\nexport class User {}");
    const { stderr } = await run();
    for (const line of [
      "  @Column({ name: 'password', type: 'text', nullable: true, select: false }) passwordHash?: string | null;\n",
      '  entities: [...authEntities, User],\n',
      '    hashing: { verifiers: [bcryptVerifier()] },\n',
      '/docs/recipes/moving-here.md#the-same-table',
    ])
      expect(stderr).toContain(line);
  });

  it.each<[string, string, () => void]>([
    ['.env is a folder', '.env is not a file', () => mkdirSync(place.path('.env'))],
    ['src/users.ts is a folder', 'src/users.ts is not a file', () => mkdirSync(place.path('src/users.ts'))],
    ['package.json is broken', 'package.json cannot be read as JSON', () => place.write('{ "name": ', 'package.json')],
  ])('changes nothing, and names the file, if %s', async (_, message, change) => {
    newApplication();
    change();
    const { status, stdout, stderr } = await run();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(read('src/app.module.ts')).toBe(generated(''));
  });
});

describe('svc-auth', () => {
  const place = new WorkingDirectory();
  const run = (...args: string[]): Promise<Ended> => runInProcess(() => runCli(args), args, place);
  afterAll(() => place.remove());

  it.each([[[]], [['--help']], [['help']]])('prints its commands with %j', async (args: string[]) => {
    const { status, stdout } = await run(...args);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^Usage: npx svc-auth[^]*secret[^]*keygen[^]*doctor[^]*init/),
    ]);
  });

  it.each([
    ['init', /^Usage: npx svc-auth init \[options\]\n\n {2}init [^]*--dry-run/, /doctor|keygen|secret/],
    [
      'doctor',
      /^Usage: npx svc-auth doctor \[file\] \[options\]\n\n {2}doctor \[file\] [^]*--json/,
      /keygen|--dry-run/,
    ],
  ])('prints the usage of one command: %s --help', async (name, usage, ofOthers) => {
    const { status, stdout } = await run(name, '--help');
    expect([status, stdout]).toEqual([0, expect.stringMatching(usage)]);
    expect(stdout).not.toMatch(ofOthers);
    expect((await run(name, '-h')).stdout).toBe(stdout);
  });

  it('lists every command of the console, and says how a host runs those on its data', async () => {
    const names = consoleCommands().flatMap((command) => /^svc:([\w-]+)$/.exec(command)?.[1] ?? []);
    const { stdout } = await run('--help');
    const listed = [...stdout.matchAll(/^ {2}(?:svc:)?([a-z][\w-]*)(?= |$)/gm)].map(([, name]) => name);
    expect(listed).toEqual(expect.arrayContaining(names));
    expect(names.length).toBeGreaterThan(5);
    for (const text of [
      'npm install nest-commander',
      'AuthConsoleModule.run(',
      'nest start --entryFile console -- svc:',
    ])
      expect(stdout).toContain(text);
    // The help of a mistyped command, or of one that needs the application, is the same.
    expect((await run('svc:prune')).stderr).toContain(stdout);
  });

  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'libs/auth/package.json'), 'utf8')) as { version: string };
    expect(await run('--version')).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' });
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
