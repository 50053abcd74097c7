import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import * as ts from 'typescript';
import { PAGES, ROOT } from '../docs/blocks';

const SOURCE = join(ROOT, 'libs/auth/src');

/** The entry points of the package, as its `exports` name them. */
const ENTRIES = Object.values(
  (
    JSON.parse(readFileSync(join(ROOT, 'libs/auth/package.json'), 'utf8')) as {
      exports: Record<string, string | { default: string }>;
    }
  ).exports,
).flatMap((entry) =>
  typeof entry === 'string' ? [] : join(SOURCE, relative('dist', entry.default).replace(/js$/, 'ts')),
);

/** Names of other packages, of browsers and of HTTP that docstrings use. */
const FOREIGN = new Set(
  `Accept Authorization Cookie Origin Secure Vary
  EventSource PublicKeyCredential PublicKeyCredentialCreationOptions PublicKeyCredentialRequestOptions WebSocket
  ClassSerializerInterceptor Entity EventEmitter2 Get HttpException NestFactory ScheduleModule Sse SwaggerModule
  ThrottlerStorage UseGuards HmacSHA1 AuthSecurity`.split(/\s+/),
);

interface Declared {
  readonly file: string;
  readonly node: ts.Node;
}

/** A name in a docstring that a user of the library can read. */
interface Mention {
  readonly place: string;
  readonly name: string;
  readonly isLink: boolean;
  /** The names of the declaration that has the docstring. */
  readonly owners: readonly string[];
}

type Named = ts.Node & { readonly name?: ts.Node; readonly jsDoc?: readonly ts.JSDoc[] };

const parsed = new Map<string, ts.SourceFile>();

const parse = (file: string, text: string): ts.SourceFile => {
  const syntax = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  parsed.set(file, syntax);
  return syntax;
};

const syntaxOf = (file: string): ts.SourceFile => parsed.get(file) ?? parse(file, readFileSync(file, 'utf8'));

const nameOf = (node: Named): string | undefined =>
  node.name && ts.isIdentifier(node.name) ? node.name.text : undefined;

const has = (node: ts.Node, kind: ts.SyntaxKind): boolean =>
  ts.canHaveModifiers(node) && Boolean(ts.getModifiers(node)?.some((modifier) => modifier.kind === kind));

const isHidden = (node: Named): boolean =>
  has(node, ts.SyntaxKind.PrivateKeyword) ||
  Boolean(node.name && ts.isPrivateIdentifier(node.name)) ||
  Boolean(node.jsDoc?.some((doc) => doc.getText().includes('@internal')));

/** The names that a statement declares. */
const declaredBy = (statement: ts.Statement): (string | undefined)[] =>
  ts.isVariableStatement(statement) ? statement.declarationList.declarations.map(nameOf) : [nameOf(statement)];

/** The file of a relative import; undefined for a package. */
const importedFile = (from: string, module: ts.Expression | undefined): string | undefined =>
  module && ts.isStringLiteral(module) && module.text.startsWith('.')
    ? [`${module.text}.ts`, `${module.text}/index.ts`].map((path) => join(dirname(from), path)).find(existsSync)
    : undefined;

/** The names that a file takes from another file: those that it imports, or those that it exports again. */
function* takenBy(
  file: string,
  how: 'ImportDeclaration' | 'ExportDeclaration',
): Generator<[name: string, from: string, there: string]> {
  for (const statement of syntaxOf(file).statements) {
    if (statement.kind !== ts.SyntaxKind[how]) continue;
    const { importClause, exportClause, moduleSpecifier } = statement as Partial<ts.ImportDeclaration> &
      Partial<ts.ExportDeclaration>;
    const names = importClause?.namedBindings ?? exportClause;
    const from = importedFile(file, moduleSpecifier);
    if (!from || !names || !(ts.isNamedImports(names) || ts.isNamedExports(names))) continue;
    for (const { name, propertyName } of names.elements) yield [name.text, from, (propertyName ?? name).text];
  }
}

/** The declarations of a name that is used in a file. An interface can have several. */
function declarationsOf(file: string, name: string): Declared[] {
  const own = syntaxOf(file).statements.filter((statement) => declaredBy(statement).includes(name));
  const others = [...takenBy(file, 'ImportDeclaration'), ...takenBy(file, 'ExportDeclaration')];
  return [
    ...own.map((node) => ({ file, node })),
    ...others.flatMap(([taken, from, there]) => (taken === name ? declarationsOf(from, there) : [])),
  ];
}

/** The interfaces that a block of `declare module` extends. */
const AUGMENTED = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((file) => /(?<!spec|testkit)\.ts$/.test(file))
  .map((file) => join(SOURCE, file))
  .flatMap((file) =>
    syntaxOf(file).statements.flatMap((statement) =>
      ts.isModuleDeclaration(statement) && statement.body && ts.isModuleBlock(statement.body)
        ? statement.body.statements.filter(ts.isInterfaceDeclaration).map((node) => ({ file, node }))
        : [],
    ),
  );

/** The names that an entry point exports. */
const exportsOf = (file: string): string[] => [
  ...syntaxOf(file)
    .statements.filter((statement) => has(statement, ts.SyntaxKind.ExportKeyword))
    .flatMap(declaredBy)
    .flatMap((name) => name ?? []),
  ...[...takenBy(file, 'ExportDeclaration')].map(([name]) => name),
];

