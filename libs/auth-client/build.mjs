// Builds the client. Each argument is a folder or a file; without arguments it is the folder `dist`. The folder gets the package:
// modules and types for bundlers, and minified modules for pages without a bundler: the client, and beside it the account, the
// key and the identities. A file (`*.js`) gets the module of the client, or a file `*account.js`, `*bound.js` or `*identities.js`
// one of the others, readable, without the comments that documentation is made of: a page loads it without compression. Files need only TypeScript.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const targets = process.argv.length > 2 ? process.argv.slice(2) : [join(here, 'dist')];
const files = targets.filter((name) => name.endsWith('.js'));
const target = targets.find((name) => !files.includes(name));
const folder = target ?? mkdtempSync(join(tmpdir(), 'svc-client-'));

rmSync(folder, { recursive: true, force: true });
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const flags = ['-p', join(here, 'tsconfig.lib.json'), '--outDir', folder];
const { status } = spawnSync(process.execPath, [tsc, ...flags], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

// In the order of their imports. No two of them declare the same name at the top level, so that they can be one module.
const MODULES = ['errors', 'base64url', 'clock', 'http', 'storage', 'session', 'fetch', 'passkeys', 'client'];
const textOf = (modules) =>
  modules
    .map((name) => readFileSync(join(folder, `${name}.js`), 'utf8'))
    .join('\n')
    .replaceAll(/^import .*\n/gm, '')
    .replaceAll(/^export (?=(?:const|(?:async )?function|class) )/gm, '');
/**
 * Members that the modules use among themselves. No type of the package, message between tabs or body of a route has a member
 * of such a name, so the minifier can shorten them.
 */
const INTERNAL =
  /^(announce|askFor|carrier|endOffer|enrol|forget|fresh|init|isFresh|keep|live|offer|refused|renewAgain|sendAuthorized|signInAt)$/;
const client = `${textOf(MODULES)}\nexport { AuthError, createAuthClient };\n`;
const sources = { 'auth-client': client };
// They import only types.
for (const name of ['account', 'identities'])
  sources[`auth-${name}`] = readFileSync(join(folder, `${name}.js`), 'utf8');
sources['auth-bound'] = `${textOf(['base64url', 'clock', 'bound'])}\nexport { boundKey };\n`;
const sourceFor = (file) => sources[`auth-${/(?:account|bound|identities)(?=\.js$)/.exec(file)?.[0] ?? 'client'}`];

const BLOCK_COMMENT = /^ *\/\*[^]*?\*\/\n/gm;
/** The compiler indents with four spaces. No text of the client has several lines. */
const narrow = (spaces) => spaces.slice(spaces.length / 2);
for (const file of files)
  writeFileSync(file, sourceFor(file).replaceAll(BLOCK_COMMENT, '').replaceAll(/^ +/gm, narrow));

if (target === undefined) {
  rmSync(folder, { recursive: true });
} else {
  const { minify } = await import('@swc/core');
  for (const [name, source] of Object.entries(sources)) {
    const { code } = await minify(source, {
      module: true,
      compress: { passes: 3, ecma: 2022, keep_fargs: false },
      mangle: { topLevel: true, props: { regex: INTERNAL.source } },
      format: { comments: false },
    });
    writeFileSync(join(folder, `${name}.min.js`), `${code}\n`);
  }
}
