import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as ts from 'typescript';
import { freePort } from '../../apps/sample/src/dev/embedded-postgres';
import { createEmptyDatabase } from '../support/database';
import { send } from '../support/processes';
import { describeWithOwnRedis } from '../support/with-redis';
import { RedisServer } from '../support/redis';
import { ROOT, blocksOf, fileOf } from './blocks';

/** A file that `nest new` generates (`@nestjs/schematics` 12.0.6). */
const generated = (file: string): string => readFileSync(join(__dirname, 'nest-new', `${file}.txt`), 'utf8');

const page = blocksOf('docs/quick-start.md');
const files = page.flatMap((block) => (fileOf(block) ? [{ file: fileOf(block)!, text: block.text }] : []));

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

/** Compiles the page's files and the generated ones with the generated settings. */
function build(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-hello-'));
  const { compilerOptions } = ts.parseConfigFileTextToJson('tsconfig.json', generated('tsconfig.json')).config;
  const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, folder);
  for (const { file, text } of [...files, { file: 'src/main.ts', text: generated('src/main.ts') }]) {
    const target = join(folder, file.replace(/^src/, 'dist').replace(/ts$/, 'js'));
    mkdirSync(dirname(target), { recursive: true });
    // The generated application is CommonJS, because its package.json sets no type.
    const compilation = { ...options, module: ts.ModuleKind.CommonJS, moduleResolution: undefined };
    writeFileSync(target, ts.transpileModule(text, { compilerOptions: compilation, fileName: file }).outputText);
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

describe('the quick start', () => {
  it('adds less than forty lines to those that `nest new` generates, including imports', () => {
    const lines = files.flatMap(written);
    expect(files.map(({ file }) => file)).toEqual(['src/users.ts', 'src/app.module.ts', 'src/app.controller.ts']);
    expect(lines.length).toBeGreaterThan(25);
    expect(lines.length).toBeLessThan(40);
  });
});

describeWithOwnRedis('the application of the quick start', () => {
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let redis: RedisServer;
  let folder: string;
  let child: ChildProcess;
  let url: string;
  let output = '';

  beforeAll(async () => {
    [database, redis] = await Promise.all([createEmptyDatabase(), RedisServer.start()]);
    folder = build();
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    // The package name resolves to the source of the library.
    const library = join(ROOT, 'test/support/register-ts.cjs');
    child = spawn(process.execPath, ['--require', library, 'dist/main.js'], {
      cwd: folder,
      env: {
        PATH: process.env.PATH!,
        PORT: String(port),
        DATABASE_URL: database.url,
        REDIS_URL: redis.url,
        SVC_SECRET: randomBytes(32).toString('hex'),
      },
    });
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
    while ((await fetch(url).catch(() => null)) === null) {
      if (child.exitCode !== null) throw new Error(`the application exited: ${output}`);
      await sleep(50);
    }
  }, 60_000);
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
});
