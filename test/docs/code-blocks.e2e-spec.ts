import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import * as ts from 'typescript';
import { createDatabase } from '../support/stores/database';
import {
  type Block,
  PAGES,
  ROOT,
  SHOWN,
  SHOWN_IN_TABS,
  FOLDERS_OF_TABS,
  blocksOf,
  codeAt,
  hunksOf,
  routesIn,
} from './blocks';
import { judgeVariable, mistakesOf as mistakesOfShell } from './shell';
import { consoleCommands } from './console-commands';
import { sampleRoutes } from './known-names';
import { mistakesOf as mistakesOfTypeScript } from './typescript';

const BROKEN = blocksOf(
  'broken.md',
  `
\`\`\`ts
const tokens = await auth.startSession(user.id, {}, { abilities: [] });
\`\`\`

\`\`\`ts
AuthModule.forRoot({ features: { passkey: true } });
\`\`\`

\`\`\`ts
@Get() @ConfirmationRequiredFirst() list() {}
\`\`\`

\`\`\`ts
// src/incomplete.ts
export const list: Caller[] = [];
\`\`\`

\`\`\`ts
// src/unnamed.ts
import type { Caller } from '@svc/auth';
export const claimsOf = (caller: Caller) => caller.claims;
\`\`\`

\`\`\`js
const { access_token = await (await fetch('/auth/refresh')).json();
\`\`\`

\`\`\`html
<p>Hello</p>
<script type="module">
  const token = ;
</script>
\`\`\`

\`\`\`json
{ "message": "…", }
\`\`\`

\`\`\`sh
npm run bake
npm run console -- svc:prune --lockout-weeks=7
svc:purge
curl -s localhost:3000/auth/signin -d email=ada@example.com
curl -s -X PUT localhost:3000/auth/login
curl -s https://example.com/auth/login
export SVC_SECERT=0123
make install
\`\`\`

\`\`\`env
SVC_AKTIVE_KID=k1
\`\`\`

\`\`\`sql
SELECT no_such_column FROM users;
\`\`\`

\`\`\`http
Bearer error="insufficient_scope"
\`\`\`

\`\`\`mermaid
stateDiagram
  live -> ended
\`\`\`

\`\`\`mermaid
sequenceDiagram
  participant P as Page
  P->S: POST /login
  Q->>P: 200
\`\`\`

\`\`\`mermaid
sequenceDiagram
  participant P as Page
  alt no answer
    P-->>P: waits
\`\`\`

\`\`\`prisma
model User {
  id String
}
\`\`\`

\`\`\`tsx
// src/app/page.tsx
export default () => <h1>Hello</h1>;
\`\`\`

\`\`\`svelte
<!-- src/routes/+page.svelte -->
<h1>Hello</h1>
\`\`\`

\`\`\`diff
-@UseGuards(GqlAuthGuard)
+@AuthenticatedFirst()
\`\`\`
`,
);

/** The tables of other applications, for the statements that import users and linked accounts. */
const FORMER_TABLES = `CREATE TABLE users (id serial PRIMARY KEY, email text NOT NULL, password text NOT NULL,
  password_hash text, two_factor_recovery_codes text, google_id text);
  CREATE TABLE account ("userId" text, "providerId" text, "accountId" text, "createdAt" timestamptz);
  CREATE TABLE accounts ("userId" uuid, type text, provider text, "providerAccountId" text);
  CREATE TABLE federated_credentials (user_id int, provider text, subject text);
  CREATE TABLE "User" (id text PRIMARY KEY, email text NOT NULL, password text NOT NULL)`;

