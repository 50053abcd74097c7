// The end-to-end suite on Nest 11: `npm run test:nest11`, which installs it. What is left out runs the sample as it was
// built, or hosts of its own on either.
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
      testPathIgnorePatterns: ['<rootDir>/test/(sample|package|docs|surface)/'],
    })),
};
