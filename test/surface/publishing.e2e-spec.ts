import { validateWorkflow } from '@action-validator/core';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { LIBRARY, ROOT, manifestOf, run } from '../support/packages/package';

const WORKFLOWS = join(ROOT, '.github/workflows');
const FORMS = join(ROOT, '.github/ISSUE_TEMPLATE');

const read = (...path: string[]): string => readFileSync(join(...path), 'utf8');

interface Step {
  name?: string;
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}

interface Job {
  needs?: string;
  /** A workflow that is run instead of steps. */
  uses?: string;
  permissions?: Record<string, string>;
  'timeout-minutes'?: number;
  strategy?: { matrix: Record<string, unknown> & { include?: Record<string, string | number>[] } };
  steps: Step[];
}

interface Workflow {
  permissions?: Record<string, string>;
  jobs: Record<string, Job>;
}

const workflows = readdirSync(WORKFLOWS).map((name) => {
  const text = read(WORKFLOWS, name);
  return { name, text, workflow: parse(text) as Workflow };
});
const workflowOf = (file: string): Workflow => workflows.find(({ name }) => name === file)!.workflow;
const jobs = workflows.flatMap(({ name, workflow }) =>
  Object.entries(workflow.jobs).flatMap(([job, content]) =>
    content.uses ? [] : [[`${name}: ${job}`, content] as const],
  ),
);
const stepsOf = (file: string): Step[] => Object.values(workflowOf(file).jobs).flatMap(({ steps = [] }) => steps);
/** The commands of a step, by its name. */
const scriptOf = (file: string, step: string): string => stepsOf(file).find(({ name }) => name === step)!.run!;

/** The commands of a step in each run of its job. */
function commandsOf({ run: text = '' }: Step, { strategy }: Job): string[] {
  const { include, ...lists } = strategy?.matrix ?? {};
  const combined = Object.entries(lists as Record<string, unknown[]>).reduce<Record<string, unknown>[]>(
    (runs, [name, list]) => runs.flatMap((one) => list.map((value) => ({ ...one, [name]: value }))),
    [{}],
  );
  return (include ?? combined).map((one) =>
    text.replaceAll(/\$\{\{ matrix\.(\w+) \}\}/g, (_, name: string) => String(one[name])),
  );
}

