import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as ts from 'typescript';
import { LIBRARY, ROOT, manifestOf } from '../support/packages/package';

/** The packages that the design names. */
const DESIGN =
  '@nestjs/typeorm typeorm pg cache-manager cache-manager-redis-yet @nestjs/throttler class-validator class-transformer ' +
  'passport passport-jwt @nestjs/jwt @nestjs/passport @nestjs/event-emitter @nestjs/swagger @nestjs/terminus argon2 otplib ' +
  '@simplewebauthn/server nest-commander';

/** The functions that load a package by its name. */
const LOADERS =
  /(?:\brequire(?:\.resolve)?|\bcreateRequire\)?\(.*\)|\boptionalPeer\)?|\bbroughtBy\)?|\bload|\boptional)$/;

/** The packages that a file of TypeScript imports at run time, so no types. */
function importsOf(file: string): string[] {
  const compilerOptions: ts.CompilerOptions = {
    module: ts.ModuleKind.CommonJS,
    target: ts.ScriptTarget.ES2022,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
  };
  const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), { compilerOptions });
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && LOADERS.test(node.expression.getText()))
      names.push(...node.arguments.filter(ts.isStringLiteral).map(({ text }) => text));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('compiled.js', outputText, ts.ScriptTarget.ES2022, true));
  const packages = names.filter((name) => !/^(?:\.|node:|@svc\/)/.test(name));
  return packages.map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
}

/** The files of a folder that import each package. */
function importers(folder: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).toSorted();
  for (const file of files.filter((name) => name.endsWith('.ts') && !/(?:spec|testkit)\.ts$/.test(name)))
    for (const name of new Set(importsOf(join(ROOT, folder, file))))
      found.set(name, [...(found.get(name) ?? []), file]);
  return found;
}

const SOURCES = { library: 'libs/auth/src', sample: 'apps/sample/src' };
const found = { library: importers(SOURCES.library), sample: importers(SOURCES.sample) };
type Importer = keyof typeof found;

interface Row {
  name: string;
  role: string;
  library: string;
  sample: string;
}

const cells = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
const unquoted = (text: string): string => text.replaceAll('`', '');

/** The rows of the page. A row can have several packages, which have the same role and the same importers. */
const ROWS: Row[] = readFileSync(join(ROOT, 'docs/packages.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map(cells)
  .flatMap(([names, role, library, sample]) =>
    unquoted(names!)
      .split(', ')
      .map((name) => ({ name, role: role!, library: unquoted(library!), sample: unquoted(sample!) })),
  );

/** The role of a package for the library, by the manifests. */
function roleOf(name: string): string {
  const { dependencies, peerDependencies, peerDependenciesMeta } = manifestOf(LIBRARY);
  if (dependencies![name]) return 'dependency';
  if (peerDependencies![name]) return peerDependenciesMeta![name] ? 'optional peer' : 'peer';
  return manifestOf(ROOT).dependencies![name] ? 'of the sample' : 'brought by a peer';
}

/** What a cell should say: the file, if it is one of those that import the package; otherwise the first of these. */
function expectedCell(importer: Importer, { name, [importer]: cell }: Row): string {
  const files = found[importer].get(name) ?? [];
  if (!files.length) return ['–', 'its type'].find((text) => text === cell) ?? '–';
  return files.includes(cell) ? cell : files[0]!;
}

describe('the page of packages', () => {
  it('lists every package that the library or the sample imports, and those that the design names', () => {
    const imported = [...found.library.keys(), ...found.sample.keys()];
    const listed = ROWS.map(({ name }) => name);
    expect(listed.toSorted()).toEqual([...new Set([...imported, ...DESIGN.split(' ')])].toSorted());
  });

  it('names the role of each package, as the manifests have it, and a file that imports it at run time', () => {
    const expected = ROWS.map((row) => ({
      ...row,
      role: roleOf(row.name),
      library: row.library.startsWith('by ') ? row.library : expectedCell('library', row),
      sample: expectedCell('sample', row),
    }));
    expect(ROWS).toEqual(expected);
  });

  it('has no package that only a type needs: the library imports it, the sample does, or a package that has it as a peer', () => {
    const unused = ROWS.filter(({ name, library, sample }) => {
      if ([library, sample].some((cell) => cell.endsWith('.ts'))) return false;
      const user = /^by (\S+)$/.exec(library)?.[1];
      return (
        !user || !manifestOf(join(ROOT, 'node_modules', user)).peerDependencies?.[name] || !found.library.has(user)
      );
    });
    expect(unused).toEqual([]);
  });
});
