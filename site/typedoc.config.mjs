import { OptionDefaults } from 'typedoc';
import { REPOSITORY } from './repository.mjs';

/** @type {Partial<import('typedoc').TypeDocOptions> & Record<string, unknown>} */
export default {
  entryPoints: [
    '../libs/auth/src/index.ts',
    '../libs/auth/src/tools/console/index.ts',
    '../libs/auth/src/tools/drizzle/drizzle-users.ts',
    '../libs/auth/src/features/access-keys/index.ts',
    '../libs/auth/src/features/identities/index.ts',
    '../libs/auth/src/tools/languages/index.ts',
    '../libs/auth/src/tools/openapi/describe-auth.ts',
    '../libs/auth/src/tools/prisma/prisma-users.ts',
    '../libs/auth/src/tools/redis-cluster/redis-cluster-store.ts',
    '../libs/auth/src/tools/testing/index.ts',
    '../libs/auth-client/src/index.ts',
    '../libs/auth-client/src/account.ts',
    '../libs/auth-client/src/identities.ts',
    '../libs/auth-client/src/react.ts',
    '../libs/auth-client/src/vue.ts',
  ],
  tsconfig: './tsconfig.api.json',
  // `npm run typecheck` checks the sources.
  skipErrorChecking: true,
  plugin: ['typedoc-plugin-markdown', './typedoc-sections.mjs'],
  logLevel: 'Error',

  blockTags: [...OptionDefaults.blockTags, '@publicApi', '@env'],
  excludeTags: ['@publicApi'],
  excludePrivate: true,
  excludeInternal: true,
  excludeExternals: true,
  categorizeByGroup: false,
  // The order of `index.ts`.
  categoryOrder: [
    'Module',
    'Injectables',
    'Decorators and guards',
    'Options',
    'Entities and migrations',
    'Events',
    'Exceptions',
    'Ports',
  ],

  out: 'api',
  router: 'member',
  readme: './api-introduction.md',
  mergeReadme: true,
  entryFileName: 'index',
  pageTitleTemplates: { index: 'API reference', module: '@svc/{name}', member: '{name}' },
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  parametersFormat: 'table',
  indexFormat: 'table',
  sanitizeComments: true,
  disableGit: true,
  gitRevision: 'main',
  basePath: '..',
  displayBasePath: '..',
  sourceLinkTemplate: `${REPOSITORY}/blob/main/{path}#L{line}`,
};
