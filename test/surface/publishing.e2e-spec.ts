import { validateWorkflow } from '@action-validator/core';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { LIBRARY, ROOT, manifestOf } from '../support/package';

const WORKFLOWS = join(ROOT, '.github/workflows');
const FORMS = join(ROOT, '.github/ISSUE_TEMPLATE');

const read = (...path: string[]): string => readFileSync(join(...path), 'utf8');

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}

interface Job {
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
  Object.entries(workflow.jobs).map(([job, content]) => [`${name}: ${job}`, content] as const),
);
const stepsOf = (file: string): Step[] => Object.values(workflowOf(file).jobs).flatMap(({ steps }) => steps);

/** The commands of a step in each run of its job. */
function commandsOf({ run = '' }: Step, { strategy }: Job): string[] {
  const { include, ...lists } = strategy?.matrix ?? {};
  const combined = Object.entries(lists as Record<string, unknown[]>).reduce<Record<string, unknown>[]>(
    (runs, [name, list]) => runs.flatMap((one) => list.map((value) => ({ ...one, [name]: value }))),
    [{}],
  );
  return (include ?? combined).map((one) =>
    run.replaceAll(/\$\{\{ matrix\.(\w+) \}\}/g, (_, name: string) => String(one[name])),
  );
}

describe('the workflows', () => {
  it.each(workflows.map(({ name, text }) => [name, text]))('%s is valid', (_, text) => {
    expect(validateWorkflow(text).errors).toEqual([]);
  });

  it.each(jobs)('%s runs scripts and files that exist', (_, job) => {
    const { scripts } = manifestOf(ROOT);
    const commands = job.steps.flatMap((step) => commandsOf(step, job));
    const named = commands.flatMap((run) => [...run.matchAll(/npm run ([\w:-]+)|npm (test)\b/g)]);
    for (const [command, script, test] of named)
      expect([command, scripts]).toEqual([command, expect.objectContaining({ [script ?? test!]: expect.any(String) })]);
    const files = commands.flatMap((run) => [...run.matchAll(/node (\.\S+)/g)].map(([, file]) => file!));
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    expect(commands.join()).not.toContain('undefined');
  });

  it.each(jobs)('%s has a time limit, and leaves no credentials in the checkout', (_, job) => {
    expect(job['timeout-minutes']).toBeGreaterThan(0);
    const [checkout] = job.steps;
    expect(checkout).toMatchObject({
      uses: expect.stringMatching(/^actions\/checkout@v\d+$/),
      with: { 'persist-credentials': false },
    });
  });

  it('may only read, except the publication, which may prove its identity', () => {
    for (const { name, workflow } of workflows)
      expect([name, workflow.permissions]).toEqual([name, { contents: 'read' }]);
    const own = jobs.filter(([, { permissions }]) => permissions).map(([name, { permissions }]) => [name, permissions]);
    expect(own).toEqual([['release.yml: publish', { contents: 'read', 'id-token': 'write' }]]);
  });

  it('use actions of GitHub only, and no secret', () => {
    const uses = workflows.flatMap(({ name }) => stepsOf(name)).flatMap((step) => step.uses ?? []);
    expect(uses.filter((action) => !/^actions\/[\w-]+@v\d+$/.test(action))).toEqual([]);
    for (const { name, text } of workflows)
      expect([name, text]).toEqual([name, expect.not.stringContaining('secrets.')]);
  });

  it('run on every supported version of Node, PostgreSQL, Nest and TypeORM, and on both adapters', () => {
    const runs = workflowOf('ci.yml').jobs.suite!.strategy!.matrix.include!;
    const of = (name: string) => [...new Set(runs.map((run) => run[name]!))].toSorted();
    expect(of('node')).toEqual([20, 22, 24]);
    expect(of('postgres')).toEqual([15, 16, 17, 18]);
    expect(of('adapter')).toEqual(['Express', 'Fastify']);
    expect(of('nest')).toEqual([11, 12]);
    expect(of('typeorm')).toEqual([0.3, 1]);
    // The name of a run says what its script runs on.
    for (const { suite, adapter, nest, typeorm } of runs) {
      const on = {
        'test:fastify': ['Fastify', 12, 1],
        'test:nest11': ['Express', 11, 1],
        'test:typeorm03': ['Express', 12, 0.3],
      };
      expect([suite, adapter, nest, typeorm]).toEqual([suite, ...(on[suite as keyof typeof on] ?? ['Express', 12, 1])]);
    }
  });

  it('publish what the tests have passed, with provenance, and only for a tag of the same version', () => {
    const commands = stepsOf('release.yml').flatMap(({ run }) => run ?? []);
    const [publish] = commands.splice(-1);
    expect(publish).toBe('npm publish "./svc-auth-${GITHUB_REF_NAME#v}.tgz" --provenance --access public');
    expect(commands).toEqual(expect.arrayContaining(['npm run check', 'npm test', 'npm run test:package']));
    expect(commands.at(-1)).toBe('npm run pack:lib');
    expect(commands[0]).toContain('test "$GITHUB_REF_NAME" = "v$version"');
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
  it('is the same in the manifest, the forms and the pages', () => {
    const manifest = manifestOf(LIBRARY) as Record<string, unknown>;
    expect(manifest).toMatchObject({
      homepage: `${repository()}#readme`,
      bugs: `${repository()}/issues`,
      repository: { directory: 'libs/auth' },
    });
    const files = ['ISSUE_TEMPLATE/config.yml', 'ISSUE_TEMPLATE/bug.yml', 'PULL_REQUEST_TEMPLATE.md'];
    const texts = files.map((file) => read(ROOT, '.github', file));
    const [owner, name] = repository().split('/').slice(-2);
    const named = texts.flatMap((text) => text.match(/github\.com\/[\w-]+\/[\w-]+/g) ?? []);
    expect(named.filter((address) => address !== `github.com/${owner}/${name}`)).toEqual([]);
    expect(named.length).toBeGreaterThan(0);
  });
});
