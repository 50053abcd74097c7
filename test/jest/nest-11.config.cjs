// The end-to-end suite on Nest 11: `npm run test:nest11`, which installs it. The excluded files run the built sample, or
// hosts that choose their version of Nest themselves.
process.env.TEST_NEST = '11';
const { projects, ...shared } = require('./jest.config.cjs');

/** @type {import('jest').Config} */
module.exports = {
  ...shared,
  projects: projects
    .filter(({ displayName }) => displayName === 'e2e' || displayName === 'alone')
    .map((project) => ({
      ...project,
      displayName: `${project.displayName} on Nest 11`,
      testPathIgnorePatterns: ['<rootDir>/test/(sample|package|deploy|docs|surface)/'],
    })),
};
