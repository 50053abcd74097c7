// The hosts of `examples/`, installed, built and driven over HTTP: `npm run test:examples`.
const { projects, ...shared } = require('./jest.config.cjs');
const e2e = projects.find(({ displayName }) => displayName === 'e2e');

/** @type {import('jest').Config} */
module.exports = {
  ...shared,
  testTimeout: 300_000,
  maxWorkers: 2,
  projects: [{ ...e2e, displayName: 'examples', testMatch: ['<rootDir>/test/**/*.examples-spec.ts'] }],
};
