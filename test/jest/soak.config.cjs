// Tests that take minutes and measure time: `npm run test:soak`, on an otherwise idle machine.
const { projects, ...shared } = require('./jest.config.cjs');
const e2e = projects.find(({ displayName }) => displayName === 'e2e');

/** @type {import('jest').Config} */
module.exports = {
  ...shared,
  testTimeout: 600_000,
  projects: [{ ...e2e, displayName: 'soak', testMatch: ['<rootDir>/test/soak/**/*.soak.ts'] }],
};
