import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ts from 'typescript';

const ROOT = join(__dirname, '..');
const SOURCE = join(ROOT, 'libs/auth/src');
const MAIN = 'foundation/config/auth-options.ts';
const TARGET = join(ROOT, 'docs/options.md');

/** The interfaces of the options of a host. {@link GROUPS} sorts their members. */
const INTERFACES = ['AuthStructure', 'GuardStructure', 'AuthValues', 'SharedValues'];

/** The groups of the page. An entry is an option; an entry that is a block includes all options of the block. */
const GROUPS: readonly (readonly [title: string, ...options: string[]])[] = [
  [
    'Module and guards',
    'guard',
    'guards',
    'path',
    'presenter',
    'domain',
    'routes',
    'verifyOnly',
    'dataSource',
    'pool',
    'imports',
    'features',
    'hooks',
    'requestOf',
  ],
  ['Users', 'users', 'username', 'appName'],
  [
    'Tokens and keys',
    'algorithm',
    'secret',
    'previousSecrets',
    'keys',
    'encryption',
    'issuer',
    'audience',
    'accessTtl',
    'leeway',
    'tokenIds',
    'hooks.tokenClaims',
  ],
  [
    'Sessions and revocation',
    'features.rotation',
    'features.reuseDetection',
    'features.denylist',
    'features.logoutAll',
    'refreshTtl',
    'graceSeconds',
    'forkThreshold',
    'sessions',
  ],
  ['Cookies', 'cookieMode', 'refreshTokenFrom', 'cookie'],
  ['Login and lockout', 'features.lockout', 'lockout', 'hooks.authenticate'],
  ['Throttling', 'rateLimits', 'hooks.rateLimitKey'],
  ['Abilities', 'features.abilities', 'features.gateAuthRoutes', 'hooks.abilities'],
  ['Two-factor', 'features.twoFactor', 'twoFactor'],
  ['Passkeys', 'features.passkeys', 'features.conditionalCreate', 'passkeys'],
  ['Step-up', 'confirm'],
  ['Passwords and hashing', 'features.changePassword', 'passwords', 'hashing'],
  ['Password reset', 'features.passwordReset', 'passwordReset'],
  ['Sign-in with a mailed code', 'features.emailCode', 'emailCode'],
  ['Sign-in with a provider', 'features.identities', 'identities'],
  ['Access keys', 'features.accessKeys', 'features.accessKeyScanning', 'accessKeys'],
  ['Bound sessions', 'features.boundSessions', 'features.deviceBoundCookies', 'boundSessions'],
  ['Operators', 'features.operators', 'operators'],
  ['History', 'features.audit', 'audit'],
  ['Security events', 'features.securityEventTokens', 'securityEvents'],
  [
    'Registration',
    'features.registration',
    'features.passkeyRegistration',
    'registration',
    'hooks.register',
    'hooks.registerRules',
  ],
  ['Known devices', 'features.knownDevices', 'knownDevices'],
  ['Email verification', 'features.emailVerification', 'features.verificationByAddress', 'emailVerification'],
  ['Change of email and username', 'features.emailChange', 'emailChange', 'features.usernameChange'],
  ['Account', 'features.accountDeletion', 'hooks.deleteUser'],
  ['Mail and messages', 'mail', 'languages', 'messages'],
  [
    'Stores and timeouts',
    'redis',
    'cache',
    'stores',
    'denylistStore',
    'keyPrefix',
    'storeTimeoutMs',
    'preparedStatements',
    'retention',
  ],
  ['Observability', 'securityLog'],
];

const anchor = (title: string): string => title.toLowerCase().replaceAll(' ', '-');

