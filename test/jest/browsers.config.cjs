// The browser client in Chromium and Firefox, and flows of the page of the sample in Firefox: `npm run test:browsers`. `npm test`
// runs the page in Chromium.
const { projects, ...shared } = require('./jest.config.cjs');
const e2e = projects.find(({ displayName }) => displayName === 'e2e');

const CLIENT = '<rootDir>/test/**/*.browsers-spec.ts';
const PAGE = '<rootDir>/test/sample/page-{sign-in,tabs}.e2e-spec.ts';

/** @type {import('jest').Config} */
module.exports = {
  ...shared,
  testTimeout: 120_000,
  projects: [
    { ...e2e, displayName: 'Chromium', testMatch: [CLIENT] },
    {
      ...e2e,
      displayName: 'Firefox',
      testMatch: [CLIENT, PAGE],
      setupFiles: [...e2e.setupFiles, '<rootDir>/test/jest/in-firefox.cjs'],
    },
  ],
};
