import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const ROOT = join(__dirname, '../../..');
export const LIBRARY = join(ROOT, 'libs/auth');

/** The options of `npm install` in tests. No script of a package runs, and each peer must have a version that suits. */
export const INSTALL = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--strict-peer-deps'];

/** The files of the package besides the code, and besides the changelog of the repository. */
const PAGES = ['package.json', 'LICENSE', 'README.md'];

export const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, Record<string, string>>;

/** Runs a command and waits for it. @throws Error with the output of the command if it fails */
export function run(command: string, args: string[], cwd: string, variables: Record<string, string> = {}): string {
  const env = { ...process.env, ...variables };
  // The report of the types has more than the megabyte that is kept by default.
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8', maxBuffer: 16_000_000 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout;
}

/** A hash of the library's sources and of the additional files. */
export function fingerprint(...besides: string[]): string {
  const hash = createHash('sha256').update(ROOT);
  const sources = readdirSync(join(LIBRARY, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.endsWith('spec.ts'))
    .map((file) => `src/${file}`);
  const ofLibrary = [...sources, 'tsconfig.lib.json', ...PAGES].map((file) => join('libs/auth', file));
  const files = [...ofLibrary, 'CHANGELOG.md', ...besides].filter((name) => /\.\w+$|LICENSE$/.test(name));
  for (const file of files.toSorted()) hash.update(file).update(readFileSync(join(ROOT, file)));
  return hash.digest('hex').slice(0, 16);
}

/**
 * Fills a folder once. Concurrent callers with the same name wait for the first one.
 *
 * @returns the folder
 * @throws Error if the folder or its lock belongs to another user, who can predict the name and could have put code there
 */
export function fillOnce(name: string, fill: (work: string) => void): string {
  const folder = join(tmpdir(), name);
  const lock = `${folder}.lock`;
  while (!exists(folder)) {
    if (!locks(lock)) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
      continue;
    }
    const work = `${folder}-${randomUUID()}`;
    mkdirSync(work, { mode: 0o700 });
    try {
      fill(work);
      if (!exists(folder)) renameSync(work, folder);
    } finally {
      rmSync(work, { recursive: true, force: true });
      rmSync(lock, { force: true });
    }
  }
  refuseForeign(folder);
  return folder;
}

/** Whether {@link fillOnce} has filled a folder, or another process does so at this moment. */
export const isFilled = (name: string): boolean => {
  const folder = join(tmpdir(), name);
  return exists(folder) || holds(`${folder}.lock`);
};

/** Whether there is anything at a path, also a link to nothing. */
const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Nothing is done if the path does not exist, or if the platform has no user ids. */
function refuseForeign(path: string): void {
  const owner = lstatSync(path, { throwIfNoEntry: false })?.uid;
  const own = process.getuid?.();
  if (owner === undefined || own === undefined || owner === own) return;
  throw new Error(`${path} belongs to another user (${owner}). Delete it, or set TMPDIR to a folder of your own.`);
}

/**
 * Takes a lock file that contains the id of its process. The lock of a killed process is void.
 *
 * @throws Error if the lock belongs to another user, whose process may run for ever
 */
function locks(lock: string): boolean {
  try {
    symlinkSync(String(process.pid), lock);
    return true;
  } catch {
    refuseForeign(lock);
    if (!holds(lock)) rmSync(lock, { force: true });
    return false;
  }
}

function holds(lock: string): boolean {
  try {
    return process.kill(Number(readlinkSync(lock)), 0);
  } catch {
    return false;
  }
}

/** Whether a file is one from which the package is compiled: no test, and no tool of tests. */
export const isSource = (file: string): boolean => /(?<!spec|testkit)\.ts$/.test(file);

/** Builds and packs the library as it is published. @returns the tarball */
export function packLibrary(): string {
  const folder = fillOnce(`svc-tarball-${fingerprint()}`, (work) => {
    // The declaration maps name the sources by their paths from the compiled files, so that both are in one folder.
    const stage = join(work, 'libs/auth');
    const filter = (path: string): boolean => statSync(path).isDirectory() || isSource(path);
    cpSync(join(LIBRARY, 'src'), join(stage, 'src'), { recursive: true, filter });
    for (const page of [...PAGES, 'tsconfig.lib.json']) copyFileSync(join(LIBRARY, page), join(stage, page));
    copyFileSync(join(ROOT, 'CHANGELOG.md'), join(stage, 'CHANGELOG.md'));
    copyFileSync(join(ROOT, 'tsconfig.json'), join(work, 'tsconfig.json'));
    symlinkSync(join(ROOT, 'node_modules'), join(work, 'node_modules'));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    // Without the type check, which `npm run check` runs. The output is the same.
    run(process.execPath, [tsc, '-p', join(stage, 'tsconfig.lib.json'), '--noCheck'], work);
    run('npm', ['pack', '--pack-destination', work], stage);
    for (const name of ['libs', 'node_modules', 'tsconfig.json']) rmSync(join(work, name), { recursive: true });
  });
  return join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.tgz'))!,
  );
}

/** Puts the packed library in the place of the one that is installed in a folder. */
export function replaceLibrary(folder: string): void {
  const own = join(folder, 'node_modules/@svc/auth');
  rmSync(own, { recursive: true, force: true });
  mkdirSync(own, { recursive: true });
  run('tar', ['-xzf', packLibrary(), '--strip-components=1', '-C', own], folder);
}
