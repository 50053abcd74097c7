// The whole end-to-end suite on Fastify: `npm run test:fastify`. `npm test` runs there what depends on the adapter.
const { projects, ...shared } = require('./jest.config.cjs');
const [e2e, fastify] = ['e2e', 'fastify'].map((name) => projects.find(({ displayName }) => displayName === name));

/** @type {import('jest').Config} */
module.exports = { ...shared, projects: [{ ...fastify, testMatch: e2e.testMatch }] };
