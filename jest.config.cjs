// Nest 12 is ESM only and Jest cannot require(esm) on Node 20 and 22, so swc makes everything Jest loads
// CommonJS: our TypeScript, and the packages named here. Mercurius is CommonJS, but imports one that is not.
const ESM_ONLY = ['@nestjs', '@noble', '@scure', 'content-disposition', 'mercurius', 'quick-lru'];
const { swcOptions } = require('./test/support/swc-options.cjs');

const base = {
  testEnvironment: 'node',
  transform: {
    '^.+\\.ts$': ['@swc/jest', swcOptions('typescript')],
    '^.+\\.m?js$': ['@swc/jest', swcOptions('ecmascript')],
  },
  transformIgnorePatterns: [`/node_modules/(?!(?:.*/node_modules/)?(?:${ESM_ONLY.join('|')})/)`],
  moduleNameMapper: {
    '^@svc/auth$': '<rootDir>/libs/auth/src/index.ts',
    '^@svc/auth/console$': '<rootDir>/libs/auth/src/console/index.ts',
    '^@svc/auth/testing$': '<rootDir>/libs/auth/src/testing/index.ts',
  },
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/libs/auth/dist'],
  setupFiles: ['reflect-metadata'],
  restoreMocks: true,
};

const e2e = {
  ...base,
  displayName: 'e2e',
  testMatch: ['<rootDir>/test/**/*.e2e-spec.ts'],
  globalSetup: '<rootDir>/test/support/global-setup.cjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.cjs',
};

// What depends on the HTTP adapter. `npm run test:fastify` runs everything else on Fastify, too.
const ON_FASTIFY = [
  'abilities/gates',
  'confirmation/*',
  'email-verification/*',
  'http/*',
  'login/login',
  'sessions/{cookie-mode,list,refresh}',
  'surface/routes',
  'throttling/limits',
  'transports/websockets',
];

/** @type {import('jest').Config} */
module.exports = {
  reporters: ['default', '<rootDir>/test/support/counting-reporter.cjs'],
  testTimeout: 60_000,
  // Jest keeps the modules of every file it ran; a process that is replaced now and then stays quick.
  workerIdleMemoryLimit: '1GB',
  projects: [
    { ...base, displayName: 'unit', testMatch: ['<rootDir>/libs/**/*.spec.ts'] },
    e2e,
    {
      ...e2e,
      displayName: 'fastify',
      setupFiles: [...base.setupFiles, '<rootDir>/test/support/on-fastify.cjs'],
      testMatch: ON_FASTIFY.map((name) => `<rootDir>/test/${name}.e2e-spec.ts`),
    },
  ],
};
