import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ts from 'typescript';

const ROOT = join(__dirname, '..');
const SOURCE = join(ROOT, 'libs/auth/src/foundation/config/auth-options.ts');
const TARGET = join(ROOT, 'docs/options.md');

const HEAD = `# Options

Generated from \`libs/auth/src/foundation/config/auth-options.ts\`: \`npm run docs\`. Host values are merged over the defaults: objects
recurse, lists and scalars replace. Extra guards read \`SVC_{GUARD}_*\` through \`authOptionsFromEnv(process.env, guard)\`.
`;

interface Row {
  option: string;
  fallback: string;
  variable: string;
  meaning: string;
}

/** The options table, read from the documented interfaces. */
export function optionsPage(): string {
  const file = ts.createSourceFile(SOURCE, readFileSync(SOURCE, 'utf8'), ts.ScriptTarget.Latest, true);
  const interfaces = new Map(file.statements.filter(ts.isInterfaceDeclaration).map((node) => [node.name.text, node]));
  const rows = ['AuthStructure', 'GuardStructure', 'AuthValues', 'SharedValues'].flatMap((name) =>
    rowsOf(interfaces, name, ''),
  );
  const lines = rows.map(
    ({ option, fallback, variable, meaning }) => `| ${option} | ${fallback} | ${variable} | ${meaning} |`,
  );
  return `${HEAD}\n| Option | Default | Variable | Meaning |\n| --- | --- | --- | --- |\n${lines.join('\n')}\n`;
}

function rowsOf(interfaces: Map<string, ts.InterfaceDeclaration>, name: string, prefix: string): Row[] {
  const node = interfaces.get(name)!;
  const inherited = (node.heritageClauses ?? []).flatMap(({ types }) =>
    types.map(({ expression }) => expression.getText()),
  );
  const own = node.members.filter(ts.isPropertySignature).flatMap((member) => {
    const [type, option] = [member.type!.getText(), prefix + member.name.getText()];
    const row = rowOf(member, option);
    return interfaces.has(type) ? [row, ...rowsOf(interfaces, type, `${option}.`)] : [row];
  });
  // The top level lists structure and values itself; blocks bring along what they extend.
  return prefix ? [...own, ...inherited.flatMap((base) => rowsOf(interfaces, base, prefix))] : own;
}

function rowOf(member: ts.PropertySignature, option: string): Row {
  const doc = ts.getJSDocCommentsAndTags(member).find(ts.isJSDoc);
  const tag = (name: string): string =>
    plain(ts.getTextOfJSDocComment(doc?.tags?.find(({ tagName }) => tagName.text === name)?.comment) ?? '');
  const variables = tag('env').replace(/SVC_[A-Z0-9_]+/g, '`$&`');
  const fallback = tag('default');
  return {
    option: `\`${option}\``,
    fallback: /^['[{\d]|^(true|false|null)$/.test(fallback) ? `\`${fallback}\`` : fallback,
    variable: variables,
    meaning: plain(ts.getTextOfJSDocComment(doc?.comment) ?? '').replace(/\{@link (\w+)\}/g, '`$1`'),
  };
}

const plain = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();

if (require.main === module) writeFileSync(TARGET, optionsPage());
