import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGES, ROOT } from './blocks';

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const GROUPS = ['Get started', 'Sign in', 'Sessions', 'Accounts', 'Factors', 'Clients', 'Operate', 'Design'];

/** More links than this are a list to search, and no choice. */
const LINKS = 10;

const WORDS = 85_000;
const GENERATED = ['docs/options.md', 'docs/routes.md'];

/** The words of the prose: without blocks of code, which tests run, the bars and lines of tables, and the marks of lists. */
const wordsIn = (text: string): number =>
  text
    .replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

describe('the contents of the documentation', () => {
  const [beginning, ...sections] = read('docs/README.md').split(/^## /m);
  const groups = new Map(
    sections.map((section) => [
      section.split('\n')[0]!,
      [...section.matchAll(/^\| .*\| \[[^\]]+\]\(\S+\.md\) +\|$/gm)],
    ]),
  );

  it('begin with tasks, in groups', () => {
    expect(beginning!.split('\n').length).toBeLessThan(8);
    expect([...groups.keys()]).toEqual(GROUPS);
  });

  it.each(GROUPS)('have at most ten links in a group, one in each row: %s', (name) => {
    const rows = sections.find((section) => section.startsWith(name))!.match(/^\| (?!-|Task|Question)/gm)!;
    expect(groups.get(name)).toHaveLength(rows.length);
    expect(rows.length).toBeGreaterThan(2);
    expect(rows.length).toBeLessThanOrEqual(LINKS);
  });
});

describe('the pages of the documentation', () => {
  const pages = PAGES.filter((page) => page.startsWith('docs/') && !GENERATED.includes(page));

  it('have a limit of words in all', () => {
    expect(wordsIn('| a | `b` |\n| --- | --- |\n- c { d }\n```ts\nconst e = f;\n```\n')).toBe(4);
    expect(pages.reduce((sum, page) => sum + wordsIn(read(page)), 0)).toBeLessThanOrEqual(WORDS);
  });
});
