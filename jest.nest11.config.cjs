// The end-to-end suite on Nest 11: `npm run test:nest11`, which installs it. What is left out runs the sample as it was
// built, or hosts of its own on either.
const { projects, ...shared } = require('./jest.config.cjs');
const e2e = projects.find(({ displayName }) => displayName === 'e2e');

/** @type {import('jest').Config} */
module.exports = {
  ...shared,
  projects: [
    {
      ...e2e,
      displayName: 'nest 11',
      moduleNameMapper: {
        ...e2e.moduleNameMapper,
        '^@nestjs/(.+)$': '<rootDir>/test/nest-11/node_modules/@nestjs/$1',
      },
      setupFiles: [...e2e.setupFiles, '<rootDir>/test/support/on-nest-11.cjs'],
      testPathIgnorePatterns: ['<rootDir>/test/(sample|package|docs|surface)/'],
    },
  ],
};
