// The end-to-end suite on Fastify: `npm run test:fastify`. `npm test` runs on Express.
process.env.TEST_ADAPTER = 'fastify';
const { projects, ...shared } = require('./jest.config.cjs');

/** @type {import('jest').Config} */
module.exports = {
  ...shared,
  projects: projects
    .filter(({ displayName }) => displayName === 'e2e' || displayName === 'alone')
    .map((project) => ({ ...project, displayName: `${project.displayName} on Fastify` })),
};
