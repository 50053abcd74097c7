// The browser client and the page of the sample, each in Chromium and in Firefox: `npm run test:browsers`.
const { projects, ...shared } = require('./jest.config.cjs');
const e2e = projects.find(({ displayName }) => displayName === 'e2e');
const testMatch = ['<rootDir>/test/**/*.browsers-spec.ts'];

/** @type {import('jest').Config} */
module.exports = {
  ...shared,
  // Each has a browser and a server of its own.
  maxWorkers: 2,
  projects: [
    { ...e2e, displayName: 'Chromium', testMatch },
    {
      ...e2e,
      displayName: 'Firefox',
      testMatch,
      setupFiles: [...e2e.setupFiles, '<rootDir>/test/jest/in-firefox.cjs'],
    },
  ],
};
