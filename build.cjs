// Builds the library (`auth`) and the sample: `node build.cjs auth sample`. With `--no-check`, types are not checked.
const { spawnSync } = require('node:child_process');
const { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } = require('node:fs');
const { dirname, join, relative } = require('node:path');

const SAMPLE = 'dist/apps/sample';

/** The paths of `tsconfig.json`, in the output of the sample. */
const ALIASES = {
  '@svc/auth': `${SAMPLE}/libs/auth/src/index`,
  '@svc/auth/console': `${SAMPLE}/libs/auth/src/tools/console/index`,
};

const PROJECTS = {
  auth: { settings: 'libs/auth/tsconfig.lib.json', output: 'libs/auth/dist' },
  sample: { settings: 'apps/sample/tsconfig.app.json', output: SAMPLE, finish: finishSample },
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

function build({ settings, output, finish }, flags) {
  rmSync(output, { recursive: true, force: true });
  const compiler = [require.resolve('typescript/bin/tsc'), '-p', settings, ...flags];
  const { status } = spawnSync(process.execPath, compiler, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  finish?.();
}

process.chdir(__dirname);
const [names, flags] = [[], []];
for (const word of process.argv.slice(2)) (word.startsWith('-') ? flags : names).push(word);
for (const name of names) build(PROJECTS[name], flags.includes('--no-check') ? ['--noCheck'] : []);
