// The tests on Fastify; `npm test` runs on Express. `npm run test:fastify` runs what an HTTP adapter can change, at most 1,300
// tests. `npm run test:fastify:all` runs the whole end-to-end suite.
process.env.TEST_ADAPTER = 'fastify';
const { readFileSync, readdirSync } = require('node:fs');
const { join } = require('node:path');
const { MOST_TESTS, runsOnFastify } = require('./fastify-files.cjs');
const { projects, rootDir, ...shared } = require('./jest.config.cjs');

const isWhole = process.env.TEST_FILES === 'all';
const isChosen = (path) =>
  /\.(?:e2e|alone)-spec\.ts$/.test(path) &&
  !/\/(node_modules|dist)\//.test(path) &&
  runsOnFastify(path, readFileSync(join(rootDir, path), 'utf8'));
const chosen = isWhole
  ? []
  : ['libs', 'test']
      .flatMap((folder) => readdirSync(join(rootDir, folder), { recursive: true }).map((name) => join(folder, name)))
      .map((path) => path.replaceAll('\\', '/'))
      .filter(isChosen)
      .map((path) => `<rootDir>/${path}`);

/** @type {import('jest').Config} */
module.exports = {
  ...shared,
  rootDir,
  reporters: ['default', ['<rootDir>/test/jest/counting-reporter.cjs', isWhole ? {} : { most: MOST_TESTS }]],
  projects: ['e2e', 'alone'].map((name) => {
    const project = projects.find(({ displayName }) => displayName === name);
    const testMatch = isWhole ? project.testMatch : chosen.filter((path) => path.endsWith(`.${name}-spec.ts`));
    return { ...project, displayName: `${name} on Fastify`, testMatch };
  }),
};