describe('the workflows', () => {
  it.each(workflows.map(({ name, text }) => [name, text]))('%s is valid', (_, text) => {
    expect(validateWorkflow(text).errors).toEqual([]);
  });

  it.each(jobs)('%s runs scripts and files that exist', (_, job) => {
    const { scripts } = manifestOf(ROOT);
    const commands = job.steps.flatMap((step) => commandsOf(step, job));
    const named = commands.flatMap((text) => [...text.matchAll(/npm run ([\w:-]+)|npm (test)\b/g)]);
    for (const [command, script, test] of named)
      expect([command, scripts]).toEqual([command, expect.objectContaining({ [script ?? test!]: expect.any(String) })]);
    const files = commands.flatMap((text) => [...text.matchAll(/node (\.\S+)/g)].map(([, file]) => file!));
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    expect(commands.join()).not.toContain('undefined');
  });

  it.each(jobs)('%s has a time limit, and leaves no credentials in the checkout', (_, job) => {
    expect(job['timeout-minutes']).toBeGreaterThan(0);
    const [checkout] = job.steps;
    expect(checkout).toMatchObject({
      uses: expect.stringMatching(/^actions\/checkout@/),
      with: { 'persist-credentials': false },
    });
  });

  it('may only read, except the publication, which may prove its identity', () => {
    for (const { name, workflow } of workflows)
      expect([name, workflow.permissions]).toEqual([name, { contents: 'read' }]);
    const own = jobs.filter(([, { permissions }]) => permissions).map(([name, { permissions }]) => [name, permissions]);
    expect(own).toEqual([['release.yml: publish', { contents: 'read', 'id-token': 'write' }]]);
  });

  it('use actions of GitHub only, each in one version that cannot change, and no secret', () => {
    const uses = workflows.flatMap(({ text }) => text.match(/(?<=\buses: ).*/g) ?? []);
    const [own, actions] = [uses.filter((used) => used.startsWith('.')), uses.filter((used) => !used.startsWith('.'))];
    expect(own).toEqual(['./.github/workflows/ci.yml']);
    expect(actions.filter((used) => !/^actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(used))).toEqual([]);
    expect(new Set(actions).size).toBe(new Set(actions.map((used) => used.split('@')[0])).size);
    for (const { name, text } of workflows)
      expect([name, text]).toEqual([name, expect.not.stringContaining('secrets.')]);
  });

  it('run every suite', () => {
    const commands = jobs.flatMap(([, job]) => job.steps.flatMap((step) => commandsOf(step, job))).join('\n');
    const suites = Object.keys(manifestOf(ROOT).scripts!).filter((name) => /^test(:|$)/.test(name));
    // The first five are parts of other suites, the last one is a list of suites.
    const others = ['test:unit', 'test:e2e', 'test:fastify', 'test:browsers', 'test:engines', 'test:all'];
    const listed = suites.filter((name) => !others.includes(name));
    expect(listed.filter((name) => !new RegExp(`npm (run )?${name}( |$)`, 'm').test(commands))).toEqual([]);
    expect(listed).toEqual(expect.arrayContaining(['test', 'test:examples', 'test:browsers:all', 'test:site']));
  });

  it.each(['suite', 'hosts'])('%s of the continuous integration fails if a test is skipped', (name) => {
    const commands = workflowOf('ci.yml').jobs[name]!.steps.flatMap(({ run: text }) => text ?? []);
    const [suite, check] = commands.splice(-2);
    expect(suite).toMatch(/^npm run \$\{\{ matrix\.suite \}\} 2>&1 \| tee suite\.log$/);
    expect(check).toBe("if grep '^SKIPPED' suite.log; then exit 1; fi");
  });

  it('run on every supported version of Node, PostgreSQL, Nest and TypeORM, and on both adapters', () => {
    const runs = workflowOf('ci.yml').jobs.suite!.strategy!.matrix.include!;
    const of = (name: string) => [...new Set(runs.map((one) => one[name]!))].toSorted();
    expect(of('node')).toEqual([20, 22, 24, 26]);
    expect(of('postgres')).toEqual([15, 16, 17, 18]);
    expect(of('adapter')).toEqual(['Express', 'Fastify']);
    expect(of('nest')).toEqual([11, 12]);
    expect(of('typeorm')).toEqual([0.3, 1]);
    // The name of a run says what its script runs on.
    for (const { suite, adapter, nest, typeorm } of runs) {
      const on = {
        'test:fastify:all': ['Fastify', 12, 1],
        'test:nest11': ['Express', 11, 1],
        'test:typeorm03': ['Express', 12, 0.3],
      };
      expect([suite, adapter, nest, typeorm]).toEqual([suite, ...(on[suite as keyof typeof on] ?? ['Express', 12, 1])]);
    }
  });

  it('run the packed package on every supported version of Node', () => {
    const runs = workflowOf('ci.yml').jobs.hosts!.strategy!.matrix.include!;
    const nodes = runs.flatMap(({ suite, node }) => (suite === 'test:package' ? [node] : []));
    expect(nodes).toEqual([20, 22, 24, 26]);
  });

  it('publish after the tests, in a job that runs no script of a package', () => {
    const { tag, test, publish, ...others } = workflowOf('release.yml').jobs;
    expect(others).toEqual({});
    expect([tag!.needs, test!.needs, publish!.needs]).toEqual([undefined, 'tag', 'test']);
    expect(test!.uses).toBe('./.github/workflows/ci.yml');
    expect(workflowOf('ci.yml')).toHaveProperty('on.workflow_call');
    const commands = publish!.steps.flatMap(({ run: text }) => text ?? []);
    expect(commands.slice(0, -1)).toEqual(['npm ci --ignore-scripts', 'npm run pack:lib', 'npm run pack:client']);
  });
});

/** Runs the commands of a step as the workflow does. @returns whether they succeed */
const succeeds = (script: string, cwd: string, variables: Record<string, string>): boolean =>
  spawnSync('bash', ['-e', '-c', script], { cwd, env: { ...process.env, ...variables } }).status === 0;

describe('a release', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'svc-release-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const git = (...args: string[]): string =>
    run('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], folder);

  const COMPLETE = { library: '0.2.0', client: '0.2.0', section: '## 0.2.0 - 2027-01-31', tag: 'v0.2.0', main: 'HEAD' };
  it.each([
    ['is accepted if tag, versions, changelog and main agree', {}, true],
    ['is refused for a tag of another version', { tag: 'v0.2.1' }, false],
    ['is refused for another version of the library', { library: '0.1.0' }, false],
    ['is refused for another version of the client', { client: '0.1.0' }, false],
    ['is refused without a section in the changelog', { section: '## Unreleased' }, false],
    ['is refused if the section is that of a preview', { section: '## 0.2.0-beta.1 - 2027-01-31' }, false],
    ['is refused for a commit that is not on main', { main: 'HEAD~1' }, false],
  ])('%s', (_, changed, expected) => {
    const { library, client, section, tag, main } = { ...COMPLETE, ...changed };
    for (const [name, version] of Object.entries({ auth: library, 'auth-client': client })) {
      mkdirSync(join(folder, 'libs', name), { recursive: true });
      writeFileSync(join(folder, 'libs', name, 'package.json'), JSON.stringify({ version }));
    }
    writeFileSync(join(folder, 'CHANGELOG.md'), `# Changelog\n\n${section}\n`);
    git('init', '--quiet');
    git('commit', '--quiet', '--allow-empty', '--message', 'before');
    git('add', '.');
    git('commit', '--quiet', '--message', 'release');
    git('update-ref', 'refs/remotes/origin/main', main);
    const script = scriptOf('release.yml', 'Compare the tag with both versions, the changelog and main');
    expect(succeeds(script, folder, { GITHUB_REF_NAME: tag })).toBe(expected);
  });

  it.each([
    ['both packages, with provenance', [], '', ['auth-client', 'auth'], true],
    ['only the missing one in a second run', ['auth-client'], '', ['auth'], true],
    ['nothing in a third run', ['auth-client', 'auth'], '', [], true],
    ['nothing more after a failure', [], 'auth-client', ['auth-client'], false],
  ])('publishes %s', (_, published, failing, expected, success) => {
    // As npm: a version that is unknown is an error.
    const npm = [
      '#!/bin/sh',
      'if [ "$1" = view ]; then',
      `  for name in ${published.join(' ')}; do`,
      '    if [ "$2 $3" = "@svc/$name@0.2.0 version" ]; then echo 0.2.0; exit 0; fi',
      '  done',
      '  exit 1',
      'fi',
      'echo "$@" >> published',
      `test "$2" != "./svc-${failing}-0.2.0.tgz"`,
    ];
    writeFileSync(join(folder, 'npm'), npm.join('\n'), { mode: 0o755 });
    const variables = { PATH: `${folder}:${process.env.PATH}`, GITHUB_REF_NAME: 'v0.2.0' };
    const script = scriptOf('release.yml', 'Publish what the registry does not have');
    expect(succeeds(script, folder, variables)).toBe(success);
    const log = join(folder, 'published');
    const sent = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
    expect(sent).toEqual(expected.map((name) => `publish ./svc-${name}-0.2.0.tgz --provenance --access public`));
  });
});

