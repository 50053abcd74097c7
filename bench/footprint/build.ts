import { transformSync } from '@swc/core';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT, packLibrary, run } from '../../test/support/package';

const HOST = 'bench/footprint/host.ts';
const SOURCES = [HOST, 'apps/sample/src/redis-cache.ts'];

/**
 * Compiles the host into a folder, with the library's package as it is published installed for it. Nothing is compiled
 * when it starts. @returns its main file
 */
export function build(folder: string): string {
  const jsOf = (source: string): string => join(folder, source.replace(/\.ts$/, '.js'));
  for (const source of SOURCES) {
    const text = readFileSync(join(ROOT, source), 'utf8');
    const { swcOptions } = require('../../test/support/swc-options.cjs');
    const { code } = transformSync(text, { filename: source, ...swcOptions('typescript'), sourceMaps: false });
    mkdirSync(dirname(jsOf(source)), { recursive: true });
    writeFileSync(jsOf(source), code);
  }
  const own = join(folder, 'bench/node_modules/@svc/auth');
  mkdirSync(own, { recursive: true });
  run('tar', ['-xzf', packLibrary(), '--strip-components=1', '-C', own], folder);
  // Everything else is what is installed here.
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return jsOf(HOST);
}
