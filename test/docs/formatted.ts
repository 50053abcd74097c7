import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from './blocks';

const CONFIG = join(ROOT, 'test/docs/nest-new/.prettierrc.txt');
const PRETTIER = join(ROOT, 'node_modules/prettier/bin/prettier.cjs');

/** The names of the files that the prettier of a new Nest application would change. */
export function unformatted(files: readonly { file: string; text: string }[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'svc-formatted-'));
  try {
    for (const { file, text } of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    copyFileSync(CONFIG, join(folder, '.prettierrc'));
    const { stdout, stderr } = spawnSync(process.execPath, [PRETTIER, '--list-different', '.'], {
      cwd: folder,
      encoding: 'utf8',
    });
    if (stderr) throw new Error(stderr);
    return stdout.split('\n').filter(Boolean).toSorted();
  } finally {
    rmSync(folder, { recursive: true });
  }
}
