import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as ts from 'typescript';

const SRC = join(__dirname, '../../libs/auth/src');

/** The features that other features build on. Every other feature uses them, and the core, through the kit. */
const BASE = new Set(['sessions', 'login', 'login-challenge', 'step-up', 'mail']);

/** How many names of the kit one feature may use. A group counts as one name. */
const MOST = 30;

const parsed = (file: string, text: string): ts.SourceFile =>
  ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);

interface Use {
  readonly names: readonly string[];
  /** The members of groups, as `group.member`. */
  readonly members: readonly string[];
}

/** The names of the kit that files import, and the members of its groups that they use. */
function useOf(files: readonly ts.SourceFile[]): Use {
  const names = new Set<string>();
  const members = new Set<string>();
  for (const file of files) {
    const imported = new Set<string>();
    const visit = (node: ts.Node): void => {
      if (ts.isImportDeclaration(node) && (node.moduleSpecifier as ts.StringLiteral).text.endsWith('/kit')) {
        const bindings = node.importClause!.namedBindings as ts.NamedImports;
        for (const { name, propertyName } of bindings.elements) imported.add((propertyName ?? name).text);
      }
      const [group, member] = ts.isPropertyAccessExpression(node)
        ? [node.expression, node.name]
        : ts.isQualifiedName(node)
          ? [node.left, node.right]
          : [];
      if (group && ts.isIdentifier(group) && imported.has(group.text)) members.add(`${group.text}.${member!.text}`);
      ts.forEachChild(node, visit);
    };
    visit(file);
    for (const name of imported) names.add(name);
  }
  return { names: [...names].toSorted(), members: [...members].toSorted() };
}

const features = readdirSync(join(SRC, 'features')).filter((name) => !BASE.has(name));

const filesOf = (feature: string): ts.SourceFile[] =>
  readdirSync(join(SRC, 'features', feature), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/(?:spec|testkit)\.ts$/.test(file))
    .map((file) => parsed(file, readFileSync(join(SRC, 'features', feature, file), 'utf8')));

/** The names that a module exports. */
const exportsOf = (file: string): string[] =>
  parsed(file, readFileSync(join(SRC, file), 'utf8')).statements.flatMap((statement) => {
    if (!ts.isExportDeclaration(statement) || !statement.exportClause) return [];
    const { exportClause } = statement;
    return ts.isNamespaceExport(exportClause)
      ? exportClause.name.text
      : exportClause.elements.map(({ name }) => name.text);
  });

describe('the kit', () => {
  it.each(features)(`offers at most ${MOST} of its names to one feature: %s`, (feature) => {
    const { names, members } = useOf(filesOf(feature));
    // Both are printed where there are too many.
    const found = { names: names.length, members: members.length, all: [...names, ...members].join(' ') };
    expect(names.length > MOST ? found : undefined).toBeUndefined();
    expect(names).toContain('defineFeature');
    if (process.env.TEST_PRINT) console.log(feature, names.length, 'names with', members.length, 'members');
  });

  it('has no name that no feature uses', () => {
    const { names, members } = useOf(features.flatMap(filesOf));
    const groups = readdirSync(join(SRC, 'kit')).map((file) => file.replace(/\.ts$/, ''));
    const offered = groups.flatMap((group) => exportsOf(`kit/${group}.ts`).map((member) => `${group}.${member}`));
    expect(groups.length).toBeGreaterThan(0);
    expect(exportsOf('kit.ts').filter((name) => !names.includes(name))).toEqual([]);
    expect(offered.filter((member) => !members.includes(member))).toEqual([]);
  });

  it('is counted by names and by members, also in types', () => {
    const text = "import { Clock, type a, b as c, d } from '../../kit';\nlet x: a.One = d.two(a.three, Clock.now);\n";
    expect(useOf([parsed('planted.ts', text)])).toEqual({
      names: ['Clock', 'a', 'b', 'd'],
      members: ['Clock.now', 'a.One', 'a.three', 'd.two'],
    });
  });
});
