// The browser client and the page of the sample in Chromium, and in Firefox what engines do differently: `npm run
// test:browsers`. `npm run test:browsers:all` runs every file in both.
const { projects, ...shared } = require('./jest.config.cjs');
const e2e = projects.find(({ displayName }) => displayName === 'e2e');

const FILES = '<rootDir>/test/**/*.browsers-spec.ts';

/** Requests, cookies, storage, locks and messages between tabs, passkeys and their suggestions. */
const DIFFERENT_BY_ENGINE = [
  '<rootDir>/test/client/*.browsers-spec.ts',
  '<rootDir>/test/sample/page-{access-keys,identities,sign-in,support,tabs,without-storage}.browsers-spec.ts',
];

/** @type {import('jest').Config} */
module.exports = {
  ...shared,
  // Each has a browser and a server of its own.
  maxWorkers: 2,
  projects: [
    { ...e2e, displayName: 'Chromium', testMatch: [FILES] },
    {
      ...e2e,
      displayName: 'Firefox',
      testMatch: process.env.TEST_FILES === 'all' ? [FILES] : DIFFERENT_BY_ENGINE,
      setupFiles: [...e2e.setupFiles, '<rootDir>/test/jest/in-firefox.cjs'],
    },
  ],
};
