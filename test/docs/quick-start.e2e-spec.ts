import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { once } from 'node:events';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuthConsoleModule } from '@svc/auth/console';
import { freePort } from '../../apps/sample/src/dev/embedded-postgres';
import { runInProcess } from '../console/in-process';
import { createEmptyDatabase } from '../support/stores/database';
import { send } from '../support/hosts/processes';
import { describeWithOwnRedis } from '../support/stores/with-redis';
import { RedisServer } from '../support/stores/redis';
import { ROOT, blocksOf, fileOf, filesOf } from './blocks';
import { LOADER, built, generated } from './built';
import { unformatted } from './formatted';

const PAGE = 'docs/quick-start.md';
const files = filesOf(PAGE);

/** The console of `docs/console.md`. */
const CONSOLE = {
  file: 'src/console.ts',
  text: blocksOf('docs/console.md').find((block) => fileOf(block) === 'src/console.ts')!.text,
};

/** The same console for an application that closes nothing: a Redis client, a pool of PostgreSQL and a timer. */
const LEAKY_CONSOLE = {
  file: 'src/leaky-console.ts',
  text: CONSOLE.text
    .replace(
      'void AuthConsoleModule',
      `void createClient({ url: process.env.REDIS_URL }).connect();
     void new Pool({ connectionString: process.env.DATABASE_URL }).query('SELECT 1');
     setInterval(() => undefined, 1000);
     void AuthConsoleModule`,
    )
    .replace('import', "import { createClient } from '@redis/client';\nimport { Pool } from 'pg';\nimport"),
};

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() && !line.startsWith('//'));

/** The lines of a file that `nest new` does not generate. */
function written({ file, text }: { file: string; text: string }): string[] {
  let there: string[] = [];
  try {
    there = linesOf(generated(file).replaceAll(/'(\.\/[\w.]+)'/g, "'$1.js'"));
  } catch {
    // `nest new` does not generate the file, so all its lines count.
  }
  return linesOf(text).filter((line) => {
    const at = there.indexOf(line);
    if (at >= 0) there.splice(at, 1);
    return at < 0;
  });
}

/** Compiles the page's files and the generated ones. */
const build = (): string =>
  built([...files, { file: 'src/main.ts', text: generated('src/main.ts') }, CONSOLE, LEAKY_CONSOLE]);

describe('the quick start', () => {
  it('adds less than forty lines to those that `nest new` generates, including imports', () => {
    const lines = files.flatMap(written);
    expect(files.map(({ file }) => file)).toEqual(['src/users.ts', 'src/app.module.ts', 'src/app.controller.ts']);
    expect(lines.length).toBeGreaterThan(25);
    expect(lines.length).toBeLessThan(40);
  });

  // With the code: what a reader of one tab of each group reads.
  it.each(['TypeORM', 'Prisma', 'Drizzle'])('has at most 500 words on its straight path: %s', (choice) => {
    const [path = ''] = readFileSync(join(ROOT, PAGE), 'utf8').split('## Notes');
    const groups = path.matchAll(/<!-- tabs -->(.*?)<!-- \/tabs -->/gs);
    let read = path;
    for (const [group, content] of groups) {
      const tabs = content!.split(/^(?=\*\*.+\*\*$)/m).slice(1);
      const isOfStore = tabs.some((tab) => tab.startsWith('**Prisma**'));
      read = read.replace(group, tabs.find((tab) => tab.startsWith(`**${choice}**`)) ?? (isOfStore ? '' : tabs[0]!));
    }
    const words = read.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
    expect(words.length).toBeGreaterThan(300);
    expect(words.length).toBeLessThanOrEqual(500);
  });
});

describe('the files that a page shows for a new application', () => {
  const pages = ['docs/quick-start.md', 'docs/recipes/prisma.md', 'docs/recipes/drizzle.md'];
  let shown: Record<string, { file: string; text: string }[]>;
  let changed: string[];

  // One process of prettier for all pages. Each page has a folder.
  beforeAll(() => {
    shown = Object.fromEntries(
      pages.map((name) => [name, filesOf(name).map(({ file, text }) => ({ file: join(name, file), text }))]),
    );
    changed = unformatted(Object.values(shown).flat());
  });

  it.each(pages)('are as its prettier formats them: %s', (name) => {
    expect(shown[name]!.length).toBeGreaterThan(2);
    expect(changed.filter((file) => file.startsWith(`${name}/`))).toEqual([]);
  });
});

