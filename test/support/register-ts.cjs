// Lets plain `node --require` run our TypeScript: for server processes that tests and benchmarks start.
const { transformSync } = require('@swc/core');
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { join } = require('node:path');
const { swcOptions } = require('./swc-options.cjs');

require('reflect-metadata');

const src = join(__dirname, '../../libs/auth/src');
const ALIASES = {
  '@svc/auth': join(src, 'index.ts'),
  '@svc/auth/console': join(src, 'console/index.ts'),
  '@svc/auth/testing': join(src, 'testing/index.ts'),
};

require.extensions['.ts'] = (module, filename) => {
  module._compile(
    transformSync(readFileSync(filename, 'utf8'), { filename, ...swcOptions('typescript') }).code,
    filename,
  );
};
const NEST_11 = { paths: [join(__dirname, '../nest-11')] };
const resolve = Module._resolveFilename;
Module._resolveFilename = (request, parent, isMain, options) =>
  process.env.TEST_NEST === '11' && request.startsWith('@nestjs/')
    ? resolve(request, parent, isMain, NEST_11)
    : resolve(ALIASES[request] ?? request, parent, isMain, options);
