import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const LIMITS = { 'auth-client': 5120, 'auth-account': 1536 };
const BUILD = join(__dirname, '../build.mjs');

it('the minified modules are below their limits, with gzip at its default and at its highest level', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-client-'));
  const { status, stderr } = spawnSync(process.execPath, [BUILD, folder], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  for (const [name, limit] of Object.entries(LIMITS))
    for (const level of [6, 9])
      expect(gzipSync(readFileSync(join(folder, `${name}.min.js`)), { level }).length).toBeLessThan(limit);
});

it('the names that the minifier shortens are in no type of the package', () => {
  const names = /INTERNAL =\s+\/\^\(([\w|]+)\)/.exec(readFileSync(BUILD, 'utf8'))![1]!.split('|');
  const types = ['types', 'errors', 'index', 'account']
    .map((file) => readFileSync(join(__dirname, `${file}.ts`), 'utf8'))
    .join();
  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => new RegExp(`^ +(?:readonly )?${name}[?!:<(]`, 'm').test(types))).toEqual([]);
});
