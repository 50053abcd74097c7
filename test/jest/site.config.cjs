// The documentation site, built and opened in a browser: `npm run test:site`.
const { projects, ...shared } = require('./jest.config.cjs');
const {
  globalSetup: _setup,
  globalTeardown: _teardown,
  ...e2e
} = projects.find(({ displayName }) => displayName === 'e2e');

/** @type {import('jest').Config} */
module.exports = {
  ...shared,
  testTimeout: 300_000,
  projects: [{ ...e2e, displayName: 'site', testMatch: ['<rootDir>/test/**/*.site-spec.ts'] }],
};