const HEAD = `# Options

What you can configure: every option of \`AuthModule.forRoot()\` with its type, its default, its environment variable and
its meaning. The tables are grouped by what the options are for.

## How options are read

Your options replace the defaults. In an object, each member is replaced separately; a list is replaced as a whole. An option
without a default is optional, unless its meaning says that it is required.

\`authOptionsFromEnv(process.env)\` reads the environment variables. \`authOptionsFromEnv(process.env, guard)\` reads the
variables of an extra guard, \`SVC_{GUARD}_*\`. A variable that is empty or contains only spaces counts as not set.

| Type     | Value of a variable, or an option that is given as text, for example by \`ConfigService\`                                            |
| -------- | ------------------------------------------------------------------------------------------------------------------------------------ |
| boolean  | \`true\`, \`1\`, \`on\` or \`yes\`; \`false\`, \`0\`, \`off\` or \`no\`. Capital letters make no difference                                      |
| Duration | a whole number in the unit of its option, or one with a unit: \`90s\`, \`15m\`, \`12h\`, \`7d\`. The type accepts these texts in code, too |

The application does not start with an unknown option, with a number out of its range, or with a value that is not a boolean.
The error names the option, the variable and the range, and suggests the nearest known name. A variable \`SVC_*\` that
is not known is logged.

## All options

Each table shows the first sentences of a meaning. If there are more, they are in the list below the table.

${GROUPS.map(([title]) => `- [${title}](#${anchor(title)})`).join('\n')}
`;

const TAIL = `---

This page is generated from \`libs/auth/src/foundation/config/auth-options.ts\` and the files \`*.options.ts\` that it imports:
\`npm run docs\`.
`;

interface Row {
  option: string;
  type: string;
  fallback: string;
  variable: string;
  meaning: string;
}

/** The number of sentences of a meaning in the table. */
const SENTENCES = 2;

/** A shorter rest is also in the table. */
const SHORT_REST = 60;

/** The members and the bases of an interface, from all its declarations. */
interface Declared {
  readonly members: readonly ts.PropertySignature[];
  readonly bases: readonly string[];
}

type Interfaces = ReadonlyMap<string, Declared>;

/** The statements of the documented interfaces, also those with which a feature adds members to an interface of the core. */
function documented(): ts.Statement[] {
  const features = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(?:options|feature)\.ts$/.test(file),
  );
  return [MAIN, ...features.toSorted()].flatMap((file) => {
    const text = readFileSync(join(SOURCE, file), 'utf8');
    const { statements } = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    return statements.flatMap((node) =>
      ts.isModuleDeclaration(node) && node.body && ts.isModuleBlock(node.body) ? [...node.body.statements] : [node],
    );
  });
}

function interfacesIn(statements: readonly ts.Statement[]): Interfaces {
  const declared = new Map<string, Declared>();
  for (const node of statements.filter(ts.isInterfaceDeclaration)) {
    const { members, bases } = declared.get(node.name.text) ?? { members: [], bases: [] };
    const inherited = (node.heritageClauses ?? []).flatMap(({ types }) =>
      types.map(({ expression }) => nameOf(expression)),
    );
    declared.set(node.name.text, {
      members: [...members, ...node.members.filter(ts.isPropertySignature)],
      bases: [...bases, ...inherited],
    });
  }
  return declared;
}

/** The tables of options, read from the documented interfaces. */
export function optionsPage(): string {
  const statements = documented();
  const interfaces = interfacesIn(statements);
  const aliases = new Map(statements.filter(ts.isTypeAliasDeclaration).map(({ name, type }) => [name.text, type]));
  const rows = INTERFACES.flatMap((name) => rowsOf(interfaces, name, '')).map((row) => ({
    ...row,
    type: isChoice(aliases.get(row.type)) ? aliases.get(row.type)!.getText() : row.type,
  }));
  const unknown = GROUPS.flatMap(([, ...options]) => options).filter(
    (name) => !rows.some(({ option }) => option === name),
  );
  if (unknown.length)
    throw new Error(`The groups of docs/generate-options.ts name unknown options: ${unknown.join(', ')}.`);
  return [HEAD, ...GROUPS.map(([title, ...order]) => section(title, order, rows)), TAIL].join('\n');
}

/** The group with the most exact entry: `features.lockout` before `features`. */
function groupOf(option: string): string {
  const parts = option.split('.');
  for (let length = parts.length; length > 0; length--) {
    const name = parts.slice(0, length).join('.');
    const group = GROUPS.find(([, ...options]) => options.includes(name));
    if (group) return group[0];
  }
  throw new Error(`${option} is in no group of docs/generate-options.ts.`);
}

function section(title: string, order: readonly string[], rows: readonly Row[]): string {
  const entryOf = ({ option }: Row): number => order.findIndex((entry) => `${option}.`.startsWith(`${entry}.`));
  const own = rows.filter(({ option }) => groupOf(option) === title);
  const sorted = own.toSorted((a, b) => entryOf(a) - entryOf(b));
  const table = sorted.map(({ option, type, fallback, variable, meaning }) =>
    cells(`\`${option}\``, `\`${type}\``, fallback, variable, split(meaning)[0]),
  );
  const notes = sorted
    .map(({ option, meaning }) => [option, split(meaning)[1]] as const)
    .filter(([, rest]) => rest)
    .map(([option, rest]) => `- \`${option}\`: ${rest}`);
  const head = [cells('Option', 'Type', 'Default', 'Variable', 'Meaning'), cells('---', '---', '---', '---', '---')];
  return [`## ${title}`, '', ...head, ...table, ...(notes.length ? ['', ...notes] : []), ''].join('\n');
}

