import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const LIMIT = 4096;

it(`the minified client has less than ${LIMIT} bytes with gzip`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-client-'));
  const { status, stderr } = spawnSync(process.execPath, [join(__dirname, '../build.mjs'), folder], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  expect(gzipSync(readFileSync(join(folder, 'auth-client.min.js')), { level: 9 }).length).toBeLessThan(LIMIT);
});