const syntax = (place: string, text: string): string[] =>
  ts
    .transpileModule(text, {
      fileName: 'page.js',
      reportDiagnostics: true,
      compilerOptions: { allowJs: true, module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ESNext },
    })
    .diagnostics!.map(({ messageText }) => `${place}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);

const scripts = (html: string): string[] =>
  [...html.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(([, text]) => text!);

const attempt = (place: string, act: () => unknown): string[] => {
  try {
    act();
    return [];
  } catch (error) {
    return [`${place}: ${(error as Error).message}`];
  }
};

const HTTP_LINE = /^(?:HTTP\/1\.1 \d{3}.*|(?:GET|POST|PATCH|DELETE) \/\S* HTTP\/1\.1|[\w-]+: .+)$/;

/** A transition of a state diagram of Mermaid, or the name of a state. */
const DIAGRAM_LINE = /^ *(?:(?:\[\*\]|\w+) --> (?:\[\*\]|\w+)(?: : [^:;]+)?|state "[^"]+" as \w+|direction (?:LR|TB))$/;

/** A message of a sequence diagram of Mermaid, with its two participants. */
const MESSAGE_LINE = /^ *(\w+)--?>>(\w+): [^;]+$/;

/** The lines that are no part of a sequence diagram of Mermaid, and the parts without an end. */
function mistakesOfSequence(lines: readonly string[]): string[] {
  const known = new Set<string>();
  let open = 0;
  const wrong = lines.filter((line) => {
    const [, participant] = /^ *participant (\w+) as [^:;]+$/.exec(line) ?? [];
    if (participant) return !known.add(participant);
    const [, part] = /^ *(alt|else|end)\b/.exec(line) ?? [];
    if (part) return part === 'alt' ? ++open === 0 : part === 'end' ? --open < 0 : open === 0;
    const [, from, to] = MESSAGE_LINE.exec(line) ?? [];
    return !known.has(from!) || !known.has(to!);
  });
  return [
    ...wrong.map((line) => `not a line of a sequence diagram: ${line}`),
    ...(open > 0 ? ['a part has no end'] : []),
  ];
}

/** The scripts of an example; none for a file. */
function scriptsOf(example = ''): string[] {
  if (!example.startsWith('examples/') || example.endsWith('.ts')) return [];
  const { scripts: own } = JSON.parse(readFileSync(join(ROOT, example, 'package.json'), 'utf8')) as { scripts: object };
  return Object.keys(own);
}

async function mistakesOfSql(blocks: readonly Block[]): Promise<string[]> {
  const database = await createDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(FORMER_TABLES);
  const mistakes: string[] = [];
  for (const page of new Set(blocks.map((block) => block.page))) {
    // Later steps of a page see the effects of earlier ones. Other pages do not.
    await client.query('BEGIN');
    for (const { place, text } of blocks.filter((block) => block.page === page))
      await client.query(text).catch((error: Error) => mistakes.push(`${place}: ${error.message}`));
    await client.query('ROLLBACK');
  }
  await client.end();
  await database.drop();
  return mistakes;
}

/** A component is the whole file that its first line names, of the example that the page shows. */
const mistakesOfComponents = (components: readonly Block[]): string[] =>
  components.flatMap(({ place, page, text, tab }) => {
    const [label, file] = /^(?:\/\/|<!--) (\S+)(?: -->)?\n/.exec(text) ?? ['', ''];
    return attempt(place, () => {
      const code = readFileSync(
        join(ROOT, SHOWN.get(page) ?? 'examples/nextjs', FOLDERS_OF_TABS.get(tab) ?? '', file!),
        'utf8',
      );
      if (code !== text.slice(label.length)) throw new Error(`not ${file} of the example`);
    });
  });

const blocks = PAGES.flatMap((page) => blocksOf(page)).filter(
  ({ page, language, tab }) => !(language === 'ts' && (SHOWN.has(page) || SHOWN_IN_TABS.has(tab))),
);

/** The checks of each language, applied to the documentation and to intentionally broken blocks. */
const CHECKS: Record<string, (checked: readonly Block[]) => string[] | Promise<string[]>> = {
  ts: mistakesOfTypeScript,
  js: (checked) => checked.flatMap(({ place, text }) => syntax(place, text)),
  html: (checked) => checked.flatMap(({ place, text }) => scripts(text).flatMap((script) => syntax(place, script))),
  json: (checked) => checked.flatMap(({ place, text }) => attempt(place, () => JSON.parse(text))),
  sh: async (checked) => {
    const around = { routes: await sampleRoutes(), console: consoleCommands() };
    return checked.flatMap((block) => {
      const ownRoutes = routesIn(blocks.filter(({ page }) => page === block.page));
      return mistakesOfShell(block, { ...around, ownRoutes, ownScripts: scriptsOf(SHOWN.get(block.page)) });
    });
  },
  env: (checked) =>
    checked.flatMap(({ place, text }) =>
      text
        .trim()
        .split('\n')
        .flatMap((line) => (judgeVariable(line) ? [`${place}: ${judgeVariable(line)}: ${line}`] : [])),
    ),
  sql: mistakesOfSql,
  http: (checked) =>
    checked.flatMap(({ place, text }) =>
      text
        .trim()
        .split('\n')
        .flatMap((line) => (HTTP_LINE.test(line) ? [] : [`${place}: not a line of HTTP: ${line}`])),
    ),
  mermaid: (checked) =>
    checked.flatMap(({ place, text }) => {
      const [kind, ...lines] = text.trim().split('\n');
      if (kind === 'sequenceDiagram') return mistakesOfSequence(lines).map((mistake) => `${place}: ${mistake}`);
      const wrong = lines.filter((line) => !DIAGRAM_LINE.test(line));
      return [...(kind === 'stateDiagram-v2' ? [] : [kind]), ...wrong].map(
        (line) => `${place}: not a line of a state diagram: ${line}`,
      );
    }),
  prisma: (checked) =>
    checked.flatMap(({ place, text }) =>
      codeAt('examples/prisma').includes(text.replace('// prisma/schema.prisma\n', ''))
        ? []
        : [`${place}: not in the example`],
    ),
  tsx: mistakesOfComponents,
  svelte: mistakesOfComponents,
  // The lines after the change are those of the example that the page shows.
  diff: (checked) =>
    checked.flatMap((block) => {
      const { file, hunks } = hunksOf(block);
      const example = SHOWN.get(block.page) ?? 'examples/minimal';
      const code = file ? readFileSync(join(ROOT, example, file), 'utf8') : codeAt(example);
      return hunks.every(({ after }) => code.includes(after)) ? [] : [`${block.place}: not in the example`];
    }),
};

/** The number of mistakes in the broken blocks of each language. */
const ON_PURPOSE: Record<string, number> = {
  ts: 5,
  js: 1,
  html: 1,
  json: 1,
  sh: 8,
  env: 1,
  sql: 1,
  http: 1,
  mermaid: 5,
  prisma: 1,
  tsx: 1,
  svelte: 1,
  diff: 1,
};

describe('the code blocks of README and docs', () => {
  it('all have a language that is checked', () => {
    const unknown = blocks.filter(({ language }) => !(language in CHECKS)).map(({ place }) => place);
    expect(unknown).toEqual([]);
    expect(blocks.length).toBeGreaterThan(50);
  });

  it.each(Object.keys(CHECKS))(
    'are valid in %s, and a broken block is found',
    async (language) => {
      const of = (some: readonly Block[]): Block[] => some.filter((block) => block.language === language);
      const found = await CHECKS[language]!([...of(blocks), ...of(BROKEN)]);
      const [broken, mistakes] = [[] as string[], [] as string[]];
      for (const mistake of found) (mistake.startsWith('broken.md') ? broken : mistakes).push(mistake);
      expect(mistakes).toEqual([]);
      const places = new Set(of(BROKEN).map(({ place }) => place));
      expect(new Set(broken.map((mistake) => mistake.split(': ')[0]))).toEqual(places);
      expect(broken.length).toBeGreaterThanOrEqual(ON_PURPOSE[language]!);
    },
    120_000,
  );
});
