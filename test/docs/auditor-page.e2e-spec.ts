import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ts from 'typescript';
import { ROOT } from './blocks';

const QUESTIONS = [
  'Is this token accepted?',
  'Is this a replay?',
  'Is this denied?',
  'Is this account locked?',
  'Does this sign-in start a session?',
  'Has the user signed in with a second factor?',
  'In which order are the gates passed?',
];

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

/** The names that a file exports, and the methods of its exported classes as `Class.method`. */
function exportsOf(text: string): Set<string> {
  const { statements } = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);
  return new Set(
    statements.filter(isExported).flatMap((node): string[] => {
      if (ts.isVariableStatement(node)) return node.declarationList.declarations.map(({ name }) => name.getText());
      if (ts.isFunctionDeclaration(node)) return [node.name!.text];
      if (!ts.isClassDeclaration(node)) return [];
      const methods = node.members.filter(ts.isMethodDeclaration);
      return [node.name!.text, ...methods.map(({ name }) => `${node.name!.text}.${name.getText()}`)];
    }),
  );
}

/** The titles of the tests and groups of a spec file, as written in the source. */
function titlesOf(text: string): Set<string> {
  const titles = new Set<string>();
  const visit = (node: ts.Node): void => {
    const [title] = ts.isCallExpression(node) ? node.arguments : [];
    if (title && ts.isStringLiteralLike(title)) titles.add(title.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('spec.ts', text, ts.ScriptTarget.Latest, true));
  return titles;
}

/** The section of each question, by its heading. */
function sections(page: string): Map<string, string> {
  const part = page.split('\n## ').find((one) => one.startsWith('For auditors')) ?? '';
  return new Map(
    part
      .split('\n### ')
      .slice(1)
      .map((one) => [one.split('\n')[0]!, one]),
  );
}

/** What a section names that does not exist: a file, an exported name in it, or a test title in it. */
function missingIn(section: string): string[] {
  return [...section.matchAll(/\[(`([\w.]+)`|"([^"]+)")\]\(([^)]+)\)/g)].flatMap(([, , name, title, file]) => {
    if (!existsSync(join(ROOT, file!))) return [`${file}: no such file`];
    const text = readFileSync(join(ROOT, file!), 'utf8');
    const isThere = name ? exportsOf(text).has(name) : titlesOf(text).has(title!);
    return isThere ? [] : [`${file}: no ${name ?? title}`];
  });
}

/** The row of a section's table. */
const rowOf = (section: string, head: string): string =>
  new RegExp(`^\\| ${head} +\\|(.*)`, 'm').exec(section)?.[1] ?? '';

describe('the section for auditors', () => {
  const page = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');

  it('is the first one of its page and has seven questions', () => {
    expect(/^## (.*)$/m.exec(page)?.[1]).toBe('For auditors: seven questions');
    expect([...sections(page).keys()]).toEqual(QUESTIONS);
  });

  it.each(QUESTIONS)('names for "%s" a rule, a statement and a test that exist', (question) => {
    const section = sections(page).get(question) ?? '';
    expect(rowOf(section, 'Rule')).toMatch(/\[`\w+`\]\(libs\/\S+(policy|route-plan)\.ts\)/);
    expect(rowOf(section, 'Statement')).toMatch(/\[`[\w.]+`\]\(libs\/\S+\.ts\)/);
    expect(rowOf(section, 'Test')).toMatch(/\["[^"]+"\]\(\S+spec\.ts\)/);
    expect(missingIn(section)).toEqual([]);
  });

  it('is checked for names: every kind of planted error is found', () => {
    const planted = [
      '[`refreshVerdict`](libs/auth/src/features/sessions/rotation.policy.ts)',
      '[`jugde`](libs/auth/src/features/sessions/rotation.policy.ts)',
      '[`RefreshRotation.turn`](libs/auth/src/features/sessions/refresh-rotation.ts)',
      '[`refreshVerdict`](libs/auth/src/features/sessions/rotation.rule.ts)',
      '["no such title"](test/gates/route-gates.e2e-spec.ts)',
    ].join(' ');
    expect(missingIn(planted)).toEqual([
      'libs/auth/src/features/sessions/rotation.policy.ts: no jugde',
      'libs/auth/src/features/sessions/refresh-rotation.ts: no RefreshRotation.turn',
      'libs/auth/src/features/sessions/rotation.rule.ts: no such file',
      'test/gates/route-gates.e2e-spec.ts: no no such title',
    ]);
  });
});
