import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, blocksOf, hunksOf } from './blocks';
import before from './files-before-the-move.json';

const EXAMPLE = join(ROOT, 'examples/typeorm-roles');
const PAGE = 'docs/recipes/from-nestjs-boilerplate.md';

/** The files of an application that a move can change. */
const MOVED = /^(?:(?:src|test|tools)\/.*|tsconfig\.json|package\.json)$/;

const textOf = (file: string): string => readFileSync(join(EXAMPLE, file), 'utf8');
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

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
  return [...removed, ...files.filter((file) => former[file] !== digestOf(textOf(file)))].toSorted();
}

/** The files that the page does not name. */
const unnamed = (page: string, files: readonly string[]): string[] =>
  files.filter((file) => !page.includes(`\`${file}\``));

describe('the page of a move', () => {
  const page = readFileSync(join(ROOT, PAGE), 'utf8');
  const changes = blocksOf(PAGE)
    .filter(({ language }) => language === 'diff')
    .map((block) => hunksOf(block));

  it.each([
    'src/database/data-source.ts',
    'src/database/seeds/run-seed.ts',
    'src/users/entities/user.entity.ts',
    'src/users/users.controller.ts',
    'src/users/users.module.ts',
    'test/admin-users.e2e-spec.ts',
    'test/client.ts',
    'test/user-auth.e2e-spec.ts',
  ] as const)('shows all changes of %s, also those of its imports', (file) => {
    let text = textOf(file);
    for (const change of changes.filter(({ file: named }) => named === file)) {
      for (const { before: former, after } of change.hunks) {
        expect(text.split(after)).toHaveLength(2);
        text = text.replace(after, () => former);
      }
    }
    // Without its changes, the file is that of the application before the move.
    expect({ digest: digestOf(text), text }).toEqual({ digest: before[file], text });
  });

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
