import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { MarkdownEnv, MarkdownRenderer } from 'vitepress';
import { pathOnSite } from './pages.mts';
import { REPOSITORY, ROOT } from '../repository.mjs';

/**
 * The files link to each other by their paths in the repository, so that they also work there. On the site, a link to a
 * page leads to that page, and a link to any other file leads to the repository. A missing file fails the build.
 *
 * An empty cell in the head of a table heads nothing, so it becomes an ordinary cell.
 */
export function adaptedToSite(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('adapted-to-site', ({ tokens, env }) => {
    tokens.forEach((token, i) => {
      if (token.type !== 'th_open' || tokens[i + 1]!.content !== '') return;
      for (const cell of [token, tokens[i + 2]!]) cell.tag = 'td';
    });
    const all = tokens.flatMap(({ children }) => children ?? []);
    for (const token of all) {
      if (token.type === 'link_open') token.attrSet('href', onSite(token.attrGet('href')!, env));
      if (token.type === 'image') token.attrSet('src', imageOf(token.attrGet('src')!, env));
    }
  });
}

const IS_OUTSIDE = /^(?:[a-z]+:|#|\/)/i;

function onSite(href: string, env: MarkdownEnv): string {
  if (IS_OUTSIDE.test(href)) return href;
  const [target = '', anchor] = href.split('#');
  const { page, file } = fileOf(decodeURI(target), env);
  // Generated pages are on the site under the same relative paths.
  if (page.startsWith('site/api/')) return href;
  const shown = pathOnSite(file);
  const hash = anchor ? `#${anchor}` : '';
  if (shown) return `/${shown.replace(/(^|\/)index\.md$/, '$1')}${hash}`;
  // The home page shows only some sections of the README.
  if (file === 'README.md' && !anchor) return '/';
  const kind = statSync(join(ROOT, file)).isDirectory() ? 'tree' : 'blob';
  return `${REPOSITORY}/${kind}/main/${file}${hash}`;
}

const imageOf = (src: string, env: MarkdownEnv): string => {
  if (IS_OUTSIDE.test(src)) return src;
  const { page, file } = fileOf(src, env);
  return relative(dirname(join(ROOT, page)), join(ROOT, file));
};

/** The linked file, by its path in the repository. The home page shows parts of the README, whose links begin there. */
function fileOf(target: string, env: MarkdownEnv): { page: string; file: string } {
  const page = relative(ROOT, (env as { realPath?: string }).realPath ?? env.path);
  const file = join(page === 'site/index.md' ? '' : dirname(page), target);
  if (!existsSync(join(ROOT, file))) throw new Error(`${page}: no such file: ${target}`);
  return { page, file };
}

/** The anchor of a heading, as the repository host forms it: the links of the pages are written for it. */
export const slugify = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
