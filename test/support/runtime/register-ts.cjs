// Lets plain `node --require` run TypeScript: for server processes that tests and benchmarks start.
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { join } = require('node:path');
const { swcOptions } = require('./swc-options.cjs');
require('./other-versions.cjs');

require('reflect-metadata');

const ROOT = join(__dirname, '../../../');
const src = join(ROOT, 'libs/auth/src');
const ALIASES = (exports.ALIASES = {
  '@svc/auth': join(src, 'index.ts'),
  '@svc/auth/console': join(src, 'tools/console/index.ts'),
  '@svc/auth/drizzle': join(src, 'tools/drizzle/drizzle-users.ts'),
  '@svc/auth/access-keys': join(src, 'features/access-keys/index.ts'),
  '@svc/auth/bound-sessions': join(src, 'features/bound-sessions/index.ts'),
  '@svc/auth/identities': join(src, 'features/identities/index.ts'),
  '@svc/auth/languages': join(src, 'tools/languages/index.ts'),
  '@svc/auth/openapi': join(src, 'tools/openapi/describe-auth.ts'),
  '@svc/auth/operators': join(src, 'features/operators/index.ts'),
  '@svc/auth/prisma': join(src, 'tools/prisma/prisma-users.ts'),
  '@svc/auth/redis-cluster': join(src, 'tools/redis-cluster/redis-cluster-store.ts'),
  '@svc/auth/testing': join(src, 'tools/testing/index.ts'),
});

const CACHE = join(ROOT, 'node_modules/.cache/register-ts');
mkdirSync(CACHE, { recursive: true });
const SETTINGS = JSON.stringify([swcOptions, require('@swc/core/package.json').version]);

/** Compiles one file, or reads the cached output for the same text: loading swc alone takes 0.2 s. */
function compiled(filename) {
  const source = readFileSync(filename, 'utf8');
  const kept = join(CACHE, `${createHash('sha256').update(SETTINGS).update(filename).update(source).digest('hex')}.js`);
  try {
    return readFileSync(kept, 'utf8');
  } catch {
    const { code } = require('@swc/core').transformSync(source, { filename, ...swcOptions });
    // The rename is atomic, so that a process that starts meanwhile never reads a partial file.
    writeFileSync(`${kept}.${process.pid}`, code);
    renameSync(`${kept}.${process.pid}`, kept);
    return code;
  }
}

// A file elsewhere is loaded as without us.
require.extensions['.ts'] = (module, filename) =>
  filename.startsWith(ROOT)
    ? module._compile(compiled(filename), filename)
    : require.extensions['.js'](module, filename);

const resolve = Module._resolveFilename;
Module._resolveFilename = (request, ...others) => resolve(ALIASES[request] ?? request, ...others);
