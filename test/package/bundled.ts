import { type ChildProcess, spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../apps/sample/src/dev/embedded-postgres';
import { blocksOf } from '../docs/blocks';
import { installExample } from '../support/packages/example-process';
import { ROOT, run } from '../support/packages/package';

const PAGE = 'docs/recipes/one-file-bundles.md';

/** The bundlers of this repository, by the name with which the page imports them. */
const BUNDLERS = {
  esbuild: join(ROOT, 'node_modules/esbuild/lib/main.js'),
  webpack: join(ROOT, 'node_modules/webpack/lib/index.js'),
};

/** A script of the page. */
function scriptOf(name: string): string {
  const found = blocksOf(PAGE).find(({ text }) => text.startsWith(`// ${name}\n`))!.text;
  return Object.entries(BUNDLERS).reduce((text, [own, path]) => text.replace(`from '${own}'`, `from '${path}'`), found);
}

/** The arguments of the command of ncc on the page. */
const nccArguments = (): string[] =>
  blocksOf(PAGE)
    .find(({ text }) => text.includes('@vercel/ncc'))!
    .text.trim()
    .split(' ')
    .slice(2);

/** A bundle in a folder that has no other packages than those that the page leaves out of the bundle. */
export interface Bundle {
  readonly folder: string;
  readonly file: string;
}

/** The compiled module of the example with the driver of PostgreSQL, as the page says. */
const withDriver = (code: string): string => code.replace("type: 'postgres',", "$& driver: require('pg'),");

/** The compiled module of the example on the option `pool`, as the page says for ncc. Its tables exist. */
const onPool = (code: string): string =>
  code
    .replace(
      /^const typeorm_1 = .*$/m,
      "const pool = new (require('pg').Pool)({ connectionString: process.env.DATABASE_URL });",
    )
    .replace(/typeorm_1\.TypeOrmModule\.forRoot\(\{[^}]*\}\),/, '')
    .replace('users: {', 'pool, $&');

const folders: string[] = [];

/** Deletes the folders of all bundles. */
export const removeBundles = (): void => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true }));

/**
 * Bundles the example `minimal` as the page says.
 *
 * @param how the script of the page, or `ncc`
 * @param change changes the text of the script
 */
export function bundled(how: string, change = (script: string): string => script): Bundle {
  const example = installExample('minimal', { isAlone: true });
  const [work, folder] = ['svc-bundler-', 'svc-bundle-'].map((name) => mkdtempSync(join(realpathSync(tmpdir()), name)));
  folders.push(work!, folder!);
  cpSync(join(example, 'dist'), join(work!, 'dist'), { recursive: true });
  symlinkSync(join(example, 'node_modules'), join(work!, 'node_modules'));
  const main = join(work!, 'dist/app.module.js');
  writeFileSync(main, (how === 'ncc' ? onPool : withDriver)(readFileSync(main, 'utf8')));
  if (how === 'ncc')
    run(process.execPath, [join(ROOT, 'node_modules/@vercel/ncc/dist/ncc/cli.js'), ...nccArguments()], work!);
  else {
    writeFileSync(join(work!, how), change(scriptOf(how)));
    run(process.execPath, [how], work!);
  }
  cpSync(join(work!, 'bundle'), folder!, { recursive: true });
  const argon2 = join(folder!, 'node_modules/argon2');
  mkdirSync(dirname(argon2), { recursive: true });
  symlinkSync(realpathSync(join(example, 'node_modules/argon2')), argon2);
  const file = { ncc: 'index.js', 'esbuild-esm.mjs': 'main.mjs' }[how] ?? 'main.cjs';
  return { folder: folder!, file };
}

/** A process that runs a bundle. */
export class BundleProcess {
  private output = '';

  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
  ) {
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (text) => (this.output += text));
  }

  /** Everything that the process has printed. */
  get logs(): string {
    return this.output;
  }

  private get isOver(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Starts a bundle, and waits until it answers. @throws Error with its output if it exits */
  static async start({ folder, file }: Bundle, variables: Record<string, string>): Promise<BundleProcess> {
    const port = String(await freePort());
    const env = { PATH: process.env.PATH!, HOST: '127.0.0.1', PORT: port, NO_COLOR: '1', ...variables };
    const started = new BundleProcess(
      `http://127.0.0.1:${port}`,
      spawn(process.execPath, [file], { cwd: folder, env }),
    );
    while (!started.isOver && (await fetch(started.url).catch(() => null)) === null) await sleep(50);
    if (started.isOver) throw new Error(started.logs);
    return started;
  }

  freeze(): void {
    this.child.kill('SIGSTOP');
  }

  thaw(): void {
    this.child.kill('SIGCONT');
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }
}
