import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import * as ts from 'typescript';

const ROOT = join(__dirname, '../..');

/** A source file: its path below the sources, and its text. */
type Source = readonly [file: string, text: string];

const filesBelow = (folder: string, pattern: RegExp): Source[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => pattern.test(file) && !/node_modules|[\\/]dist[\\/]/.test(file))
    .map((file) => [file, readFileSync(join(ROOT, folder, file), 'utf8')]);

const sources = filesBelow('libs/auth/src', /(?<!spec|testkit)\.ts$/);

const known = new Map<Source, ts.SourceFile>();

/** The syntax of a file, which is parsed once for all tests. */
function parsed(source: Source): ts.SourceFile {
  const [file, text] = source;
  const syntax = known.get(source) ?? ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  known.set(source, syntax);
  return syntax;
}

/** The names that a file exports by a declaration. */
function exportedNames(source: Source): string[] {
  return parsed(source).statements.flatMap((statement) => {
    if (!ts.canHaveModifiers(statement)) return [];
    if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText());
    return 'name' in statement ? [(statement.name as ts.Identifier).text] : [];
  });
}

/** Names that more than one file exports. */
function ambiguousNames(files: readonly Source[]): string[] {
  const all = files.flatMap((source) => [...new Set(exportedNames(source))]);
  return all.filter((name, i) => all.indexOf(name) !== i);
}

/** A file of this kind may be small: its name says where it belongs, or a host imports it. */
const MAY_BE_SMALL =
  /\.(policy|feature|entity|controller|command)\.ts$|^tools\/(testing|migrations)\/|^tools\/console\/(commander|console\.module)\.ts$/;

/** Files of fewer than 40 lines that one file beside them imports, and no other. */
function smallFilesOfOneImporter(files: readonly Source[]): string[] {
  const importers = new Map<string, Set<string>>();
  for (const source of files) {
    for (const statement of parsed(source).statements) {
      if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) continue;
      const module = statement.moduleSpecifier as ts.StringLiteral | undefined;
      if (!module?.text.startsWith('.')) continue;
      const imported = join(dirname(source[0]), `${module.text}.ts`);
      importers.set(imported, (importers.get(imported) ?? new Set()).add(source[0]));
    }
  }
  return files
    .filter(([file, text]) => {
      const [only, ...others] = importers.get(file) ?? [];
      const isBeside = only !== undefined && others.length === 0 && dirname(only) === dirname(file);
      return isBeside && text.split('\n').length <= 40 && !MAY_BE_SMALL.test(file);
    })
    .map(([file]) => file);
}

/**
 * Words and phrases that a reader whose third language is English has to decode, or that describe software as a person.
 * Each has a plain substitute: "no user", "any client", "returns", "writes", "permanently", "ended".
 */
const WORDS =
  /\b(nobody|whoever|somebody|someone|anybody|everybody|everyone|for ever|patience|tells?|told|knew|believes?|believed|speaks?|under way|takes along|taken along|brings along|dearer|in vain|of its own accord|stands in|stood in|at leisure|that is none\b(?! of))\b/i;

/** The comments and texts of a TypeScript file that have one of {@link WORDS}, as `file: word`. */
function hardWordsIn([file, text]: Source): string[] {
  const prose: string[] = [];
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, ts.LanguageVariant.Standard, text);
  const { SingleLineCommentTrivia, MultiLineCommentTrivia, StringLiteral } = ts.SyntaxKind;
  for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    if ([SingleLineCommentTrivia, MultiLineCommentTrivia, StringLiteral].includes(kind))
      prose.push(scanner.getTokenText());
  }
  return prose
    .flatMap((piece) => WORDS.exec(piece.replace(/\s*\n\s*\*?\s*/g, ' '))?.[0] ?? [])
    .map((word) => `${file}: ${word}`);
}

/** The same of a page: its code is not prose. */
const hardWordsOnPage = ([file, text]: Source): string[] =>
  text
    .replace(/```[\s\S]*?```|`[^`]*`/g, '')
    .split('\n')
    .flatMap((line) => WORDS.exec(line)?.[0] ?? [])
    .map((word) => `${file}: ${word}`);

describe('the names of the source', () => {
  it('have one meaning each: no two files export the same name', () => {
    expect(ambiguousNames(sources)).toEqual([]);
  });

  it('are found alike where two files export the same one', () => {
    const planted: Source[] = [
      ['a.ts', 'export class Standing {}'],
      ['b.ts', 'export const Standing = 1;'],
    ];
    expect(ambiguousNames([...sources, ...planted])).toEqual(['Standing']);
  });
});

describe('the files of the source', () => {
  it('are at most 435 besides texts and options of a feature, of which at most 25 have 15 lines or fewer', () => {
    const code = sources.filter(
      ([file]) => !/^foundation\/languages\/[a-z]{2}\.ts$|\.(options|texts|languages)\.ts$/.test(file),
    );
    expect(code.length).toBeLessThanOrEqual(435);
    expect(sources.filter(([, text]) => text.split('\n').length <= 16).length).toBeLessThanOrEqual(25);
  });

  it('are no fragments: a small file with one importer beside it is a part of that file', () => {
    expect(smallFilesOfOneImporter(sources)).toEqual([]);
  });

  it('are reported where one is such a fragment', () => {
    const planted: Source[] = [
      ['features/login/piece.ts', 'export const piece = 1;'],
      ['features/login/whole.ts', "import { piece } from './piece';\nexport const whole = piece;"],
    ];
    expect(smallFilesOfOneImporter([...sources, ...planted])).toEqual(['features/login/piece.ts']);
  });
});

describe('the prose', () => {
  it.each(['libs', 'apps', 'test', 'bench'])('of %s has plain words in comments, texts and titles', (folder) => {
    const files = filesBelow(folder, /\.ts$/).filter(([file]) => basename(file) !== basename(__filename));
    expect(files.length).toBeGreaterThan(5);
    expect(files.flatMap(hardWordsIn)).toEqual([]);
  });

  it('of the pages has plain words', () => {
    const pages = [...filesBelow('docs', /\.md$/), ...filesBelow('bench', /\.md$/)];
    for (const name of ['README.md', 'SECURITY.md', 'CHANGELOG.md', 'CONTRIBUTING.md'])
      pages.push([name, readFileSync(resolve(ROOT, name), 'utf8')]);
    expect(pages.length).toBeGreaterThan(40);
    expect(pages.flatMap(hardWordsOnPage)).toEqual([]);
  });

  it('is searched in comments of each form, in texts and on pages, but not in names', () => {
    const planted: Source = [
      'planted.ts',
      "// Nobody waits.\n/** The store is\n * under way. */\nconst told = 'Whoever asks';\nexport const tells = told;\n",
    ];
    expect(hardWordsIn(planted)).toEqual(['planted.ts: Nobody', 'planted.ts: under way', 'planted.ts: Whoever']);
    expect(hardWordsOnPage(['page.md', 'The store tells it.\n`told`\n'])).toEqual(['page.md: tells']);
  });
});
