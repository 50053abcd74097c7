// The packed package, installed into new hosts as a user installs it: `npm run test:package`.
const { projects, ...shared } = require('./jest.config.cjs');
const e2e = projects.find(({ displayName }) => displayName === 'e2e');

/** @type {import('jest').Config} */
module.exports = {
  ...shared,
  testTimeout: 300_000,
  projects: [{ ...e2e, displayName: 'package', testMatch: ['<rootDir>/test/**/*.package-spec.ts'] }],
};
