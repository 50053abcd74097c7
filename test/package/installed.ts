import { transformSync } from '@swc/core';
import { execFile, fork, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import * as ts from 'typescript';
import { installedIn, linkPackages } from '../support/packages/closure';
import {
  INSTALL,
  LIBRARY,
  ROOT,
  fillOnce,
  manifestOf,
  packLibrary,
  replaceLibrary,
  run,
} from '../support/packages/package';
import { installedWorkspace } from './workspace';

const exec = promisify(execFile);

const ours = manifestOf(ROOT).dependencies!;
const pick = (...names: string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, ours[name]!]));

/** The dependencies of every host, besides the package and the packages that npm installs for it. */
const NEEDS = {
  ...pick('class-transformer', 'passport', 'pg', 'reflect-metadata', 'rxjs', 'typeorm'),
  '@redis/client': '5.12.1',
};

export const NEST_11: Readonly<Record<string, string>> = {
  ...NEEDS,
  '@nestjs/common': '11.2.10',
  '@nestjs/core': '11.2.10',
  '@nestjs/jwt': '11.0.2',
  '@nestjs/passport': '11.0.5',
  '@nestjs/platform-express': '11.2.10',
  '@nestjs/platform-fastify': '11.2.8',
  '@nestjs/typeorm': '11.0.3',
};

/** A kind of host application. */
export interface HostKind {
  name: string;
  /** The module format of the host. */
  format: 'module' | 'commonjs';
  resolution: 'nodenext' | 'node16';
  needs: Readonly<Record<string, string>>;
  /** Its file in `host/`; `main` without it. */
  main?: string;
  /** Returns a folder where npm has installed the same packages. npm finds them in the host, checks them, and adds the rest. */
  equal?: () => string;
}

const {
  typeorm: _typeorm,
  '@nestjs/typeorm': _ofNest,
  '@nestjs/platform-fastify': _fastify,
  ...WITHOUT_TYPEORM
} = NEST_11;

/** A host with the option `pool` and users of its own. */
export const ON_POOL: HostKind = {
  name: 'Nest 11 without TypeORM, CommonJS',
  format: 'commonjs',
  resolution: 'node16',
  needs: {
    ...WITHOUT_TYPEORM,
    ...pick('nest-commander'),
    '@types/pg': manifestOf(ROOT).devDependencies!['@types/pg']!,
  },
  main: 'on-pool',
};

export const HOSTS: readonly HostKind[] = [
  {
    name: 'Nest 12, ESM, with node-redis 6',
    format: 'module',
    resolution: 'nodenext',
    needs: {
      ...NEEDS,
      '@redis/client': '6.3.1',
      ...pick('@nestjs/common', '@nestjs/core', '@nestjs/jwt', '@nestjs/passport', '@nestjs/typeorm'),
      ...pick('@nestjs/platform-express'),
      '@nestjs/platform-fastify': manifestOf(ROOT).devDependencies!['@nestjs/platform-fastify']!,
    },
  },
  {
    name: 'Nest 11, CommonJS',
    format: 'commonjs',
    resolution: 'node16',
    needs: NEST_11,
    equal: () => installedWorkspace(NEST_11),
  },
  {
    name: 'Nest 11 with the oldest TypeORM, CommonJS',
    format: 'commonjs',
    resolution: 'node16',
    needs: { ...NEST_11, '@nestjs/typeorm': '11.0.0', typeorm: '0.3.20' },
  },
];

/**
 * Installs the package into a host with npm. The dependencies are installed once for each manifest; the package
 * itself is replaced on every call.
 *
 * @returns the host's folder
 */
export function installed(kind: HostKind): string {
  const manifest = { name: 'host', private: true, type: kind.format, dependencies: kind.needs };
  const key = createHash('sha256')
    .update(JSON.stringify([manifest, manifestOf(LIBRARY)]))
    .digest('hex')
    .slice(0, 16);
  const folder = fillOnce(`svc-host-${key}`, (work) => {
    if (kind.equal) linkPackages(kind.equal(), work, installedIn(kind.equal()));
    writeFileSync(join(work, 'package.json'), JSON.stringify(manifest));
    run('npm', ['install', ...INSTALL, packLibrary()], work);
  });
  replaceLibrary(folder);
  compile(folder, kind);
  return folder;
}

