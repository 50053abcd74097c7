import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from '@swc/core';
import { LIBRARY, ROOT, fingerprint, manifestOf, fillOnce, packLibrary, run } from '../../support/packages/package';

/** The files of the host, besides the package. */
const HOST = [
  'test/attacks/support/host-process.ts',
  'test/support/hosts/adapter.ts',
  'test/support/hosts/host.module.ts',
  'test/support/hosts/user-entities.ts',
];
const HOST_SOURCES = [...HOST, 'apps/sample/src/redis-cache.ts'];
/** The packages that the host itself needs. Everything else must be declared by the package. */
const HOST_NEEDS = [
  '@nestjs/platform-express',
  '@nestjs/platform-fastify',
  'cache-manager',
  'cache-manager-redis-yet',
  'keyv',
  'pg',
];

/**
 * A folder with a host application that has installed the library's package: built, packed and unpacked as published.
 * It contains only the dependencies that the package declares and those of the host. Built once for each state of the
 * sources.
 *
 * @returns the file to run
 */
export function packedHost(): string {
  const folder = fillOnce(`svc-packed-${fingerprint(...HOST_SOURCES, 'package-lock.json')}`, (work) => {
    install(work);
    for (const file of HOST_SOURCES) compile(file, work);
  });
  return join(folder, HOST[0]!.replace(/ts$/, 'js'));
}

function install(work: string): void {
  const own = join(work, 'node_modules/@svc/auth');
  mkdirSync(own, { recursive: true });
  run('tar', ['-xzf', packLibrary(), '--strip-components=1', '-C', own], work);
  const { dependencies, peerDependencies } = manifestOf(LIBRARY);
  for (const name of [...Object.keys(dependencies!), ...Object.keys(peerDependencies!), ...HOST_NEEDS]) {
    const source = join(ROOT, 'node_modules', name);
    const target = join(work, 'node_modules', name);
    if (!existsSync(source) || existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(source, target);
  }
}

function compile(file: string, work: string): void {
  const { swcOptions } = require('../../support/runtime/swc-options.cjs');
  const { code } = transformSync(readFileSync(join(ROOT, file), 'utf8'), {
    filename: file,
    ...swcOptions,
  });
  const target = join(work, file.replace(/ts$/, 'js'));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, code);
}
