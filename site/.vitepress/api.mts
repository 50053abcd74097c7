import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import { ROOT } from '../repository.mjs';

/** The entry points of the packages, by the folders that typedoc writes. */
const MODULES = [
  'auth',
  'auth/console',
  'auth/drizzle',
  'auth/access-keys',
  'auth/identities',
  'auth/languages',
  'auth/openapi',
  'auth/operators',
  'auth/prisma',
  'auth/redis-cluster',
  'auth/testing',
  'auth-client',
  'auth-client/account',
  'auth-client/identities',
  'auth-client/react',
  'auth-client/vue',
];

/** The sidebar of the API reference: the modules. As links in the sidebar, names would be most of the text of each page. */
export function apiSidebar(): DefaultTheme.SidebarItem[] {
  if (!existsSync(join(ROOT, 'site/api/index.md'))) throw new Error('The API reference is missing: npm run api');
  return MODULES.map((module) => ({ text: `@svc/${module}`, link: `/api/${module}/` }));
}
