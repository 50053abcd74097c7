import { minify } from '@swc/core';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const LIMITS = { 'auth-client': 5300, 'auth-account': 1536, 'auth-bound': 2048, 'auth-identities': 1536 };
/** With the module that both entries share, without React and Vue. */
const ENTRIES = { react: 700, vue: 700 };
const BUILD = join(__dirname, '../build.mjs');

const folder = mkdtempSync(join(tmpdir(), 'svc-client-'));

beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, [BUILD, folder], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});

it('the minified modules are below their limits, with gzip at its default and at its highest level', () => {
  for (const [name, limit] of Object.entries(LIMITS))
    for (const level of [6, 9])
      expect(gzipSync(readFileSync(join(folder, `${name}.min.js`)), { level }).length).toBeLessThan(limit);
});

it('so are the entries for React and Vue', async () => {
  for (const [name, limit] of Object.entries(ENTRIES)) {
    const text = ['state', name].map((module) => readFileSync(join(folder, `${module}.js`), 'utf8')).join('\n');
    const { code } = await minify(text, { module: true, mangle: { topLevel: true } });
    expect(gzipSync(code).length).toBeLessThan(limit);
  }
});

it('a process of Node ends after a sign-in, wherever the refresh token is', () => {
  const script = `
    import { createAuthClient } from './auth-client.min.js';
    const signedIn = [];
    for (const refreshToken of ['cookie', 'localStorage', 'memory']) {
      const answer = { access_token: 'a.e30.c', expires_in: 900, ...(refreshToken !== 'cookie' && { refresh_token: 'r' }) };
      globalThis.fetch = async () => Response.json(answer);
      const auth = createAuthClient({ url: 'https://api.test/auth', refreshToken });
      await auth.login({ email: 'ada' });
      signedIn.push(!!auth.session);
    }
    console.log(signedIn.join());
  `;
  // Without an end, the process would wait for the renewals.
  const options = { cwd: folder, encoding: 'utf8', timeout: 60_000 } as const;
  const { stdout, stderr, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script], options);
  expect({ stdout, stderr, signal }).toEqual({ stdout: 'true,true,true\n', stderr: '', signal: null });
});

it('the names that the minifier shortens are in no type of the package', () => {
  const names = /INTERNAL =\s+\/\^\(([\w|]+)\)/.exec(readFileSync(BUILD, 'utf8'))![1]!.split('|');
  const types = ['types', 'errors', 'index', 'account', 'bound', 'identities']
    .map((file) => readFileSync(join(__dirname, `${file}.ts`), 'utf8'))
    .join();
  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => new RegExp(`^ +(?:readonly )?${name}[?!:<(]`, 'm').test(types))).toEqual([]);
});