/**
 * Resolves the dependencies of an installed host that also needs optional packages, and installs nothing.
 *
 * @param host the folder of the host. Its lock file has the versions of all other packages.
 * @returns the folder of the new lock file
 */
export async function resolvedWith(kind: HostKind, host: string, names: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-lock-'));
  // nest-commander depends on a package that does not accept Nest 12 yet.
  const overrides = { '@golevelup/nestjs-discovery': manifestOf(ROOT).overrides!['@golevelup/nestjs-discovery'] };
  const dependencies = { ...kind.needs, ...pick(...names) };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'host', private: true, dependencies, overrides }));
  copyFileSync(join(host, 'package-lock.json'), join(folder, 'package-lock.json'));
  await exec('npm', ['install', '--package-lock-only', ...INSTALL, packLibrary()], { cwd: folder });
  return folder;
}

/**
 * The dependencies of the package in a host, as `npm ls` shows them.
 *
 * @returns the versions by name; null for an optional package that the host does not have
 * @throws Error if `npm ls` finds a missing or an unsuitable package
 */
export function listedByNpm(folder: string, ...flags: string[]): Record<string, string | null> {
  const { dependencies } = JSON.parse(run('npm', ['ls', '--all', '--json', ...flags], folder));
  const own = Object.entries<{ version?: string }>(dependencies['@svc/auth'].dependencies);
  return Object.fromEntries(own.map(([name, { version = null }]) => [name, version]));
}

function compile(folder: string, { format, main = 'main' }: HostKind): void {
  const { swcOptions: options } = require('../support/runtime/swc-options.cjs');
  const source = readFileSync(join(__dirname, `host/${main}.ts`), 'utf8');
  const { code } = transformSync(source, {
    ...options,
    filename: 'main.ts',
    module: { ...options.module, type: format === 'module' ? 'es6' : 'commonjs' },
  });
  mkdirSync(join(folder, 'src'), { recursive: true });
  writeFileSync(join(folder, 'src/main.ts'), source);
  writeFileSync(join(folder, 'main.js'), code);
}

function programOf(folder: string, { resolution }: HostKind, file: string, parsing: ts.JSDocParsingMode) {
  const types = dirname(require.resolve('@types/node/package.json'));
  const { options, errors } = ts.convertCompilerOptionsFromJson(
    {
      module: resolution,
      moduleResolution: resolution,
      target: 'ES2022',
      strict: true,
      declaration: true,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      esModuleInterop: true,
      typeRoots: [dirname(types)],
      types: ['node'],
    },
    folder,
  );
  const host = ts.createCompilerHost(options);
  host.jsDocParsingMode = parsing;
  return { program: ts.createProgram([join(folder, file)], options, host), errors };
}

/** Compiles the host and the declarations of the package. @returns the compiler's errors in both */
export function typeErrors(folder: string, kind: HostKind): string[] {
  const { program, errors } = programOf(folder, kind, 'src/main.ts', ts.JSDocParsingMode.ParseNone);
  const checked = ['src', 'node_modules/@svc'].map((name) => `${join(folder, name)}/`);
  const files = program.getSourceFiles().filter(({ fileName }) => checked.some((name) => fileName.startsWith(name)));
  const found = files.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ]);
  return [...errors, ...found].map(
    ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
  );
}

const isPublic = ({ name, declarations = [] }: ts.Symbol): boolean =>
  /^[a-z]/i.test(name) &&
  declarations.every(
    (one) =>
      !(ts.getCombinedModifierFlags(one) & ts.ModifierFlags.NonPublicAccessibilityModifier) &&
      ts.getJSDocTags(one).every(({ tagName }) => tagName.text !== 'internal'),
  );

/** A function for each capability of `Auth`, each of its methods and each method of a capability, by its call. */
function functionsOf(auth: ts.Type, types: ts.TypeChecker): Record<string, string> {
  const functions: Record<string, string> = {};
  const add = (type: ts.Type, path: readonly string[]): void => {
    for (const member of type.getProperties().filter(isPublic)) {
      const [to, ofMember] = [[...path, member.name], types.getTypeOfSymbol(member)];
      const call = ['auth', ...to].join('.');
      const input = `Parameters<Auth${to.map((name) => `['${name}']`).join('')}>`;
      const isMethod = ofMember.getCallSignatures().length > 0;
      functions[call] = isMethod ? `(auth: Auth, ...input: ${input}) => ${call}(...input)` : `(auth: Auth) => ${call}`;
      if (!isMethod && path.length === 0) add(ofMember, to);
    }
  };
  add(auth, []);
  return functions;
}

