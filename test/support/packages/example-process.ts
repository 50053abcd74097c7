// Installs, builds and runs a host of `examples/`, for its test and for `examples/run.mjs`.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { closureOf, linkPackages, linkTree, unionOf } from './closure';
import { INSTALL, LIBRARY, ROOT, fillOnce, fingerprint, isFilled, manifestOf, packLibrary, run } from './package';

const EXAMPLES = join(ROOT, 'examples');

/** Time for the end of a process after SIGTERM, in milliseconds. */
const STOP_MS = 5000;

/** The names of all examples, each with the description of its manifest. */
export const examples = (): Map<string, string> =>
  new Map(
    readdirSync(EXAMPLES)
      .filter((name) => existsSync(join(EXAMPLES, name, 'package.json')))
      .map((name) => [name, String(manifestOf(join(EXAMPLES, name)).description)]),
  );

/** The packages of this repository that an example depends on, each with its folder. */
function ownPackages(dependencies: Record<string, string>): [name: string, folder: string][] {
  return readdirSync(join(ROOT, 'libs'))
    .map((name) => join(ROOT, 'libs', name))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map((folder): [string, string] => [String(manifestOf(folder).name), folder])
    .filter(([name]) => name in dependencies);
}

/** The sources of an example, without what an editor or a build has left there. */
const sourcesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => !/\/(node_modules|dist|build|\.next|\.svelte-kit|\.env)(\/|$)/.test(file.slice(folder.length)))
    .toSorted();

function hashOf(folder: string, ...besides: string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(besides));
  for (const file of sourcesOf(folder)) hash.update(file).update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}

/** Packs a package of this repository. Its `prepack` script builds it. @returns the tarball */
export function packed(folder: string): string {
  if (folder === LIBRARY) return packLibrary();
  const target = fillOnce(`svc-tarball-${hashOf(folder)}`, (work) => {
    run('npm', ['pack', '--pack-destination', work], folder);
  });
  return join(
    target,
    readdirSync(target).find((name) => name.endsWith('.tgz'))!,
  );
}

/** Tools that read no file outside of the folder of the application, not through a symbolic link either. */
const STAY_INSIDE = ['next'];

/** How a package is shown in another folder. */
type Show = (from: string, to: string) => void;

/** Shows the installed packages of one folder in another folder, except those of this repository. */
function showPackages(from: string, to: string, except: readonly string[], show: Show, scope = ''): void {
  mkdirSync(join(to, scope), { recursive: true });
  for (const name of readdirSync(join(from, scope))) {
    const path = join(scope, name);
    if (name.startsWith('@') && !scope) showPackages(from, to, except, show, name);
    else if (!except.includes(path) && name !== '.package-lock.json') show(join(from, path), join(to, path));
  }
}

const shortHash = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

/** One install for all examples. npm refuses it if a version does not suit a peer of any package. */
function allPackages(): { name: string; install: (work: string) => void } {
  const manifests = new Map([...examples().keys()].map((name) => [name, manifestOf(join(EXAMPLES, name))]));
  const union = unionOf(manifests);
  const own = ownPackages(union.dependencies!).map(([, folder]) => folder);
  return {
    name: `svc-example-packages-${shortHash([union, ...own.map(manifestOf)])}`,
    install: (work) => npmInstall(work, union, own.map(packed)),
  };
}

function npmInstall(work: string, manifest: object, tarballs: readonly string[]): void {
  writeFileSync(join(work, 'package.json'), JSON.stringify(manifest));
  run('npm', ['install', ...INSTALL, ...tarballs], work);
}

/** How an example is installed. */
export interface InstallOptions {
  /**
   * Installs the packages of this example alone, which takes less time than those of all examples. If those of all are
   * installed, they are used.
   */
  isAlone?: boolean;
  /** Receives each step that is not done yet, before it begins. */
  onStep?: (step: string) => void;
  /** The files of this folder of the example replace those of the same path. */
  instead?: string;
}

/**
 * Installs an example with the packed library into a temporary folder, and builds it there. Packages are installed once for
 * all examples, and each example gets those that its own manifest needs. The rest is done once for each state of the sources.
 *
 * @returns the folder
 */
export function installExample(name: string, { isAlone = false, onStep, instead }: InstallOptions = {}): string {
  const source = join(EXAMPLES, name);
  const manifest = manifestOf(source);
  const own = ownPackages(manifest.dependencies!);
  const key = shortHash([manifest, ...own.map(([, folder]) => manifestOf(folder))]);
  let isPacked = false;
  const tarballs = (): string[] => {
    if (!isPacked) onStep?.(`packing ${own.map(([packageName]) => packageName).join(' and ')}`);
    isPacked = true;
    return own.map(([, place]) => packed(place));
  };
  const all = allPackages();
  const dependencies = fillOnce(`svc-example-${name}-packages-${key}`, (work) => {
    if (isAlone && !isFilled(all.name)) {
      const places = tarballs();
      onStep?.('npm install');
      npmInstall(work, manifest, places);
    } else {
      const installed = fillOnce(all.name, all.install);
      const needs = [...Object.keys(manifest.dependencies!), ...Object.keys(manifest.devDependencies ?? {})];
      linkPackages(installed, work, closureOf(installed, needs));
    }
  });
  const states = own.map(([, place]) => (place === LIBRARY ? fingerprint() : hashOf(place)));
  return fillOnce(`svc-example-${name}-${hashOf(source, key, ...states, instead ?? '')}`, (work) => {
    const names = own.map(([packageName]) => packageName);
    const show = STAY_INSIDE.some((tool) => tool in manifest.dependencies!) ? linkTree : symlinkSync;
    showPackages(join(dependencies, 'node_modules'), join(work, 'node_modules'), names, show);
    for (const [i, tarball] of tarballs().entries()) {
      const target = join(work, 'node_modules', names[i]!);
      mkdirSync(target, { recursive: true });
      run('tar', ['-xzf', tarball, '--strip-components=1', '-C', target], work);
    }
    for (const from of [source, ...(instead ? [join(source, instead)] : [])])
      for (const file of sourcesOf(from)) cpSync(file, join(work, file.slice(from.length + 1)));
    onStep?.('npm run build');
    // `prisma generate` runs no engine. Without this variable, its command line downloads one.
    run('npm', ['run', '--silent', 'build'], work, { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath });
  });
}

