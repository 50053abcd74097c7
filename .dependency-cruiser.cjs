// Folders of libs/auth/src in their order: a folder imports its own files and those of earlier folders only, types too.
const ORDER = [
  'foundation/platform',
  'foundation/security-store',
  'foundation/ports',
  'foundation/languages',
  'foundation/config',
  'foundation/observability',
  'foundation/realm',
  'identity/denylist',
  'identity/users',
  'identity/password',
  'identity/tokens',
  'request/gates',
  'request/http',
  'request/throttling',
  'request/lockout',
  'request/abilities',
  'request/routes',
  'features/sessions',
  'features/login',
  'features/login-challenge',
  'features/step-up',
  'features/mail',
  'tools/retention',
  'tools/migrations',
  'tools/health',
  'tools/openapi',
  'tools/languages',
  'tools/redis-cluster',
  'tools/drizzle',
  'tools/prisma',
  'tools/console',
  'tools/cli',
];

const SRC = '^libs/auth/src/';
const inside = (folders) => `${SRC}(${folders.join('|')})/`;

const BASE_FEATURES = ORDER.filter((folder) => folder.startsWith('features/')).map((folder) => folder.split('/')[1]);

// Every other feature. It imports the names of the kit and its own folder, so that features can be added and removed alone.
const ADDED = `${SRC}features/(?!(?:${BASE_FEATURES.join('|')})/)([^/]+)/`;
const KIT = `${SRC}kit[./]`;

// The type of all options names the documented interface of each feature, which stands beside the feature. Only types are
// imported, and only by this file, so that a reader of `AuthModuleOptions` in an editor gets to each option.
const ALL_OPTIONS = `${SRC}foundation/config/auth-options\\.ts$`;
const OPTIONS = '\\.options\\.ts$';
// The lists of all features, their tables and their options. Tools read them.
const LISTS = `${SRC}(features|entities|library-options)\\.ts$`;

// Helpers for the tests of a host. Those of a feature are in its folder.
const TESTING = [inside(['tools/testing']), `${SRC}features/[^/]+/testing\\.ts$`];

const forbid = (name, from, to) => ({ name, severity: 'error', from, to });

module.exports = {
  forbidden: [
    forbid('no-cycles', {}, { circular: true, viaOnly: { pathNot: OPTIONS } }),
    forbid(
      'options-of-features-are-types',
      { path: ALL_OPTIONS },
      { path: OPTIONS, dependencyTypesNot: ['type-only'] },
    ),
    forbid('policies-are-pure', { path: '\\.policy\\.ts$' }, { dependencyTypesNot: ['type-only'] }),
    forbid('testing-stays-out', { path: SRC, pathNot: TESTING }, { path: TESTING }),
    // So that every session starts with the checks of `SignIn`.
    forbid(
      'one-file-starts-sessions',
      { path: SRC, pathNot: `${SRC}features/sessions/(sign-in|sessions\\.feature)\\.ts$` },
      { path: `${SRC}features/sessions/new-sessions\\.ts$`, dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'every-folder-has-a-place',
      { path: SRC, pathNot: [inside([...ORDER, 'tools/testing']), ADDED, KIT, `${SRC}[^/]+$`] },
      {},
    ),
    forbid(
      'added-features-use-the-kit',
      { path: ADDED, pathNot: '/testing\\.ts$' },
      { path: SRC, pathNot: [`${SRC}features/$1/`, `${SRC}kit\\.ts$`] },
    ),
    forbid(
      'the-kit-looks-down',
      { path: KIT },
      { path: SRC, pathNot: [inside(ORDER.filter((folder) => !folder.startsWith('tools/'))), KIT] },
    ),
    ...ORDER.map((folder, i) =>
      forbid(
        `${folder}-looks-down`,
        { path: inside([folder]), pathNot: [ALL_OPTIONS, ...TESTING] },
        { path: SRC, pathNot: [inside(ORDER.slice(0, i + 1)), ...(folder.startsWith('tools/') ? [LISTS, ADDED] : [])] },
      ),
    ),
    forbid(
      'the-type-of-options-looks-down',
      { path: ALL_OPTIONS },
      { path: SRC, pathNot: [inside(ORDER.slice(0, ORDER.indexOf('foundation/config') + 1)), OPTIONS] },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // They start the library as a host does, or read the list of all features.
    exclude: { path: 'spec\\.ts$|\\.testkit\\.ts$' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
