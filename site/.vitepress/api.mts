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
  'auth/access-keys',
  'auth/identities',
  'auth/languages',
  'auth/openapi',
  'auth/prisma',
  'auth/redis-cluster',
  'auth/testing',
  'auth-client',
  'auth-client/account',
  'auth-client/identities',
  'auth-client/react',
  'auth-client/vue',
];

/**
 * The sidebar of the API reference: the modules, and the groups of the largest one. The names are in the index of each
 * module: as links in the sidebar, they would be most of the text of each page.
 */
export function apiSidebar(): DefaultTheme.SidebarItem[] {
  if (!existsSync(join(ROOT, 'site/api/index.md'))) throw new Error('The API reference is missing: npm run api');
  return MODULES.map((module) => {
    const groups = read(`site/api/${module}/index.md`).split(/^## /m).slice(1);
    const titles = groups.map((group) => group.split('\n')[0]!);
    return {
      text: `@svc/${module}`,
      link: `/api/${module}/`,
      ...(module === 'auth' && {
        items: titles.map((text) => ({ text, link: `/api/${module}/#${slugify(text)}` })),
      }),
    };
  });
}
