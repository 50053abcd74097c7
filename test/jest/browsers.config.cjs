// The browser client and the quality of the page of the sample in Chromium and Firefox, and the flows of the page in Firefox:
// `npm run test:browsers`. `npm test` runs these flows in Chromium.
const { projects, ...shared } = require('./jest.config.cjs');
const e2e = projects.find(({ displayName }) => displayName === 'e2e');

const CLIENT = '<rootDir>/test/**/*.browsers-spec.ts';
const PAGE = '<rootDir>/test/sample/page-*.e2e-spec.ts';

/** @type {import('jest').Config} */
module.exports = {
  ...shared,
  // Each has a browser and a server of its own.
  maxWorkers: 2,
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