describeWithOwnRedis('the application of the quick start', () => {
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let redis: RedisServer;
  let folder: string;
  let child: ChildProcess;
  let url: string;
  let env: NodeJS.ProcessEnv;
  let output = '';

  beforeAll(async () => {
    [database, redis] = await Promise.all([createEmptyDatabase(), RedisServer.start()]);
    folder = build();
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    env = {
      PATH: process.env.PATH!,
      PORT: String(port),
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      SVC_SECRET: randomBytes(32).toString('hex'),
    };
    child = spawn(process.execPath, ['--require', LOADER, 'dist/main.js'], { cwd: folder, env });
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
    while ((await fetch(url).catch(() => null)) === null) {
      if (child.exitCode !== null) throw new Error(`the application exited: ${output}`);
      await sleep(50);
    }
  });
  afterAll(async () => {
    child.kill('SIGKILL');
    await redis.stop();
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  it('registers, signs in, guards its route, refreshes and signs out', async () => {
    const [email, password] = [`${randomUUID()}@example.com`, 'a horse with wings'];
    const account = { name: 'Ada', email, password, password_confirmation: password };
    expect((await send(`${url}/auth/register`, 'POST', account)).status).toBe(200);
    const { status, body: first } = await send(`${url}/auth/login`, 'POST', { email, password });
    expect([status, Object.keys(first).toSorted()]).toEqual([
      200,
      ['access_token', 'expires_in', 'refresh_token', 'token_type'],
    ]);

    const hello = async (token?: string): Promise<[number, string]> => {
      const answer = await fetch(`${url}/hello`, { headers: token ? { Authorization: `Bearer ${token}` } : {} });
      return [answer.status, await answer.text()];
    };
    expect((await hello())[0]).toBe(401);
    expect(await hello(first.access_token)).toEqual([200, 'Hello, Ada!']);

    const renewed = await send(`${url}/auth/refresh`, 'POST', { refresh_token: first.refresh_token });
    expect(renewed.status).toBe(200);
    expect((await hello(renewed.body.access_token))[0]).toBe(200);
    expect((await send(`${url}/auth/logout`, 'POST', undefined, renewed.body.access_token)).status).toBe(204);
    expect((await hello(renewed.body.access_token))[0]).toBe(401);
    expect(output).not.toContain('ERROR');
  });

  /** Runs a program of the application to its end. `status` is null if it does not end. */
  async function ran(...args: string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
    const program = spawn(process.execPath, ['--require', LOADER, ...args], { cwd: folder, env, timeout: 240_000 });
    const [stdout, stderr, [status]] = await Promise.all([
      textOf(program.stdout),
      textOf(program.stderr),
      once(program, 'close') as Promise<[number | null]>,
    ]);
    return { status, stdout, stderr };
  }

  /** Runs the same program in this process, which has loaded the library: a start costs a second. */
  async function ranHere(file: string, ...args: string[]): ReturnType<typeof ran> {
    const run = jest.spyOn(AuthConsoleModule, 'run');
    const main = async (): Promise<void> => {
      Object.assign(process.env, env);
      jest.isolateModules(() => require(join(folder, file)));
      await run.mock.results[0]!.value;
    };
    const ended = await runInProcess(main, args, { directory: folder });
    // Applications of other tests in this process have the same name for their data source.
    return { ...ended, stdout: ended.stdout.replaceAll(/^.*DataSourceNameRegistry.*\n/gm, '') };
  }

  it.each<[string, string, string[], number, RegExp, RegExp, typeof ran?]>([
    ['', 'console', ['svc:prune'], 0, /^sessions: 0\nlockout counters: 0\n/, /^$/, ranHere],
    ['', 'console', ['svc:release', 'bob@example.com'], 1, /^$/, /^Nothing was released/, ranHere],
    [
      '',
      'console',
      ['svc:verification-link', 'bob@example.com'],
      1,
      /^$/,
      /^features\.emailVerification is off/,
      ranHere,
    ],
    ['', 'console', ['svc:keygen'], 0, /SVC_ALGORITHM=ES256/, /^$/, ranHere],
    [', although it closes nothing that it opened', 'leaky-console', ['svc:prune'], 0, /^sessions: 0\n/, /^$/],
    [
      ', although it closes nothing that it opened',
      'leaky-console',
      ['svc:prune', '--lockout-days=x'],
      1,
      /^$/,
      /is no number/,
    ],
  ])(
    'runs the command of its console%s, and ends: dist/%s.js %j exits with %i',
    async (_, file, args, status, stdout, stderr, run = ran) => {
      const ended = await run(`dist/${file}.js`, ...args);
      expect(ended).toEqual({ status, stdout: expect.stringMatching(stdout), stderr: expect.stringMatching(stderr) });
    },
  );

  it('has no error for `npx svc-auth doctor`, which names the rest of the way to production', async () => {
    const cli = join(ROOT, 'libs/auth/src/tools/cli/main.ts');
    const { status, stdout, stderr } = await ran(cli, 'doctor');
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    expect(stdout).toMatch(/^Checked: .*dist\/app\.module\.js\n/);
    expect(stdout).toMatch(/Errors: 0\. Warnings: 2\.\n$/);
    expect(stdout).toMatch(/^warning +production .*\n.*issuer \(SVC_ISSUER\)/m);
    expect(stdout).toMatch(/^warning +redis +appendonly is off/m);
    expect(stdout).not.toContain(env.SVC_SECRET);
  });
});
