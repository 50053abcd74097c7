import { buildSync } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as ts from 'typescript';
import { LIBRARY, manifestOf } from '../../../../../test/support/packages/package';
import type { PeerName } from './optional-peer';

const SOURCES = join(LIBRARY, 'src');
const SOURCE = join(__dirname, 'optional-peer.ts');

/** The optional packages that the library loads at run time. The others are only used by their types, or by the host. */
const NAMES: readonly PeerName[] = [
  '@nestjs/event-emitter',
  '@nestjs/microservices',
  '@nestjs/schedule',
  '@nestjs/typeorm',
  '@nestjs/websockets',
  '@node-rs/argon2',
  '@opentelemetry/api',
  '@redis/client',
  '@simplewebauthn/server',
  '@simplewebauthn/server/helpers',
  'argon2',
  'bcrypt',
  'bcryptjs',
  'class-validator',
  'cron',
  'nest-commander',
  'nodemailer',
  'otplib',
  'redis',
];

/** Prints what the functions return for each name. */
const ENTRY = `
const { broughtBy, hasPeer, optionalPeer } = require('./optional-peer.js');
const names = ${JSON.stringify(NAMES)};
const found = (of) => names.filter((name) => of(name)?.named === name);
console.log(JSON.stringify({
  loaded: found(optionalPeer),
  brought: found((name) => broughtBy('@nestjs/schedule', name)),
  present: names.filter(hasPeer),
}));`;

type Bundler = (folder: string) => void;

const byEsbuild: Bundler = (folder) =>
  void buildSync({
    absWorkingDir: folder,
    entryPoints: ['entry.js'],
    outfile: 'out/main.js',
    bundle: true,
    platform: 'node',
    logLevel: 'silent',
  });

/** In a process of its own: webpack needs the globals of Node. */
const byWebpack: Bundler = (folder) => {
  const settings = {
    mode: 'none',
    target: 'node20',
    context: folder,
    entry: './entry.js',
    output: { path: join(folder, 'out'), filename: 'main.js' },
  };
  const script = `require(${JSON.stringify(require.resolve('webpack'))})(${JSON.stringify(settings)}, (error, stats) => {
    if (error || stats.hasErrors()) throw error ?? new Error(stats.toString('errors-only'));
  });`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
};

/** Bundles the module with the packages of these names, and runs the bundle without any package. */
function runBundled(bundle: Bundler, packages: readonly string[]): Record<'loaded' | 'brought' | 'present', string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-peers-'));
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const { outputText } = ts.transpileModule(readFileSync(SOURCE, 'utf8'), {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  });
  write('optional-peer.js', outputText);
  write('entry.js', ENTRY);
  for (const name of packages) write(`node_modules/${name}/index.js`, `exports.named = '${name}';`);
  try {
    bundle(folder);
    rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
    const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'out/main.js')], { encoding: 'utf8' });
    if (!stdout) throw new Error(stderr);
    return JSON.parse(stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe.each([
  ['esbuild', byEsbuild],
  ['webpack', byWebpack],
])('the optional packages in a bundle of %s', (_, bundle) => {
  it('are found, each of them', () => {
    expect(runBundled(bundle, NAMES)).toEqual({ loaded: NAMES, brought: NAMES, present: NAMES });
  });

  it('are absent if none was installed', () => {
    expect(runBundled(bundle, [])).toEqual({ loaded: [], brought: [], present: [] });
  });
});

describe('what the library loads at run time', () => {
  it('is named by a literal, so that a bundler includes it', () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /(?<!spec|testkit)\.ts$/.test(file),
    );
    const computed = files.filter((file) =>
      /(?<!\.|async )\b(?:createRequire\(|(?:require(?:\.resolve)?|import)\((?!'))/.test(
        readFileSync(join(SOURCES, file), 'utf8'),
      ),
    );
    // The command line loads the files of the host, and is no part of an application.
    expect(computed.toSorted()).toEqual(['foundation/platform/optional-peer.ts', 'tools/cli/host.ts']);
  });

  it('is an optional peer, a dependency, or a dependency of a peer', () => {
    const { dependencies, peerDependenciesMeta } = manifestOf(LIBRARY);
    const known = [...Object.keys(dependencies!), ...Object.keys(peerDependenciesMeta!), 'cron'];
    expect(NAMES.filter((name) => !known.some((own) => name === own || name.startsWith(`${own}/`)))).toEqual([]);
  });
});
