// With TEST_NEST=11, every import of Nest resolves to the version of test/nest-11.
const Module = require('node:module');
const { join } = require('node:path');

if (process.env.TEST_NEST === '11') {
  const paths = [join(__dirname, '../nest-11')];
  const resolve = Module._resolveFilename;
  Module._resolveFilename = (request, parent, isMain, options) =>
    resolve(request, parent, isMain, request.startsWith('@nestjs/') ? { paths } : options);
}
