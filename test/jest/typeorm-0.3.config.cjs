// The end-to-end suite on TypeORM 0.3: `npm run test:typeorm03`, which installs it. The excluded files run the built sample,
// or hosts that choose their version of TypeORM themselves.
process.env.TEST_TYPEORM = '0.3';
const { projects, ...shared } = require('./jest.config.cjs');

/** @type {import('jest').Config} */
module.exports = {
  ...shared,
  projects: projects
    .filter(({ displayName }) => displayName === 'e2e' || displayName === 'alone')
    .map((project) => ({
      ...project,
      displayName: `${project.displayName} on TypeORM 0.3`,
      testPathIgnorePatterns: ['<rootDir>/test/(sample|package|deploy|docs|surface)/'],
    })),
};
