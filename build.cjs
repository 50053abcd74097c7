// Builds the library (`auth`) and the sample: `node build.cjs auth sample`. With `--no-check`, swc compiles the sample without a
// check of types and without source maps, in a tenth of the time: for tests.
const { spawnSync } = require('node:child_process');
const { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } = require('node:fs');
const { dirname, join, relative } = require('node:path');

const SAMPLE = 'dist/apps/sample';

/** The paths of `tsconfig.json`, in the output of the sample. */
const ALIASES = {
  '@svc/auth': `${SAMPLE}/libs/auth/src/index`,
  '@svc/auth/console': `${SAMPLE}/libs/auth/src/tools/console/index`,
};

const PROJECTS = {
  auth: { settings: 'libs/auth/tsconfig.lib.json', output: 'libs/auth/dist' },
  sample: {
    settings: 'apps/sample/tsconfig.app.json',
    output: SAMPLE,
    finish: finishSample,
    unchecked: transpileSample,
  },
};

/** TypeScript does not rewrite the paths of its settings, and does not copy the files of the page. */
function finishSample() {
  const code = `${SAMPLE}/apps/sample/src`;
  for (const name of readdirSync(code, { recursive: true }).filter((file) => file.endsWith('.js'))) {
    const file = join(code, name);
    const text = readFileSync(file, 'utf8');
    const linked = text.replaceAll(/require\("([^"]+)"\)/g, (call, from) => {
      const to = ALIASES[from] && relative(dirname(file), ALIASES[from]).replaceAll('\\', '/');
      return to ? `require("${to}")` : call;
    });
    if (linked !== text) writeFileSync(file, linked);
  }
  cpSync('apps/sample/src/web/app', `${code}/web/app`, { recursive: true });
}

function compile({ settings }) {
  const compiler = [require.resolve('typescript/bin/tsc'), '-p', settings];
  const { status } = spawnSync(process.execPath, compiler, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Writes the same modules as TypeScript: those of the sample, and what they import. */
function transpileSample({ output }) {
  const { transformSync } = require('@swc/core');
  const { swcOptions } = require('./test/support/swc-options.cjs');
  // Like TypeScript, keeps `import()`, which loads ES modules.
  const options = { ...swcOptions, module: { ...swcOptions.module, ignoreDynamic: true }, sourceMaps: false };
  const own = readdirSync('apps/sample/src', { recursive: true }).map((name) => join('apps/sample/src', name));
  const files = new Set(own.filter((file) => file.endsWith('.ts') && !file.endsWith('spec.ts')));
  // The set grows during the loop.
  for (const file of files) {
    const source = readFileSync(file, 'utf8');
    const target = join(output, file.replace(/ts$/, 'js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, transformSync(source, { filename: file, ...options }).code);
    for (const [, name] of source.matchAll(/\b(?:from |import |import\(|require\()'([^']+)'/g)) {
      const path = ALIASES[name] ? relative(output, ALIASES[name]) : name.startsWith('.') && join(dirname(file), name);
      const found = path && [`${path}.ts`, join(path, 'index.ts')].find((one) => existsSync(one));
      if (found) files.add(found);
      else if (name.endsWith('.json')) cpSync(path, join(output, path));
    }
  }
}

function build(project, isChecked) {
  rmSync(project.output, { recursive: true, force: true });
  if (isChecked || !project.unchecked) compile(project);
  else project.unchecked(project);
  project.finish?.();
}

process.chdir(__dirname);
const [names, flags] = [[], []];
for (const word of process.argv.slice(2)) (word.startsWith('-') ? flags : names).push(word);
for (const name of names) build(PROJECTS[name], !flags.includes('--no-check'));
