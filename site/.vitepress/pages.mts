import type { DefaultTheme } from 'vitepress';
import { read } from '../repository.mjs';

/** The index of the pages: the sidebar is read from it, so that a page is listed in one place. */
const INDEX = 'docs/README.md';

/** Pages outside of `docs` that the site shows, each with its path there. */
const OUTSIDE: Readonly<Record<string, string>> = {
  'site/index.md': 'index.md',
  'SECURITY.md': 'security.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
};

/** Folders of the repository that contain no page of the site. */
const WITHOUT_PAGES = ['apps', 'bench', 'deploy', 'dist', 'examples', 'libs', 'test', '.*', '**/node_modules'];

export const srcExclude = [...WITHOUT_PAGES.map((folder) => `${folder}/**`), 'README.md', 'site/README.md'];

/** The path on the site of a Markdown file of the repository. Undefined: the site does not show it. */
export function pathOnSite(file: string): string | undefined {
  if (file === INDEX) return 'contents.md';
  return (
    OUTSIDE[file] ?? /^(?:docs|site(?=\/api\/))\/(.+\.md)$/.exec(file)?.[1]!.replace(/(^|\/)README\.md$/, '$1index.md')
  );
}

const linksIn = (text: string): DefaultTheme.SidebarItem[] =>
  [...text.matchAll(/^\| .*\| \[([^\]]+)\]\(([^)]+\.md)\)/gm)].map(([, title, target]) => {
    const file = target!.startsWith('../') ? target!.slice(3) : `docs/${target}`;
    return { text: title!, link: `/${pathOnSite(file)!.replace(/(?:(?<=\/)index)?\.md$/, '')}` };
  });

/**
 * The theme opens the group of a page in the sidebar when it runs, which would move the groups below. So the group is open
 * before that.
 *
 * @param path of the page, as the sidebar links to it
 */
export function withOpenGroup(html: string, path: string): string {
  const link = html.indexOf(`href="${path}"`, html.indexOf('<aside class="VPSidebar'));
  const group = html.lastIndexOf(CLOSED, link);
  const isInGroup = link > 0 && group > 0 && !html.slice(group, link).includes('</section>');
  return isInGroup ? html.slice(0, group) + html.slice(group).replace(CLOSED, ' collapsible') : html;
}

const CLOSED = ' collapsible collapsed';

/**
 * The groups of the sidebar: the sections of the index. The first is open. Each links to its section: a group without a link is
 * a button that contains another one.
 */
export const sidebar = (): DefaultTheme.SidebarItem[] =>
  read(INDEX)
    .split(/^## /m)
    .slice(1)
    .map((section, i) => {
      const text = section.split('\n')[0]!;
      const link = `/contents#${text.toLowerCase().replaceAll(' ', '-')}`;
      return { text, link, collapsed: i > 0, items: linksIn(section) };
    });
