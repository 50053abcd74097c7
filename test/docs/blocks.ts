import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(__dirname, '../..');

/** A fenced code block of a page. */
export interface Block {
  /** The position of the fence: `docs/guards.md:6`. */
  place: string;
  page: string;
  language: string;
  text: string;
  /** The label of a block that is one of several for the reader to choose: `Prisma`. */
  tab?: string;
}

/** The pages whose blocks are checked. */
export const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'libs/auth/README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`)
    .toSorted(),
];

/** The pages of the examples. Their commands are checked by the tests of the examples. */
export const EXAMPLE_PAGES = readdirSync(join(ROOT, 'examples'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('README.md') && !file.includes('node_modules'))
  .map((file) => `examples/${file}`)
  .toSorted();

/** Pages whose TypeScript is copied verbatim from running code, with the path of that code: a file, or the folder of an example. */
export const SHOWN: ReadonlyMap<string, string> = new Map([
  ['docs/testing.md', 'test/testing/host.e2e-spec.ts'],
  ['docs/recipes/react.md', 'examples/react-vite'],
  ['docs/routes.md', 'apps/sample/src/api-document.ts'],
  ['docs/recipes/from-nestjs-boilerplate.md', 'examples/typeorm-roles'],
  ['docs/recipes/prisma.md', 'examples/prisma'],
  ['docs/recipes/drizzle.md', 'examples/drizzle'],
  ['docs/recipes/from-prisma-graphql-starter.md', 'examples/prisma-graphql'],
  ['docs/recipes/nextjs.md', 'examples/nextjs'],
  ['docs/recipes/sveltekit.md', 'examples/sveltekit'],
]);

/** The tabs of the quick start whose code is copied verbatim from an example, with its folder. */
export const SHOWN_IN_TABS: ReadonlyMap<string | undefined, string> = new Map([
  ['Prisma', 'examples/prisma'],
  ['Drizzle', 'examples/drizzle'],
]);

/** The tabs whose files are in a folder of their own of the example that the page shows. */
export const FOLDERS_OF_TABS: ReadonlyMap<string | undefined, string> = new Map([['Token mode', 'token-mode']]);

/** The code of a file of {@link SHOWN}, or of all files of its folder. */
export function codeAt(path: string): string {
  if (path.endsWith('.ts')) return readFileSync(join(ROOT, path), 'utf8');
  return readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' })
    .filter(
      (file) => /\.(tsx?|svelte|prisma)$/.test(file) && !/node_modules|generated|dist|\.next|\.svelte-kit/.test(file),
    )
    .map((file) => readFileSync(join(ROOT, path, file), 'utf8'))
    .join('\n');
}

const FENCE = /^( *)```(\w*)\n([\s\S]*?)^\1```$/gm;

/** The fenced blocks of a page, without the indentation of a surrounding list. */
export const blocksOf = (page: string, text = readFileSync(join(ROOT, page), 'utf8')): Block[] =>
  [...text.matchAll(FENCE)].map(({ 1: indent, 2: language, 3: body, index }) => ({
    place: `${page}:${text.slice(0, index).split('\n').length}`,
    page,
    language: language!,
    text: body!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    tab: tabAt(text.slice(0, index)),
  }));

/** The label above a block in a group of tabs: see `site/.vitepress/tabs.mts`. */
function tabAt(before: string): string | undefined {
  const group = before.lastIndexOf('<!-- tabs -->');
  if (group <= before.lastIndexOf('<!-- /tabs -->')) return undefined;
  return [...before.slice(group).matchAll(/^\*\*(.+)\*\*$/gm)].at(-1)?.[1];
}

/** The file that a block names in its first line: `// src/user.ts`. */
export const fileOf = ({ text }: Block): string | undefined => /^\/\/ (\S+\.ts)\n/.exec(text)?.[1];

/** The files that a page shows to a reader who chooses this tab, where there are tabs. */
export const filesOf = (page: string, choice = 'TypeORM'): { file: string; text: string }[] =>
  blocksOf(page).flatMap((block) => {
    const file = fileOf(block);
    return file && (block.tab ?? choice) === choice ? [{ file, text: block.text }] : [];
  });

/** A change of a block in `diff`: lines that follow each other, before and after it. */
export interface Hunk {
  readonly before: string;
  readonly after: string;
}

/** The changes of a block in `diff`, which lines of `@@` separate, and the file that its first line can name: `--- src/user.ts`. */
export function hunksOf({ text }: Pick<Block, 'text'>): { file?: string; hunks: Hunk[] } {
  const [, file, body] = /^(?:--- (\S+)\n)?([\s\S]*)$/.exec(text)!;
  const without = (lines: readonly string[], sign: string): string =>
    lines.flatMap((line) => (line.startsWith(sign) ? [] : line.slice(1))).join('\n');
  const hunks = body!.split(/^@@\n/m).map((hunk) => hunk.split('\n'));
  return { file, hunks: hunks.map((lines) => ({ before: without(lines, '+'), after: without(lines, '-') })) };
}

/** The routes of the controllers that a page shows: `GET /hello`. */
export const routesIn = (page: readonly Block[]): string[] =>
  page.flatMap(({ text }) => {
    const [, path] = /@Controller\('([^']*)'\)/.exec(text) ?? [];
    const routes = path === undefined ? [] : [...text.matchAll(/@(Get|Post|Patch|Delete)\((?:'([^']*)')?\)/g)];
    return routes.map(([, verb, own]) => `${verb!.toUpperCase()} /${[path, own].filter(Boolean).join('/')}`);
  });