describe('the forms for issues', () => {
  const forms = readdirSync(FORMS).filter((name) => name !== 'config.yml');

  it.each(forms)('%s has a name, a description and fields with distinct ids', (name) => {
    const { body, ...form } = parse(read(FORMS, name));
    expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) });
    const fields = (body as { type: string; id?: string; attributes: object }[]).filter(
      ({ type }) => type !== 'markdown',
    );
    for (const field of fields) {
      expect(['input', 'textarea', 'dropdown', 'checkboxes']).toContain(field.type);
      expect(field).toMatchObject({ id: expect.stringMatching(/^\w+$/), attributes: { label: expect.any(String) } });
    }
    expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
  });

  it('send reports of vulnerabilities to the page that is not public', () => {
    const { contact_links: links } = parse(read(FORMS, 'config.yml')) as { contact_links: { url: string }[] };
    expect(links[0]!.url).toBe(`${repository()}/security/advisories/new`);
  });
});

/** The address of the repository. The manifest of the package names it; everything else has to agree with it. */
function repository(): string {
  const { url } = manifestOf(LIBRARY).repository!;
  return /^git\+(https:\/\/github\.com\/[\w-]+\/[\w-]+)\.git$/.exec(url!)![1]!;
}

describe('the repository', () => {
  it('has one version of the library and of the client', () => {
    expect(manifestOf(join(ROOT, 'libs/auth-client')).version).toBe(manifestOf(LIBRARY).version);
  });

  // Node 21, and 22 before 22.12, cannot require the ES modules of Nest 12.
  it('has the same versions of Node in each manifest', () => {
    const engines = [ROOT, LIBRARY, join(ROOT, 'libs/auth-client')].map((folder) => manifestOf(folder).engines);
    for (const one of engines) expect(one).toEqual({ node: '^20.19.0 || >=22.12.0' });
  });

  it('is the same in the manifest, the forms and the pages', () => {
    const manifest = manifestOf(LIBRARY) as Record<string, unknown>;
    expect(manifest).toMatchObject({
      homepage: `${repository()}#readme`,
      bugs: `${repository()}/issues`,
      repository: { directory: 'libs/auth' },
    });
    expect(read(LIBRARY, 'src/foundation/platform/errors.ts')).toContain(`\`${repository()}/blob/main/docs/\${page}\``);
    const files = ['ISSUE_TEMPLATE/config.yml', 'ISSUE_TEMPLATE/bug.yml', 'PULL_REQUEST_TEMPLATE.md'];
    const texts = files.map((file) => read(ROOT, '.github', file));
    const [owner, name] = repository().split('/').slice(-2);
    const named = texts.flatMap((text) => text.match(/github\.com\/[\w-]+\/[\w-]+/g) ?? []);
    expect(named.filter((address) => address !== `github.com/${owner}/${name}`)).toEqual([]);
    expect(named.length).toBeGreaterThan(0);
  });

  it('is where the messages of the library send a reader: to a heading of a page, and to no file that the package has not', () => {
    const sources = readdirSync(join(LIBRARY, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!spec)\.ts$/.test(file))
      .map((file) => read(LIBRARY, 'src', file).replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, ''));
    const pages = sources.flatMap((text) => [...text.matchAll(/pageUrl\('([^']+)'\)/g)].map(([, page]) => page!));
    expect(pages.length).toBeGreaterThan(2);
    for (const page of pages) {
      const [file, heading] = page.split('#');
      const text = read(ROOT, 'docs', file!);
      const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) => title!.toLowerCase().replaceAll(' ', '-'));
      if (heading !== undefined) expect(headings).toContain(heading);
    }
    const local = sources.flatMap((text) => text.match(/.*\bdocs\/[\w$].*/g) ?? []);
    expect(local).toEqual([expect.stringContaining('blob/main/docs/${page}')]);
  });
});
