import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './blocks';
import before from './files-before-the-move.json';

const EXAMPLE = join(ROOT, 'examples/typeorm-roles');
const PAGE = 'docs/recipes/from-nestjs-boilerplate.md';

/** The files of an application that a move can change. */
const MOVED = /^(?:(?:src|test|tools)\/.*|tsconfig\.json|package\.json)$/;

const digestOf = (file: string): string =>
  createHash('sha256')
    .update(readFileSync(join(EXAMPLE, file)))
    .digest('hex')
    .slice(0, 16);

/** The files that the move adds, changes or removes, by the digests of the files of the application before it. */
function changedFiles(former: Readonly<Record<string, string>>): string[] {
  const files = readdirSync(EXAMPLE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(EXAMPLE.length + 1)
        .replaceAll('\\', '/'),
    )
    .filter((file) => MOVED.test(file));
  const removed = Object.keys(former).filter((file) => !files.includes(file));
  return [...removed, ...files.filter((file) => former[file] !== digestOf(file))].toSorted();
}

/** The files that the page does not name. */
const unnamed = (page: string, files: readonly string[]): string[] =>
  files.filter((file) => !page.includes(`\`${file}\``));

describe('the page of a move', () => {
  const page = readFileSync(join(ROOT, PAGE), 'utf8');

  it('names every file that the move adds, changes or removes', () =>
    expect(unnamed(page, changedFiles(before))).toEqual([]));

  it('is found not to name a file that it does not name', () => {
    const file = 'src/users/users.module.ts';
    expect(changedFiles(before)).toContain(file);
    expect(unnamed(page.replaceAll(`\`${file}\``, ''), changedFiles(before))).toEqual([file]);
  });

  it('has a table of no other file', () => {
    const [, table = ''] = page.split('## Every file that changes');
    const named = [...table.matchAll(/`([\w./-]+\.(?:ts|mjs|json))`/g)].map(([, file]) => file!);
    expect(named.toSorted()).toEqual(changedFiles(before));
  });
});
