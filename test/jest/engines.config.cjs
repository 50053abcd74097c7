// The flows on every engine, and the kill matrix, one file at a time: `npm run test:engines` kills each master three times,
// `npm run test:engines:all` ten times.
const { projects, ...shared } = require('./jest.config.cjs');
const alone = projects.find(({ displayName }) => displayName === 'alone');

/** @type {import('jest').Config} */
module.exports = {
  ...shared,
  testTimeout: 600_000,
  projects: [{ ...alone, displayName: 'engines', testMatch: ['<rootDir>/{libs,test}/**/*.engine-spec.ts'] }],
};
