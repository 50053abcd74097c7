const { availableParallelism } = require('node:os');
const { join } = require('node:path');
const { swcOptions } = require('../support/runtime/swc-options.cjs');

const rootDir = join(__dirname, '../..');

const base = {
  rootDir,
  // swc compiles our TypeScript. Packages are loaded unchanged.
  transform: { '^.+\\.ts$': ['@swc/jest', swcOptions] },
  runtime: '<rootDir>/test/jest/node-runtime.cjs',
  testEnvironment: '<rootDir>/test/jest/process-environment.cjs',
  moduleNameMapper: {
    '^@svc/auth$': '<rootDir>/libs/auth/src/index.ts',
    '^@svc/auth/console$': '<rootDir>/libs/auth/src/tools/console/index.ts',
    '^@svc/auth/drizzle$': '<rootDir>/libs/auth/src/tools/drizzle/drizzle-users.ts',
    '^@svc/auth/access-keys$': '<rootDir>/libs/auth/src/features/access-keys/index.ts',
    '^@svc/auth/bound-sessions$': '<rootDir>/libs/auth/src/features/bound-sessions/index.ts',
    '^@svc/auth/identities$': '<rootDir>/libs/auth/src/features/identities/index.ts',
    '^@svc/auth/languages$': '<rootDir>/libs/auth/src/tools/languages/index.ts',
    '^@svc/auth/openapi$': '<rootDir>/libs/auth/src/tools/openapi/describe-auth.ts',
    '^@svc/auth/operators$': '<rootDir>/libs/auth/src/features/operators/index.ts',
    '^@svc/auth/prisma$': '<rootDir>/libs/auth/src/tools/prisma/prisma-users.ts',
    '^@svc/auth/redis-cluster$': '<rootDir>/libs/auth/src/tools/redis-cluster/redis-cluster-store.ts',
    '^@svc/auth/testing$': '<rootDir>/libs/auth/src/tools/testing/index.ts',
    '^@svc/auth-client$': '<rootDir>/libs/auth-client/src/index.ts',
    '^@svc/auth-client/(account|bound|identities|react|vue)$': '<rootDir>/libs/auth-client/src/$1.ts',
    // The client is compiled to ES modules, which name each other with the extension.
    '^(\\./(?:account|base64url|bound|client|clock|errors|fetch|http|identities|passkeys|react|session|state|storage|types|vue|(?:dom|native|server|tabs)\\.testkit))\\.js$':
      '$1.ts',
  },
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/libs/auth/dist', '<rootDir>/libs/auth-client/dist'],
  setupFiles: ['reflect-metadata'],
  restoreMocks: true,
};

const onStores = {
  ...base,
  globalSetup: '<rootDir>/test/jest/global-setup.cjs',
  globalTeardown: '<rootDir>/test/jest/global-teardown.cjs',
};

/** @type {import('jest').Config} */
module.exports = {
  rootDir,
  reporters: ['default', '<rootDir>/test/jest/counting-reporter.cjs'],
  testSequencer: '<rootDir>/test/jest/slow-first-sequencer.cjs',
  testTimeout: 300_000,
  // Replaces a worker whose memory has grown because of leaks in test files.
  workerIdleMemoryLimit: '2GB',
  // One more than there are processors: tests wait for stores, timeouts and processes a third of the time. Each worker costs
  // the load of all packages, and runs their code slowly at first.
  maxWorkers: availableParallelism() + 1,
  projects: [
    { ...base, displayName: 'unit', testMatch: ['<rootDir>/libs/**/*.spec.ts'] },
    { ...onStores, displayName: 'e2e', testMatch: ['<rootDir>/{libs,test}/**/*.e2e-spec.ts'] },
    // Files that measure time, flood, freeze or kill run one at a time, after all others.
    {
      ...onStores,
      displayName: 'alone',
      runner: '<rootDir>/test/jest/alone-runner.cjs',
      testMatch: ['<rootDir>/{libs,test}/**/*.alone-spec.ts'],
    },
  ],
};