/**
 * The processes of an example: the script `start`, or one process for each script `start:<part>`. Before them the script
 * `setup` runs, if there is one. Each of them gets the given variables, its own `PORT`, and the address of each part:
 * `ISSUER_URL` for `start:issuer`.
 */
export class ExampleProcess {
  private output = '';
  private readonly children: ChildProcess[] = [];

  private constructor(
    /** The address of each part, in the order of the manifest. The part of the script `start` is `app`. */
    readonly urls: Readonly<Record<string, string>>,
    private readonly onOutput: (text: string) => void,
  ) {}

  /**
   * Starts the processes and waits until each of them answers.
   *
   * @param folder a result of {@link installExample}
   * @param port returns a free port for each part
   * @param onOutput receives what the processes print
   * @throws Error with the output of the processes, if one of them exits
   */
  static async start(
    folder: string,
    variables: Record<string, string>,
    port: () => Promise<number>,
    onOutput: (text: string) => void = () => undefined,
  ): Promise<ExampleProcess> {
    const parts = Object.keys(manifestOf(folder).scripts!).flatMap((script) => {
      const found = /^start(?::(?<part>\w+))?$/.exec(script);
      return found ? [{ script, part: found.groups!.part ?? 'app' }] : [];
    });
    if (parts.length === 0) throw new Error(`${folder} has no script named start`);
    const ports: number[] = [];
    while (ports.length < parts.length) ports.push(await port());
    const urls = Object.fromEntries(parts.map(({ part }, i) => [part, `http://localhost:${ports[i]}`]));
    const env = {
      PATH: process.env.PATH!,
      HOME: process.env.HOME ?? folder,
      HOST: '127.0.0.1',
      NO_COLOR: '1',
      ...Object.fromEntries(Object.entries(urls).map(([part, url]) => [`${part.toUpperCase()}_URL`, url])),
      ...variables,
    };
    const started = new ExampleProcess(urls, onOutput);
    try {
      await started.finished(folder, 'setup', env);
      await Promise.all(
        parts.map(({ script, part }, i) =>
          started.begin(folder, script, urls[part]!, { ...env, PORT: String(ports[i]) }),
        ),
      );
      return started;
    } catch (error) {
      await started.stop();
      throw error;
    }
  }

  /** The address of the first part. */
  get url(): string {
    return Object.values(this.urls)[0]!;
  }

  /** Everything that the processes have printed. */
  get logs(): string {
    return this.output;
  }

  /** Ends the processes with SIGTERM, or with SIGKILL if they do not end. */
  async stop(): Promise<void> {
    await Promise.all(
      this.children.splice(0).map(async (child) => {
        const ended = new Promise((resolve) => child.once('close', resolve));
        if (!signal(child, 'SIGTERM')) return;
        const timer = setTimeout(() => signal(child, 'SIGKILL'), STOP_MS);
        await ended;
        clearTimeout(timer);
      }),
    );
  }

  private async finished(folder: string, script: string, env: Record<string, string>): Promise<void> {
    if (!manifestOf(folder).scripts![script]) return;
    const child = this.npm(folder, script, env);
    const code = await new Promise((resolve) => child.once('close', resolve));
    this.children.splice(0);
    if (code !== 0) throw new Error(`npm run ${script} failed:\n${this.output}`);
  }

  private async begin(folder: string, script: string, url: string, env: Record<string, string>): Promise<void> {
    const child = this.npm(folder, script, env);
    const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
    while (!isOver() && (await fetch(url).catch(() => null)) === null) await sleep(50);
    if (isOver()) throw new Error(`npm run ${script} ended:\n${this.output}`);
  }

  /** In a process group of its own: Ctrl-C reaches the runner, which stops the parts before their stores. */
  private npm(folder: string, script: string, env: Record<string, string>): ChildProcess {
    const child = spawn('npm', ['run', '--silent', script], { cwd: folder, env, detached: true });
    this.children.push(child);
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
        this.onOutput(text);
      });
    return child;
  }
}

/** Sends a signal to a process and to those that it has started. @returns whether one of them still exists */
function signal({ pid, exitCode, signalCode }: ChildProcess, name: NodeJS.Signals): boolean {
  if (pid === undefined || exitCode !== null || signalCode !== null) return false;
  try {
    return process.kill(-pid, name);
  } catch {
    return false;
  }
}
