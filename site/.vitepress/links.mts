import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { MarkdownEnv, MarkdownRenderer } from 'vitepress';
import { pathOnSite } from './pages.mts';
import { REPOSITORY, ROOT } from '../repository.mjs';

/**
 * The files link to each other by their paths in the repository, so that they also work there. On the site, a link to a
 * page leads to that page, and a link to any other file leads to the repository. A missing file fails the build.
 *
 * An empty cell in the head of a table heads nothing, so it becomes an ordinary cell. A picture gets its dimensions, so that
 * the browser keeps its place free.
 */
export function adaptedToSite(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('adapted-to-site', ({ tokens, env }) => {
    tokens.forEach((token, i) => {
      if (token.type !== 'th_open' || tokens[i + 1]!.content !== '') return;
      for (const cell of [token, tokens[i + 2]!]) cell.tag = 'td';
    });
    for (const token of tokens) if (token.type === 'html_block') token.content = withPictures(token.content, env);
    const all = tokens.flatMap(({ children }) => children ?? []);
    for (const token of all) {
      if (token.type === 'link_open') token.attrSet('href', onSite(token.attrGet('href')!, env));
      if (token.type === 'image' && !IS_OUTSIDE.test(token.attrGet('src')!)) {
        const { src, width, height } = imageOf(token.attrGet('src')!, env);
        for (const [name, value] of Object.entries({ src, width, height })) token.attrSet(name, String(value));
      }
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

/** The elements `<img>`, `<source>` and `<a>` of a block of HTML, of which Markdown has no form. */
const withPictures = (block: string, env: MarkdownEnv): string =>
  withLinks(block, env).replaceAll(
    /<(img|source) ([^>]*?)(src|srcset)="([^"]+)"/g,
    (all, tag, before, name, address) => {
      if (IS_OUTSIDE.test(address)) return all;
      const { src, width, height } = imageOf(address, env);
      return `<${tag} ${before}width="${width}" height="${height}" ${name}="${src}"`;
    },
  );

/** A link to a page is relative: the theme adds the base of the site to the links of Markdown only. */
const withLinks = (block: string, env: MarkdownEnv): string =>
  block.replaceAll(/<a href="([^"]+)"/g, (all, href) => {
    const to = onSite(href, env);
    const from = pathOnSite(fileOf('.', env).page) ?? '';
    return to === href
      ? all
      : `<a href="${to.startsWith('/') ? relative(`/${dirname(from)}`, to.replace(/\.md\b/, '.html')) : to}"`;
  });

/** A PNG or SVG, with its dimensions. @returns `src`: its path from the page */
function imageOf(address: string, env: MarkdownEnv): { src: string; width: number; height: number } {
  const { page, file } = fileOf(address, env);
  const content = readFileSync(join(ROOT, file));
  const src = relative(dirname(join(ROOT, page)), join(ROOT, file));
  const svg = /^<svg [^>]*width="(\d+)" height="(\d+)"/.exec(content.toString('utf8', 0, 200));
  if (svg) return { src, width: Number(svg[1]), height: Number(svg[2]) };
  return { src, width: content.readUInt32BE(16), height: content.readUInt32BE(20) };
}

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