/**
 * Compiles a host that imports only the main entry, with its declarations, as `nest new` sets up: `export const of = (auth: Auth)
 * => auth.login`, and so on. The compiler infers each result, and needs a name for it that the host can import.
 *
 * @returns the calls, the compiler's errors, and the declarations that add to types of the package without being reached
 */
export function compiledCalls(folder: string, kind: HostKind): Record<'calls' | 'errors' | 'unreached', string[]> {
  const [root, file] = ['src/auth.ts', 'src/calls.ts'];
  writeFileSync(join(folder, root), `import type { Auth } from '@svc/auth';\nexport declare const auth: Auth;\n`);
  const { program: first } = programOf(folder, kind, root, ts.JSDocParsingMode.ParseAll);
  const [types, { statements }] = [first.getTypeChecker(), first.getSourceFile(join(folder, root))!];
  const { declarationList } = statements[1] as ts.VariableStatement;
  const functions = functionsOf(types.getTypeAtLocation(declarationList.declarations[0]!.name), types);
  const lines = Object.values(functions).map((text, i) => `export const of${i} = ${text};\n`);
  writeFileSync(join(folder, file), `import type { Auth } from '@svc/auth';\n${lines.join('')}`);

  const { program } = programOf(folder, kind, file, ts.JSDocParsingMode.ParseNone);
  const source = program.getSourceFile(join(folder, file))!;
  const found = [...program.getSemanticDiagnostics(source), ...program.getDeclarationDiagnostics(source)];
  const dist = join(folder, 'node_modules/@svc/auth/dist');
  const unreached = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
    (name) =>
      name.endsWith('.d.ts') &&
      /^declare module '\./m.test(readFileSync(join(dist, name), 'utf8')) &&
      !program.getSourceFile(join(dist, name)),
  );
  return {
    calls: Object.keys(functions),
    errors: found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')),
    unreached,
  };
}

/**
 * Where the declarations of an unpacked package say that the source is, for "go to definition" of an editor.
 *
 * @returns the source of each declaration by its path in the package; null where no source is, or where the map contains
 *   the text of the source: TypeScript ignores such a map
 */
export function sourcesOfDeclarations(folder: string): Record<string, string | null> {
  const files = readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' });
  const sourceOf = (file: string): string | null => {
    const path = join(folder, 'dist', file);
    const [, name] = /\/\/# sourceMappingURL=(\S+)\s*$/.exec(readFileSync(path, 'utf8')) ?? [];
    if (!name) return null;
    const map = JSON.parse(readFileSync(join(dirname(path), name), 'utf8'));
    const source = join(dirname(path), map.sources[0]);
    return existsSync(source) && !map.sourcesContent ? relative(folder, source) : null;
  };
  return Object.fromEntries(
    files.filter((file) => file.endsWith('.d.ts')).map((file) => [join('dist', file), sourceOf(file)]),
  );
}

/** What npm complains about, or corrects, when it publishes a file. No registry is asked: there is none at this address. */
export function complaintsOfNpm(tarball: string): string[] {
  const flags = ['--dry-run', '--registry', 'http://127.0.0.1:9', '--fetch-retries', '0', '--loglevel', 'warn'];
  const { status, stderr } = spawnSync('npm', ['publish', tarball, ...flags], { cwd: ROOT, encoding: 'utf8' });
  const complaints = stderr.split('\n').filter((line) => line && !line.includes('requires you to be logged in'));
  return status === 0 ? complaints : [`npm publish ended with ${status}`, ...complaints];
}

/** Starts the host as a separate process. @returns its first message. @throws Error with its output, if it exits */
export function start<T = string>(
  folder: string,
  options: object,
  variables: Record<string, string> = {},
): Promise<{ sent: T; stop: () => void }> {
  const child = fork(join(folder, 'main.js'), {
    execArgv: [],
    env: { PATH: process.env.PATH, NO_COLOR: '1', HOST_OPTIONS: JSON.stringify(options), ...variables },
    silent: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream!.on('data', (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.once('message', (sent) => resolve({ sent: sent as T, stop: () => child.kill('SIGKILL') }));
    child.once('exit', () => reject(new Error(output)));
  });
}
