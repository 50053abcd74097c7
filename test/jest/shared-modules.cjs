const { existsSync } = require('node:fs');
const { dirname, isAbsolute, join, resolve } = require('node:path');
const { ALIASES } = require('../support/runtime/register-ts.cjs');

const LIBRARY = join(__dirname, '../../libs/auth/src/');
const OF_TESTS = /\.(?:testkit|[\w-]*spec)\.ts$/;

/** The file of a name that a file imports, or undefined. The library has no other extension. */
const files = new Map();
function fileOf(from, name) {
  if (name === undefined || ALIASES[name]) return ALIASES[name] ?? from;
  if (!name.startsWith('.') && !isAbsolute(name)) return undefined;
  const path = resolve(dirname(from), name);
  if (!files.has(path))
    files.set(
      path,
      [path, `${path}.ts`, join(path, 'index.ts')].find((file) => file.endsWith('.ts') && existsSync(file)),
    );
  return files.get(path);
}

/** The entries of TypeORM's registry that modules of the library have added. */
const ofLibrary = new WeakSet();
const lists = () => Object.values(globalThis.typeormMetadataArgsStorage ?? {}).filter(Array.isArray);
// With --runInBand, the setup of the run has loaded the library in this process.
for (const list of lists()) for (const entry of list) ofLibrary.add(entry);

const isShared = (file) => file.startsWith(LIBRARY) && !OF_TESTS.test(file);

/**
 * Loads a module of the library, once per worker, as Node does.
 *
 * @returns its exports, or undefined for any other module
 */
exports.sharedModule = (from, name) => {
  const file = fileOf(from, name);
  if (!file || !isShared(file)) return undefined;
  const known = require.cache[file];
  if (known) return known.exports;
  const before = new Map(lists().map((list) => [list, list.length]));
  const loaded = require(file);
  for (const list of lists()) for (const entry of list.slice(before.get(list) ?? 0)) ofLibrary.add(entry);
  return loaded;
};

/**
 * Removes what a test file has added: entries of TypeORM's registry, and modules of the tests that Node has loaded, as for an
 * application in a temporary folder. Loaded again, they register their entities again.
 */
exports.removeAdded = () => {
  for (const list of lists()) list.splice(0, list.length, ...list.filter((entry) => ofLibrary.has(entry)));
  for (const file of Object.keys(require.cache))
    if (file.endsWith('.ts') && !isShared(file) && !file.includes('/node_modules/')) delete require.cache[file];
};
