import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import { ROOT, read } from '../repository.mjs';
import { slugify } from './links.mts';

/** The entry points of the packages, by the folders that typedoc writes. */
const MODULES = [
  'auth',
  'auth/console',
  'auth/drizzle',
  'auth/languages',
  'auth/openapi',
  'auth/prisma',
  'auth/redis-cluster',
  'auth/testing',
  'auth-client',
];

/** The sidebar of the API reference: each table of the generated indexes is a group. */
export function apiSidebar(): DefaultTheme.SidebarItem[] {
  if (!existsSync(join(ROOT, 'site/api/index.md'))) throw new Error('The API reference is missing: npm run api');
  return MODULES.map((module) => {
    const groups = read(`site/api/${module}/index.md`).split(/^## /m).slice(1);
    const lists = groups.map((group) => {
      const text = group.split('\n')[0]!;
      // A group that is only a button would contain another one.
      return { text, link: `/api/${module}/#${slugify(text)}`, items: linksIn(group, module) };
    });
    return {
      text: `@svc/${module}`,
      link: `/api/${module}/`,
      items:
        module === 'auth' ? lists.map((list) => ({ ...list, collapsed: true })) : lists.flatMap(({ items }) => items),
    };
  });
}

const linksIn = (group: string, module: string): DefaultTheme.SidebarItem[] =>
  [...group.matchAll(/^\| \[(\w+)\]\((\S+)\.md\)/gm)].map(([, text, page]) => ({
    text: text!,
    link: `/api/${module}/${page}`,
  }));
