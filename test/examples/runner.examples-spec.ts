import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../../apps/sample/src/dev/embedded-postgres';
import { createEmptyDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { examples } from '../support/example-process';
import { ROOT, fillOnce, run } from '../support/package';
import { sharedRedisUrl } from '../support/shared-redis';

/** Runs `node examples/run.mjs` without the stores of the tests. */
function runner(args: readonly string[], variables: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(ROOT, 'examples/run.mjs'), ...args], {
    env: { PATH: process.env.PATH!, HOME: process.env.HOME!, ...variables },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'close').then(([code]) => code as number);
  return { child, ended, text: () => output };
}

/** Whether a server accepts connections at this address. */
const accepts = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.once('error', () => resolve(false)).once('connect', () => resolve(true));
    socket.once('connect', () => socket.end());
  });

describe('the runner of the examples', () => {
  it('starts an example with its own stores, and stops everything with Ctrl-C', async () => {
    const port = await freePort();
    const { child, ended, text } = runner(['minimal'], { PORT: String(port) });
    await eventually(async () => /^app: http/m.test(text()) || child.exitCode !== null, 240);
    const url = /^app: (\S+)$/m.exec(text())?.[1];
    expect([url, text()]).toEqual([expect.stringMatching(/^http:\/\/localhost:\d+$/), expect.any(String)]);
    expect((await fetch(`${url}/hello`)).status).toBe(401);
    const [, database, redis = database] = /database is (\S+?), its Redis (redis:\S+\w)?/.exec(text())!;
    const servers = [url!, database!, redis!];
    expect(await Promise.all(servers.map(accepts))).toEqual([true, true, true]);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(await Promise.all(servers.map(accepts))).toEqual([false, false, false]);
    expect(text()).not.toContain('ERROR');
    // The steps of a first run, such as `npm install`, are not repeated.
    expect(text()).toMatch(/^Installing and building minimal\.[^]*^- starting its stores\n[^]*^app: http/m);
  });

  it('uses the stores of its own variables only, and prints no password', async () => {
    const [database, redis] = [await createEmptyDatabase(), sharedRedisUrl()];
    // The servers of the tests accept every password. The database of DATABASE_URL can have a real one.
    const given = { database: new URL(database.url), redis: redis && new URL(redis) };
    given.database.password ||= 'database-secret';
    given.database.search = 'application_name=parameter-secret';
    if (given.redis) Object.assign(given.redis, { username: 'default', password: 'redis-secret' });
    const { ended, child, text } = runner(['minimal'], {
      PORT: String(await freePort()),
      EXAMPLE_DATABASE_URL: given.database.href,
      ...(given.redis && { EXAMPLE_REDIS_URL: given.redis.href }),
      // The stores of another application.
      DATABASE_URL: 'postgres://other:other-secret@127.0.0.1:1/other',
      REDIS_URL: 'redis://other:other-secret@127.0.0.1:1',
    });
    await eventually(async () => /^app: http/m.test(text()) || child.exitCode !== null, 240);
    const shown = [
      given.database.host + given.database.pathname,
      given.redis && given.redis.host + given.redis.pathname,
    ];
    for (const place of shown) if (place) expect(text()).toContain(`//${place}`);
    expect(text()).not.toMatch(/secret|ERROR/);
    expect(text()).not.toContain(`:${given.database.password}@`);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    await database.drop();
  });

  it('lists the examples without a name, or with an unknown one', async () => {
    for (const args of [[], ['none']]) {
      const { ended, text } = runner(args);
      expect(await ended).toBe(1);
      for (const name of examples().keys()) expect(text()).toContain(name);
    }
  });
});

describe('the folder of an installed example', () => {
  const name = `svc-test-${randomUUID()}`;
  const folder = join(tmpdir(), name);
  const ownId = process.getuid!();
  const asAnotherUser = (work: () => void): void => {
    const other = jest.spyOn(process, 'getuid').mockReturnValue(ownId + 1);
    try {
      work();
    } finally {
      other.mockRestore();
    }
  };
  const fill = (work: string): void => writeFileSync(join(work, 'file'), '');
  afterEach(() => {
    for (const path of [folder, `${folder}.lock`]) rmSync(path, { recursive: true, force: true });
  });

  it('is filled once, and cannot be read by other users', () => {
    const filled = jest.fn(fill);
    for (const _ of [1, 2]) expect(fillOnce(name, filled)).toBe(folder);
    expect(filled).toHaveBeenCalledTimes(1);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('is refused if another user has created it, or its lock', () => {
    const refusal = new RegExp(`${name}.* belongs to another user \\(${ownId}\\)`);
    mkdirSync(folder);
    asAnotherUser(() => expect(() => fillOnce(name, fill)).toThrow(refusal));
    rmSync(folder, { recursive: true });
    symlinkSync(tmpdir(), folder);
    asAnotherUser(() => expect(() => fillOnce(name, fill)).toThrow(refusal));
    rmSync(folder);
    symlinkSync(String(process.pid), `${folder}.lock`);
    asAnotherUser(() => expect(() => fillOnce(name, fill)).toThrow(refusal));
    expect(existsSync(folder)).toBe(false);
  });
});

describe('the examples', () => {
  it.each([...examples().keys()])('commit no packages, output, variables or keys after they are copied: %s', (name) => {
    const copy = mkdtempSync(join(tmpdir(), 'svc-copy-'));
    try {
      cpSync(join(ROOT, 'examples', name), copy, { recursive: true });
      for (const file of ['node_modules/x/index.js', 'dist/main.js', '.env', 'keys/private.pem']) {
        mkdirSync(dirname(join(copy, file)), { recursive: true });
        writeFileSync(join(copy, file), '');
      }
      run('git', ['init', '--quiet'], copy);
      const listed = run('git', ['ls-files', '--others', '--exclude-standard'], copy).trim().split('\n');
      expect(listed).toEqual(expect.arrayContaining(['.gitignore', 'package.json', 'tsconfig.json']));
      expect(listed.filter((file) => /^(node_modules|dist|keys)\/|\.env$|\.pem$/.test(file))).toEqual([]);
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  it.each([...examples().keys()])('have a page and a test: %s', (name) => {
    expect(existsSync(join(ROOT, 'examples', name, 'README.md'))).toBe(true);
    expect(existsSync(join(ROOT, 'test/examples', `${name}.examples-spec.ts`))).toBe(true);
  });
});
