import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { transformSync } from '@swc/core';

const ROOT = join(__dirname, '../../..');
const LIBRARY = join(ROOT, 'libs/auth');

/** What the host is made of, besides the package. */
const HOST = ['test/attacks/support/main.ts', 'test/support/host.module.ts', 'test/support/people.ts'];
const HOST_SOURCES = [...HOST, 'apps/sample/src/redis-cache.ts'];
/** What the host needs of its own; everything else the package has to name. */
const HOST_NEEDS = ['@nestjs/platform-express', 'cache-manager', 'cache-manager-redis-yet', 'keyv', 'pg'];

const run = (command: string, args: string[], cwd: string): void => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
};

function fingerprint(): string {
  const hash = createHash('sha256').update(ROOT);
  const sources = readdirSync(join(LIBRARY, 'src'), { recursive: true, encoding: 'utf8' }).map((file) => `src/${file}`);
  const ofLibrary = [...sources, 'package.json', 'tsconfig.lib.json'].map((file) => join('libs/auth', file));
  for (const file of [...ofLibrary, ...HOST_SOURCES, 'package-lock.json']
    .filter((name) => /\.\w+$/.test(name))
    .toSorted()) {
    hash.update(file).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

/**
 * A folder with a host application that has installed the library's package: built, packed and unpacked as
 * published, beside nothing but what the package names and the host itself needs. Made once for each state of the
 * sources.
 *
 * @returns the file to run
 */
export function packedHost(): string {
  const folder = join(tmpdir(), `svc-packed-${fingerprint()}`);
  const main = join(folder, HOST[0]!.replace(/ts$/, 'js'));
  if (existsSync(main)) return main;
  const work = `${folder}-${randomUUID()}`;
  mkdirSync(work);
  install(work);
  for (const file of HOST_SOURCES) compile(file, work);
  try {
    renameSync(work, folder);
  } catch {
    // Another worker was first.
    rmSync(work, { recursive: true });
  }
  return main;
}

function install(work: string): void {
  const stage = join(work, 'stage');
  mkdirSync(stage);
  const manifest = JSON.parse(readFileSync(join(LIBRARY, 'package.json'), 'utf8')) as Record<string, object>;
  writeFileSync(join(stage, 'package.json'), JSON.stringify(manifest));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  run(process.execPath, [tsc, '-p', join(LIBRARY, 'tsconfig.lib.json'), '--outDir', join(stage, 'dist')], ROOT);
  run('npm', ['pack', '--pack-destination', work], stage);
  const tarball = readdirSync(work).find((name) => name.endsWith('.tgz'))!;
  const own = join(work, 'node_modules/@svc/auth');
  mkdirSync(own, { recursive: true });
  run('tar', ['-xzf', join(work, tarball), '--strip-components=1', '-C', own], work);
  rmSync(stage, { recursive: true });
  const names = [...Object.keys(manifest.dependencies!), ...Object.keys(manifest.peerDependencies!), ...HOST_NEEDS];
  for (const name of names) {
    const source = join(ROOT, 'node_modules', name);
    if (!existsSync(source)) continue;
    const target = join(work, 'node_modules', name);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(source, target);
  }
}

function compile(file: string, work: string): void {
  const { swcOptions } = require('../../support/swc-options.cjs');
  const { code } = transformSync(readFileSync(join(ROOT, file), 'utf8'), {
    filename: file,
    ...swcOptions('typescript'),
  });
  const target = join(work, file.replace(/ts$/, 'js'));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, code);
}
