import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as ts from 'typescript';
import { type Block, ROOT, fileOf } from './blocks';

const PRESUPPOSED = join(ROOT, 'test/docs/block-context.ts');
/** A package that only a page needs. */
const DECLARED = join(ROOT, 'test/docs/expo-secure-store.d.ts');
const LIBRARY = join(ROOT, 'libs/auth/src/index.ts');

/** The files that a page may import without showing them. */
const USUAL = [
  ['src/users.ts', 'CreateUsers1795000000000, Order, User'],
  ['src/app.module.ts', 'AppModule'],
] as const;

/** Top-level `await`, and names that a fragment declares but does not use. */
const ALLOWED_IN_FRAGMENTS = new Set([1309, 1375, 1378, 6133, 6192, 6196, 6198]);

const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent({ ...config, files: [PRESUPPOSED] }, ts.sys, ROOT);
options.types = ['node', 'jest'];
options.paths = { '@svc/auth-client': ['./libs/auth-client/src/index.ts'] };

/** Where the blocks find the library, as if it were installed: its sources in place of its declarations. */
const INSTALLED = join(ROOT, 'node_modules/@svc/auth');
const SOURCES = join(ROOT, 'libs/auth');
const MANIFEST = join(SOURCES, 'package.json');

const inLibrary = (path: string): string =>
  path.startsWith(INSTALLED) ? SOURCES + path.slice(INSTALLED.length) : path;

/**
 * Type-checks blocks and their declarations in one program against the library's source, which is a package for it: what a
 * block exports must have a type that a host can name, with `declaration: true` of `nest new`. A block with a file name is a complete file with its
 * imports, and other blocks of its page may import it. Any other block is a fragment: the names that it presupposes are
 * imported, and class members are wrapped in a class.
 *
 * @returns the mistakes, each with the position of its block
 */
export function mistakesOf(blocks: readonly Block[]): string[] {
  const virtual = new Map<string, string>();
  const known = namesFrom(PRESUPPOSED);
  const files = blocks.map((block, i) => {
    const folder = join(ROOT, 'test/docs/.blocks', block.page.replaceAll('/', '_'));
    for (const [module, names] of USUAL) {
      const path = join(folder, module);
      if (!virtual.has(path)) virtual.set(path, `export { ${names} } from '../../../block-context';`);
    }
    const file = join(folder, fileOf(block) ?? `fragment-${i}.ts`);
    virtual.set(file, fileOf(block) ? block.text : asModule(block.text, known));
    return { block, file, isFragment: !fileOf(block) };
  });
  const program = ts.createProgram({
    rootNames: [PRESUPPOSED, DECLARED, ...virtual.keys()],
    options,
    host: inMemory(virtual),
  });
  return files.flatMap(({ block, file, isFragment }) => {
    const source = program.getSourceFile(file)!;
    return [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
      ...program.getDeclarationDiagnostics(source),
    ]
      .filter(({ code }) => !isFragment || !ALLOWED_IN_FRAGMENTS.has(code))
      .map(({ messageText }) => `${block.place}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
  });
}

function inMemory(virtual: ReadonlyMap<string, string>): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
  const { fileExists, readFile, directoryExists, realpath } = host;
  const folders = new Set<string>();
  for (const file of virtual.keys()) for (let at = file; at !== ROOT;) folders.add((at = dirname(at)));
  host.fileExists = (file) => virtual.has(file) || fileExists(inLibrary(file));
  host.directoryExists = (path) => folders.has(path) || directoryExists!(inLibrary(path));
  host.readFile = (file) =>
    file === join(INSTALLED, 'package.json')
      ? readFile(MANIFEST)!.replaceAll(/\.\/dist\/([^"]+)\.(?:d\.ts|js)"/g, './src/$1.ts"')
      : (virtual.get(file) ?? readFile(inLibrary(file)));
  host.realpath = (path) => (path.startsWith(INSTALLED) ? path : realpath!(path));
  return host;
}

/**
 * The names that a file exports, and whether each is more than a type. The syntax shows it: `isolatedModules` requires
 * explicit type exports.
 */
function namesFrom(file: string): Map<string, boolean> {
  const { statements } = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  return new Map(statements.flatMap((statement) => exportsOf(statement, file)));
}

function exportsOf(statement: ts.Statement, file: string): [string, boolean][] {
  if (ts.isExportDeclaration(statement)) {
    const { exportClause, isTypeOnly, moduleSpecifier } = statement;
    if (exportClause && ts.isNamedExports(exportClause))
      return exportClause.elements.map((one) => [one.name.text, !isTypeOnly && !one.isTypeOnly]);
    const from = (moduleSpecifier as ts.StringLiteral).text;
    const names = namesFrom(from === '@svc/auth' ? LIBRARY : join(dirname(file), `${from}.ts`));
    return [...names].map(([name, isValue]) => [name, !isTypeOnly && isValue]);
  }
  const isExported = ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some(isExport);
  if (!isExported) return [];
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => [(name as ts.Identifier).text, true]);
  const { name } = statement as ts.Statement & { name: ts.Identifier };
  return [[name.text, !ts.isInterfaceDeclaration(statement) && !ts.isTypeAliasDeclaration(statement)]];
}

const isExport = ({ kind }: ts.Modifier): boolean => kind === ts.SyntaxKind.ExportKeyword;

const MEMBERS = /^(?:\s*\/\/.*\n)*(?:constructor\(|@(?:Get|Post|Patch|Delete)\()/;

/** A fragment as a module. Everything is added before its first line, so that line numbers do not change. */
function asModule(text: string, known: ReadonlyMap<string, boolean>): string {
  const fragment = MEMBERS.test(text)
    ? `interface Fragment extends UnshownMembers {} class Fragment { ${text} }`
    : text;
  const { own, used } = namesOf(fragment);
  const missing = [...used].filter((name) => known.has(name) && !own.has(name));
  const imports = missing.map((name) => (known.get(name) ? name : `type ${name}`)).join(', ');
  return `import { ${imports} } from '../../block-context'; export {}; ${fragment}`;
}

function namesOf(text: string): { own: Set<string>; used: Set<string> } {
  const [own, used] = [new Set<string>(), new Set<string>()];
  const file = ts.createSourceFile('fragment.ts', text, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    const { parent } = node;
    if (ts.isIdentifier(node)) {
      if (declares(parent, node) && isTopLevel(parent)) own.add(node.text);
      else if (!(ts.isPropertyAccessExpression(parent) && parent.name === node)) used.add(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { own, used };
}

const declares = (parent: ts.Node, name: ts.Identifier): boolean =>
  (ts.isVariableDeclaration(parent) ||
    ts.isBindingElement(parent) ||
    ts.isClassDeclaration(parent) ||
    ts.isInterfaceDeclaration(parent) ||
    ts.isFunctionDeclaration(parent) ||
    ts.isTypeAliasDeclaration(parent) ||
    ts.isImportSpecifier(parent) ||
    ts.isImportClause(parent) ||
    ts.isNamespaceImport(parent)) &&
  parent.name === name;

const isTopLevel = (node: ts.Node): boolean => {
  for (let at = node.parent; at; at = at.parent) if (ts.isFunctionLike(at) || ts.isClassLike(at)) return false;
  return true;
};
