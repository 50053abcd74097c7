import { transformSync } from '@swc/core';
import { mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LIBRARY, ROOT, manifestOf, packLibrary, run } from '../../test/support/packages/package';

const HOST = 'bench/footprint/host.ts';
const SOURCES = [HOST, 'apps/sample/src/redis-cache.ts'];

/** The host: its main file, and the bytes of the library as published and as installed. */
export interface Built {
  file: string;
  packed: number;
  installed: number;
}

/** Compiles the host into a folder and installs the packed library for it, so that nothing is compiled at the start. */
export function build(folder: string): Built {
  const jsOf = (source: string): string => join(folder, source.replace(/\.ts$/, '.js'));
  for (const source of SOURCES) {
    const text = readFileSync(join(ROOT, source), 'utf8');
    const { swcOptions } = require('../../test/support/runtime/swc-options.cjs');
    const { code } = transformSync(text, { filename: source, ...swcOptions, sourceMaps: false });
    mkdirSync(dirname(jsOf(source)), { recursive: true });
    writeFileSync(jsOf(source), code);
  }
  const own = join(folder, 'bench/node_modules/@svc/auth');
  mkdirSync(own, { recursive: true });
  const tarball = packLibrary();
  run('tar', ['-xzf', tarball, '--strip-components=1', '-C', own], folder);
  link(folder);
  return { file: jsOf(HOST), packed: statSync(tarball).size, installed: bytesIn(own) };
}

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);

/** The peers that the host and the features need. No other optional peer is installed, as after a plain `npm install`. */
const NEEDED = ['@nestjs/typeorm', '@redis/client', '@simplewebauthn/server', 'nodemailer', 'otplib', 'typeorm'];

/** Links the installed packages of this repository. */
function link(folder: string): void {
  const installed = join(ROOT, 'node_modules');
  const optional = Object.keys(manifestOf(LIBRARY).peerDependenciesMeta!).filter((name) => !NEEDED.includes(name));
  const names = readdirSync(installed).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(installed, name)).map((own) => `${name}/${own}`) : [name],
  );
  for (const name of names.filter((one) => !optional.includes(one))) {
    const place = join(folder, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(installed, name), place);
  }
}
