import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const ROOT = join(__dirname, '../..');
export const LIBRARY = join(ROOT, 'libs/auth');

/** What the package holds beside the code. */
const PAGES = ['package.json', 'LICENSE', 'README.md'];

export const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, Record<string, string>>;

/** Runs a command to its end. @throws Error with what it said, where it fails */
export function run(command: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout;
}

/** Stands for the state of the library's sources, and of these files besides. */
export function fingerprint(...besides: string[]): string {
  const hash = createHash('sha256').update(ROOT);
  const sources = readdirSync(join(LIBRARY, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.endsWith('spec.ts'))
    .map((file) => `src/${file}`);
  const ofLibrary = [...sources, 'tsconfig.lib.json', ...PAGES].map((file) => join('libs/auth', file));
  const files = [...ofLibrary, ...besides].filter((name) => /\.\w+$|LICENSE$/.test(name));
  for (const file of files.toSorted()) hash.update(file).update(readFileSync(join(ROOT, file)));
  return hash.digest('hex').slice(0, 16);
}

/** Fills a folder once for everybody who asks for the same name; meanwhile the others wait. @returns the folder */
export function fillOnce(name: string, fill: (work: string) => void): string {
  const folder = join(tmpdir(), name);
  const lock = `${folder}.lock`;
  while (!existsSync(folder)) {
    if (!locks(lock)) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
      continue;
    }
    const work = `${folder}-${randomUUID()}`;
    mkdirSync(work);
    try {
      fill(work);
      if (!existsSync(folder)) renameSync(work, folder);
    } finally {
      rmSync(work, { recursive: true, force: true });
      rmSync(lock, { force: true });
    }
  }
  return folder;
}

/** Takes a lock, which names its process. A process that was killed holds none. */
function locks(lock: string): boolean {
  try {
    symlinkSync(String(process.pid), lock);
    return true;
  } catch {
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

/** The library's package as it is published: built and packed. @returns the tarball */
export function packLibrary(): string {
  const folder = fillOnce(`svc-tarball-${fingerprint()}`, (work) => {
    const stage = join(work, 'stage');
    mkdirSync(stage);
    for (const file of PAGES) writeFileSync(join(stage, file), readFileSync(join(LIBRARY, file)));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    // The output is the same without the check of types, which `npm run check` makes.
    const flags = ['-p', join(LIBRARY, 'tsconfig.lib.json'), '--outDir', join(stage, 'dist'), '--noCheck'];
    run(process.execPath, [tsc, ...flags], ROOT);
    run('npm', ['pack', '--pack-destination', work], stage);
    rmSync(stage, { recursive: true });
  });
  return join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.tgz'))!,
  );
}
