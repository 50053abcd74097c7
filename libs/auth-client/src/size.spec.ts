import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const LIMIT = 4096;
const BUILD = join(__dirname, '../build.mjs');

it.each([6, 9])(`the minified client has less than ${LIMIT} bytes with gzip at level %i`, (level) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-client-'));
  const { status, stderr } = spawnSync(process.execPath, [BUILD, folder], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  expect(gzipSync(readFileSync(join(folder, 'auth-client.min.js')), { level }).length).toBeLessThan(LIMIT);
});

it('the names that the minifier shortens are in no type of the package', () => {
  const names = /INTERNAL =\s+\/\^\(([\w|]+)\)/.exec(readFileSync(BUILD, 'utf8'))![1]!.split('|');
  const types = ['types', 'errors', 'index'].map((file) => readFileSync(join(__dirname, `${file}.ts`), 'utf8')).join();
  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => new RegExp(`^ +(?:readonly )?${name}[?!:<(]`, 'm').test(types))).toEqual([]);
});
