import { execFile } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';

const exec = promisify(execFile);

/** One instruction of a Dockerfile: `{ name: 'COPY', text: 'libs libs' }`. */
export interface Instruction {
  name: string;
  text: string;
}

/** The instructions of a Dockerfile, without comments and with continued lines joined. */
export const instructionsOf = (dockerfile: string): Instruction[] =>
  dockerfile
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim())
    .map((line) => {
      const [, name = '', text = ''] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? [];
      return { name, text };
    });

/** The result of a stage: a folder in place of a file system, and what the instructions set. */
export interface Stage {
  root: string;
  workdir: string;
  env: Record<string, string>;
  user: string;
  command: string[];
  healthcheck: string[];
}

/**
 * Runs the steps of a Dockerfile without a container engine: RUN with the shell and Node.js of this machine, in an empty
 * folder for each stage; COPY with the files that `.dockerignore` lets through. It knows the instructions and forms that
 * our Dockerfile has, and refuses others. It does not fetch the images of FROM.
 *
 * @returns the last stage
 */
export async function buildStages(file: string, context: string): Promise<Stage> {
  const work = mkdtempSync(join(tmpdir(), 'svc-image-'));
  // The application runs as another user.
  chmodSync(work, 0o755);
  const stages = new Map<string, Stage>();
  let stage!: Stage;
  for (const { name, text } of instructionsOf(readFileSync(file, 'utf8'))) {
    if (name === 'FROM') {
      const [image = '', , alias = 'last'] = text.split(/\s+/);
      const root = join(work, alias);
      const base = stages.get(image);
      mkdirSync(root);
      if (base) await exec('cp', ['-a', `${base.root}/.`, root]);
      stage = base ? { ...base, root } : { root, workdir: '/', env: {}, user: '', command: [], healthcheck: [] };
      stages.set(alias, stage);
    } else if (name === 'COPY') copy(stage, text, stages, context);
    else if (name === 'RUN') await run(stage, text);
    else set(stage, name, text);
  }
  return stage;
}

/** Applies an instruction that changes no file. */
function set(stage: Stage, name: string, text: string): void {
  const [, list] = /(\[.*\])$/.exec(text) ?? [];
  if (name === 'ENV') Object.assign(stage.env, Object.fromEntries(text.split(/\s+/).map((pair) => pair.split('='))));
  else if (name === 'USER') stage.user = text;
  else if (name === 'CMD' && list) stage.command = JSON.parse(list);
  else if (name === 'HEALTHCHECK' && list) stage.healthcheck = JSON.parse(list);
  else if (name === 'WORKDIR') {
    stage.workdir = resolve(stage.workdir, text);
    mkdirSync(join(stage.root, stage.workdir), { recursive: true });
  } else if (name !== 'EXPOSE') throw new Error(`The instruction is not supported: ${name} ${text}`);
}

async function run({ root, workdir, env }: Stage, text: string): Promise<void> {
  // The settings of the tests must not change what npm installs.
  const { NODE_ENV: _, ...own } = process.env;
  await exec('sh', ['-ec', text], {
    cwd: join(root, workdir),
    env: { ...own, npm_config_prefer_offline: 'true', ...env },
    maxBuffer: 1e8,
  });
}

function copy(stage: Stage, text: string, stages: ReadonlyMap<string, Stage>, context: string): void {
  const [, from, names = ''] = /^(?:--from=(\w+)\s+)?(.*)$/.exec(text)!;
  const words = names.split(/\s+/);
  const target = words.pop()!;
  const root = from ? stages.get(from)!.root : context;
  const isSent = from ? () => true : ignoreRules(readFileSync(join(context, '.dockerignore'), 'utf8'));
  const destination = join(stage.root, resolve(stage.workdir, target));
  for (const word of words) {
    const source = join(root, word);
    if (!existsSync(source) || !isSent(relative(root, source))) throw new Error(`COPY finds no ${word}`);
    const isInto = target.endsWith('/') && !statSync(source).isDirectory();
    const to = isInto ? join(destination, basename(source)) : destination;
    mkdirSync(dirname(to), { recursive: true });
    cpSync(source, to, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => isSent(relative(root, path)),
    });
  }
}

/** The rules of a `.dockerignore`: whether a path of the context is sent to the build. The last rule that matches decides. */
export function ignoreRules(text: string): (path: string) => boolean {
  const rules = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => ({ isSent: line.startsWith('!'), pattern: patternOf(line.replace(/^!/, '')) }));
  return (path) => {
    const parts = path.split('/');
    // A rule for a folder is a rule for all that is in it.
    const above = parts.map((_, i) => parts.slice(0, i + 1).join('/'));
    return rules.findLast(({ pattern }) => above.some((name) => pattern.test(name)))?.isSent ?? true;
  };
}

const patternOf = (glob: string): RegExp =>
  new RegExp(
    `^${glob
      .split(/(\*\*\/|\*)/)
      .map((part) => ({ '**/': '(?:.*/)?', '*': '[^/]*' })[part] ?? part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('')}$`,
  );
