// With TEST_NEST=11, every import of Nest resolves to the version of test/nest-11. With TEST_TYPEORM=0.3, every import of
// TypeORM and of its Nest module resolves to the version of test/typeorm-0.3.
const Module = require('node:module');
const { join } = require('node:path');

const FOLDERS = [
  process.env.TEST_NEST === '11' && { pattern: /^@nestjs\//, folder: 'nest-11' },
  process.env.TEST_TYPEORM === '0.3' && { pattern: /^(?:@nestjs\/)?typeorm(?:\/|$)/, folder: 'typeorm-0.3' },
].filter(Boolean);

/** The folder whose `node_modules` contains the version of a package that the tests run on. */
exports.folderOf = (name) => {
  const other = FOLDERS.find(({ pattern }) => pattern.test(name));
  return join(__dirname, other ? `../../${other.folder}` : '../../..');
};

if (FOLDERS.length) {
  const resolve = Module._resolveFilename;
  Module._resolveFilename = (request, parent, isMain, options) => {
    const isOther = FOLDERS.some(({ pattern }) => pattern.test(request));
    return resolve(request, parent, isMain, isOther ? { paths: [exports.folderOf(request)] } : options);
  };
}
