import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../../apps/sample/src/dev/embedded-postgres';
import { createEmptyDatabase } from '../support/stores/database';
import { eventually } from '../support/runtime/eventually';
import { closureOf, unionOf } from '../support/packages/closure';
import { examples, installExample } from '../support/packages/example-process';
import { ROOT, fillOnce, run } from '../support/packages/package';
import { sharedRedisUrl } from '../support/stores/shared-redis';

/** Runs `node examples/run.mjs` without the stores of the tests. */
function runner(args: readonly string[], variables: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(ROOT, 'examples/run.mjs'), ...args], {
    env: { PATH: process.env.PATH!, HOME: process.env.HOME!, TMPDIR: tmpdir(), ...variables },
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
  // The runner installs a single example, unless all packages are installed. This file and its neighbours share one install.
  beforeAll(() => installExample('minimal'));

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

describe('the packages of an example', () => {
  /** Whether the code of an example, or of one of its packages, can load a package. */
  const canLoad = (example: string, name: string, from = '.'): boolean => {
    const place = realpathSync(join(installExample(example), from));
    return createRequire(join(place, 'package.json'))
      .resolve.paths(name)!
      .some((path) => existsSync(join(path, name)));
  };

  it('are those that its manifest needs, although one install has the packages of all', () => {
    const loaded = ['typeorm', '@nestjs/core', 'argon2', 'otplib', 'graphql', 'drizzle-orm'].filter((name) =>
      canLoad('minimal', name),
    );
    expect(loaded).toEqual(['typeorm', '@nestjs/core', 'argon2']);
    expect(canLoad('drizzle', 'otplib')).toBe(true);
    expect(canLoad('drizzle', '@prisma/client')).toBe(false);
  });

  it('find no package of another example either', () => {
    expect(canLoad('minimal', '@nestjs/common', 'node_modules/@nestjs/core')).toBe(true);
    expect(canLoad('minimal', '@nestjs/graphql', 'node_modules/@nestjs/core')).toBe(false);
    expect(canLoad('drizzle', 'pg', 'node_modules/drizzle-orm')).toBe(true);
    expect(canLoad('drizzle', 'prisma', 'node_modules/drizzle-orm')).toBe(false);
  });

  it('are found in the nearest folder, with the peers that are not optional and the optional packages that are installed', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
    const optional = { optional: true };
    const packages = {
      'node_modules/@a/a': { dependencies: { b: '2', d: '1' }, optionalDependencies: { e: '1', missing: '1' } },
      'node_modules/@a/a/node_modules/b': { dependencies: { c: '1' } },
      'node_modules/b': { dependencies: { unused: '1' } },
      'node_modules/c': { peerDependencies: { f: '1', g: '1' }, peerDependenciesMeta: { g: optional } },
      'node_modules/d': { dependencies: { d2: '1' }, peerDependencies: { '@a/a': '1' } },
      'node_modules/d2': {},
      'node_modules/e': {},
      'node_modules/f': {},
      'node_modules/g': {},
      'node_modules/unused': {},
    };
    mkdirSync(join(folder, 'node_modules'));
    writeFileSync(join(folder, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
    expect([...closureOf(folder, ['@a/a'])].toSorted()).toEqual(['@a/a', 'c', 'd', 'd2', 'e', 'f']);
    expect(() => closureOf(folder, ['@a/a', 'none'])).toThrow('none, which the manifest needs, is not in');
    rmSync(folder, { recursive: true });
  });

  it('have one version in all examples', () => {
    const first = { dependencies: { a: '1.0.0' }, devDependencies: { b: '1.0.0' } };
    const second = { dependencies: { a: '1.0.0', c: '1.0.0' } };
    expect(unionOf(new Map(Object.entries({ first, second })))).toEqual({
      dependencies: { a: '1.0.0', c: '1.0.0' },
      devDependencies: { b: '1.0.0' },
    });
    const other = { devDependencies: { a: '2.0.0' } };
    expect(() => unionOf(new Map(Object.entries({ first, second, other })))).toThrow(
      'a is 1.0.0 in second, and 2.0.0 in other. Use one version.',
    );
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
