import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type TestDatabase, createEmptyDatabase } from '../support/stores/database';
import { ROOT, manifestOf, run } from '../support/packages/package';
import { SampleProcess } from '../support/sample/sample';

interface Project {
  root: string;
  sourceRoot: string;
  entryFile: string;
  compilerOptions: { tsConfigPath: string };
}

const { projects } = JSON.parse(readFileSync(join(ROOT, 'nest-cli.json'), 'utf8')) as {
  projects: Record<string, Project>;
};
const NEST = join(ROOT, 'node_modules/@nestjs/cli/bin/nest.js');

/** What a build or a process writes. A clone does not have it. */
const MADE = new Set(['node_modules', 'dist', '.data', '.env', 'auth-client.js', 'auth-account.js']);

/** The sources as a clone has them, after `npm ci`. The compiler does not check the types: the output is the same. */
function clone(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-clone-'));
  const filter = (name: string): boolean => !MADE.has(basename(name));
  for (const name of ['apps', 'libs', 'nest-cli.json', 'package.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter });
  const settings = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'));
  settings.compilerOptions.noCheck = true;
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  run('npm', ['run', '--silent', 'prepare'], folder);
  return folder;
}

/** The hash of each file of a folder. */
function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true });
  const paths = files.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const hashOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length), hashOf(path)]));
}

describe('the command line of Nest in a fresh clone', () => {
  let folder: string;
  let database: TestDatabase;
  let sample: SampleProcess | undefined;
  const nest = (args: readonly string[], env = {}): string =>
    stripVTControlCharacters(run(process.execPath, [NEST, ...args], folder, env));

  beforeAll(async () => {
    folder = clone();
    database = await createEmptyDatabase();
  });
  afterAll(async () => {
    await sample?.stop();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('knows the library and the sample, whose files exist', () => {
    expect(Object.keys(projects)).toEqual(['auth', 'sample']);
    const files = Object.values(projects).flatMap(({ root, sourceRoot, entryFile, compilerOptions }) => [
      `${root}/`,
      `${sourceRoot}/${entryFile}.ts`,
      compilerOptions.tsConfigPath,
    ]);
    expect(files.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  });

  it.each([
    ['sample', 'apps/sample/src/prices/prices.module.ts', 'apps/sample/src/app.module.ts'],
    ['auth', 'libs/auth/src/prices/prices.module.ts', 'libs/auth/src/auth.module.ts'],
  ])('generates code in the project %s', (project, created, changed) => {
    const output = nest(['generate', 'module', 'prices', '--project', project, '--dry-run']);
    expect(output).toContain(`CREATE ${created}`);
    expect(output).toContain(`UPDATE ${changed}`);
  });

  it('builds what `npm run build` builds, starts the sample with its page, and runs a command on its data', async () => {
    expect(manifestOf(ROOT).scripts!.build).toMatch(new RegExp(` && nest build ${Object.keys(projects).join(' ')}$`));
    run('npm', ['run', '--silent', 'build'], folder);
    const outputs = ['libs/auth/dist', 'dist/apps/sample'].map((name) => join(folder, name));
    const built = outputs.map(contents);
    expect(built.map((files) => Object.keys(files).length > 300)).toEqual([true, true]);
    expect(Object.keys(built[0]!)).toContain('/index.d.ts');

    nest(['build', 'auth']);
    const env = { DATABASE_URL: database.url, NODE_ENV: 'development' };
    // A shell between Nest and the sample would not pass a signal on.
    const started = (sample = await SampleProcess.launch(env, [NEST, 'start', 'sample', '--no-shell'], folder));
    await started.ready();
    expect(outputs.map(contents)).toEqual(built);
    const modules = ['client', 'account', 'identities'].map((name) => `/web/auth-${name}.js`);
    for (const path of ['/', '/web/main.js', ...modules, '/web/style.css'])
      expect([path, await started.status(path)]).toEqual([path, 200]);
    expect(await started.login('demo@example.com')).toMatchObject({ status: 200 });

    const command = ['start', 'sample', '--entryFile', 'console', '--', 'svc:prune'];
    expect(nest(command, env)).toMatch(/^sessions: \d/);
  });
});