const MENTION = /\{@link ([\w.]+)[^}]*\}|\b[Ss]ee `@?([\w.]+)(?:\(\))?`|`@?([A-Z][a-z]\w*(?:\.\w+)*)(?:\(\))?`/g;

/** The names of the members of a declaration, and of types that it extends. */
function membersOf(name: string, shown: ReadonlyMap<string, readonly ts.Node[]>): string[] {
  const names: string[] = [];
  const visit = (node: Named): void => {
    if (isHidden(node)) return;
    names.push(...[nameOf(node) ?? []].flat());
    if (ts.isHeritageClause(node))
      for (const { expression } of node.types)
        if (ts.isIdentifier(expression) && expression.text !== name) names.push(...membersOf(expression.text, shown));
    node.forEachChild(visit);
  };
  for (const node of shown.get(name) ?? []) node.forEachChild(visit);
  return names;
}

/** The docstrings of the exported declarations, and of the types that these show. */
function read(entries: readonly string[]): {
  mentions: Mention[];
  exported: Set<string>;
  shown: Map<string, ts.Node[]>;
} {
  const exported = new Set(entries.flatMap(exportsOf));
  const shown = new Map<string, ts.Node[]>();
  const mentions: Mention[] = [];
  const queue = entries.flatMap((entry) => exportsOf(entry).flatMap((name) => declarationsOf(entry, name)));
  const seen = new Set<ts.Node>();
  for (const { file, node: declaration } of queue) {
    if (seen.has(declaration)) continue;
    seen.add(declaration);
    const owners = declaredBy(declaration as ts.Statement).flatMap((name) => name ?? []);
    for (const name of owners) {
      shown.set(name, [...(shown.get(name) ?? []), declaration]);
      queue.push(...AUGMENTED.filter(({ node }) => node.name.text === name));
    }
    const visit = (node: Named): void => {
      if (isHidden(node)) return;
      for (const doc of node.jsDoc ?? []) {
        const line = syntaxOf(file).getLineAndCharacterOfPosition(doc.pos).line + 1;
        for (const [text, link, page, name] of doc.getText().matchAll(MENTION)) {
          const mentioned = link ?? page ?? name ?? text;
          mentions.push({
            place: `${relative(SOURCE, file)}:${line}`,
            name: mentioned,
            isLink: Boolean(link),
            owners,
          });
        }
      }
      const used = ts.isTypeReferenceNode(node)
        ? node.typeName
        : ts.isExpressionWithTypeArguments(node)
          ? node.expression
          : undefined;
      if (used && ts.isIdentifier(used)) queue.push(...declarationsOf(file, used.text));
      node.forEachChild((child) => {
        // The body of a method is not public; that of a function can declare the class that it returns.
        if (!(ts.isBlock(child) && (ts.isMethodDeclaration(node) || ts.isConstructorDeclaration(node)))) visit(child);
      });
    };
    visit(declaration);
  }
  return { mentions, exported, shown };
}

/** The options with their full names, and each block of them. */
const OPTIONS = new Set(
  [...readFileSync(join(ROOT, 'docs/options.md'), 'utf8').matchAll(/^\| `([\w.]+)`/gm)].flatMap(([, option]) =>
    option!.split('.').map((_, i, parts) => parts.slice(0, i + 1).join('.')),
  ),
);

/** The mentions of what does not exist, or what a user cannot reach. */
function unreachable(entries: readonly string[]): string[] {
  const { mentions, exported, shown } = read(entries);
  const hasMember = (name: string, member: string): boolean => membersOf(name, shown).includes(member);
  const isReached = ({ name, isLink, owners }: Mention): boolean => {
    if (FOREIGN.has(name.split('.')[0]!) || OPTIONS.has(name) || PAGES.includes(`docs/${name}`)) return true;
    if (isLink && owners.some((owner) => hasMember(owner, name))) return true;
    const [head = '', member] = name.split('.');
    // With the capabilities that features declare.
    if (head === 'auth') return hasMember('Auth', member!) || hasMember('Capabilities', member!);
    const isShown = exported.has(head) || (isLink && shown.has(head));
    return isShown && (member === undefined || hasMember(head, member));
  };
  return mentions.filter((mention) => !isReached(mention)).map(({ place, name }) => `${place}: ${name}`);
}

describe('the docstrings of what a user can import', () => {
  it('name declarations, members, options and pages that exist and that the user can reach', () => {
    expect(ENTRIES.length).toBeGreaterThan(4);
    expect(read(ENTRIES).mentions.length).toBeGreaterThan(150);
    expect(unreachable(ENTRIES)).toEqual([]);
  });

  it('are found wrong where they name what does not exist, or what no entry point exports', () => {
    const planted = join(SOURCE, 'planted.ts');
    parse(
      planted,
      `
import type { TokenSource } from './identity/tokens/caller';
/** See \`Nothing\`, {@link Shown.other} and \`RefreshTokens\`; right: {@link Shown.one}, \`accessTtl\`, see \`users.entity\`. */
export class Shown {
  /** {@link two} is wrong, {@link one} is right, as {@link TokenSource}, but not \`TokenSource\`. */
  one: TokenSource;
  /** Not public: {@link nowhere}. */
  private two: string;
}`,
    );
    const found = unreachable([planted]).filter((mention) => mention.startsWith('planted.ts'));
    expect(found.map((mention) => mention.replace(/^.*: /, ''))).toEqual([
      'Nothing',
      'Shown.other',
      'RefreshTokens',
      'two',
      'TokenSource',
    ]);
  });
});
