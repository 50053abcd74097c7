import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from './package';

const SOURCES = ['apps/sample', 'libs/auth/src', 'libs/auth-client'];
const SETTINGS = ['build.cjs', 'package.json', 'test/support/swc-options.cjs', 'tsconfig.json'];

/** The hash of the sources that are built, in the output. A build deletes the output, and with it this file. */
const MARK = join(ROOT, 'dist/apps/sample/.sources');

function hashOfSources(): string {
  const hash = createHash('sha256');
  const inFolders = SOURCES.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('spec.ts'))
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((file) => !/\/(node_modules|dist|\.data)\//.test(file)),
  );
  for (const file of [...SETTINGS.map((name) => join(ROOT, name)), ...inFolders.toSorted()])
    hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}

/** Builds the sample, which tests start as a process, unless exactly these sources are built. */
export function buildSample(): void {
  let built = '';
  try {
    built = readFileSync(MARK, 'utf8');
  } catch {
    // It is not built.
  }
  if (built === hashOfSources()) return;
  run('npm', ['run', '--silent', 'build:sample'], ROOT);
  // After the build, which writes the client into the sources of the page.
  writeFileSync(MARK, hashOfSources());
}