const cells = (...texts: string[]): string => `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;

/** The part of a meaning for the table, and the rest for the notes. A sentence begins with a capital, a digit or code. */
function split(meaning: string): [inTable: string, rest: string] {
  const sentences = meaning.split(/(?<=\.\)?) (?=[A-Z\d`])/);
  const rest = sentences.slice(SENTENCES).join(' ');
  return rest.length < SHORT_REST ? [meaning, ''] : [sentences.slice(0, SENTENCES).join(' '), rest];
}

function rowsOf(interfaces: Interfaces, name: string, prefix: string, parent?: Row): Row[] {
  const { members, bases } = interfaces.get(name)!;
  const own = members.flatMap((member) => {
    const [type, option] = [nameOf(member.type!), prefix + member.name.getText()];
    const row = rowOf(member, option, interfaces.has(type), parent);
    return interfaces.has(type) ? [withoutValues(row), ...rowsOf(interfaces, type, `${option}.`, row)] : [row];
  });
  // `INTERFACES` has all of the top level; a block also has the members of the interfaces that it extends.
  return prefix ? [...own, ...bases.flatMap((base) => rowsOf(interfaces, base, prefix, parent))] : own;
}

/** The row of a block: its members have the defaults and variables. */
const withoutValues = (row: Row): Row => ({ ...row, fallback: '', variable: '' });

function rowOf(member: ts.PropertySignature, option: string, isBlock: boolean, parent?: Row): Row {
  const doc = ts.getJSDocCommentsAndTags(member).find(ts.isJSDoc);
  const tag = (name: string): string =>
    plain(ts.getTextOfJSDocComment(doc?.tags?.find(({ tagName }) => tagName.text === name)?.comment) ?? '');
  const name = member.name.getText();
  const fallback = tag('default') || memberOf(parent?.fallback ?? '', name);
  return {
    option,
    type: isBlock ? 'object' : typeOf(member.type!),
    fallback: /^['[{\d]|^(true|false|null)$/.test(fallback) ? `\`${fallback}\`` : fallback,
    variable: tag('env').replace(/SVC_[A-Z0-9_]+/g, '`$&`') || variableOf(parent?.variable ?? '', name),
    meaning: plain(ts.getTextOfJSDocComment(doc?.comment) ?? '').replace(/\{@link (\w+)\}/g, '`$1`'),
  };
}

/** The value of a member in the default of its block: of `maxAttempts` in `{ maxAttempts: 5, decaySeconds: 60 }`, 5. */
const memberOf = (block: string, name: string): string =>
  new RegExp(`\\b${name}: ([^,}]+?) ?[,}]`).exec(block)?.[1] ?? '';

/** The variable of a member among those of its block: of `maxAttempts`, the one that ends in `_MAX_ATTEMPTS`. */
const variableOf = (block: string, name: string): string => {
  const ending = { maxAttempts: 'MAX_ATTEMPTS', decaySeconds: 'DECAY' }[name];
  return ending ? (new RegExp(`\`SVC_[A-Z0-9_]+_${ending}\``).exec(block)?.[0] ?? '') : '';
};

/** Whether a type is a union of literals. */
const isChoice = (type: ts.TypeNode | undefined): boolean =>
  type !== undefined && ts.isUnionTypeNode(type) && type.types.every(ts.isLiteralTypeNode);

/** The type without the parameters of functions. */
function typeOf(node: ts.TypeNode): string {
  if (ts.isFunctionTypeNode(node)) return 'function';
  if (ts.isParenthesizedTypeNode(node)) return typeOf(node.type);
  if (ts.isUnionTypeNode(node)) return node.types.map(typeOf).join(' | ');
  return plain(nameOf(node));
}

/** The text of a type, without the names of groups of the kit: `option.RateLimit` is `RateLimit`. */
const nameOf = (node: ts.Node): string => node.getText().replaceAll(/\b[a-z]+\.(?=[A-Z])/g, '');

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();

if (require.main === module) writeFileSync(TARGET, optionsPage());
