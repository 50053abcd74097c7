import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as surface from '@svc/auth';
import { Auth, authEntities, authOptionsFromEnv } from '@svc/auth';
import { DataSource } from 'typeorm';
import * as ts from 'typescript';
import { type Described, describedWith } from '../../../docs/generate-routes';
import { optionsPage } from '../../../docs/generate-options';
import { FEATURES } from './features';
import { DEFAULTS, DEFAULT_FEATURES, resolveOptions } from './foundation/config/options.testkit';
import { Realms, type RealmScope } from './foundation/realm/realm';
import { AccessTokens } from './identity/tokens/access-tokens';
import { flawOf, flawOfScope } from './request/abilities/ability.policy';
import { Texts } from './foundation/languages/texts';
import { LOCK_PURPOSES, loginLock, userLock } from './request/lockout/lockout.store';
import { ROOT } from '../../../test/docs/blocks';
import { consoleCommands } from '../../../test/docs/console-commands';
import * as specification from '../../../test/docs/specification';
import { APP_NAME, NOT_STATED } from '../../../test/docs/specification';
import { ResetFailed } from './features/password-reset/password-reset';
import { EmailUnverified } from './features/email-verification/require-verified-email';
import { WrongCredentials } from './features/login/login';
import { ConfirmationRequired } from './features/step-up/step-up.errors';
import { AlreadyEnrolled } from './features/two-factor/two-factor.errors';
import { InsufficientScope } from './request/abilities/ability.gate';
import { AccountIsLocked } from './request/lockout/lockout';
import { TooManyFailures, TooManyRequests } from './request/throttling/throttling.errors';

const exported = new Map<string, unknown>(Object.entries(surface));
const page = readFileSync(join(ROOT, 'docs/specification.md'), 'utf8');

const cellsOf = (line: string): string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

const inCamelCase = (key: string): string => key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The rows of the tables of a section, without their heads, and a row for each key that has the same name in camelCase here. */
const rowsOf = (title: string): string[][] => {
  const section = page.split(`\n### ${title}\n`)[1]?.split(/\n##/)[0] ?? '';
  const [, ofSameName = ''] = /^In camelCase: ([^]*?)\n(?:\n|$)/m.exec(`${section}\n\n`) ?? [];
  return [
    ...section
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .slice(2)
      .map(cellsOf),
    ...[...ofSameName.matchAll(/`([^`]+)`/g)].map(([, key]) => [`\`${key}\``, `\`${inCamelCase(key!)}\``]),
  ];
};

/** The names in a cell. */
const namesIn = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
const plain = (cell = ''): string => cell.replaceAll('`', '');
/** The entries of a cell. */
const itemsIn = (cell = ''): string[] => (cell === '–' ? [] : plain(cell).split(', '));

/** The rows of a section by the key in their first cell. */
const section = (title: string): Map<string, string[]> =>
  new Map(rowsOf(title).map(([key, ...cells]) => [plain(key), cells]));

/** The text of the page that the last cell of a row links to. */
const linkedFrom = (cells: readonly string[]): string => {
  const file = /\]\(([\w/-]+\.md)/.exec(cells.at(-1)!)?.[1] ?? 'specification.md';
  return readFileSync(join(ROOT, 'docs', file), 'utf8');
};

/** Names that the linked page does not contain, of rows that have them in their second cell. */
const notFound = (title: string): string[] =>
  rowsOf(title).flatMap(([, ...cells]) =>
    namesIn(cells[0]).filter((name) => !linkedFrom(cells).includes(name.replace(/\(.*\)$/, ''))),
  );

const differences = [...page.matchAll(/^### (Differences .*)$/gm)].flatMap(([, title]) => rowsOf(title!));

const valueAt = (options: object, path: string): unknown =>
  path.split('.').reduce((value: unknown, name) => (value as Record<string, unknown> | undefined)?.[name], options);

/** The properties of an interface or class of the library. */
function membersOf(type: string): string[] {
  const folder = join(ROOT, 'libs/auth/src');
  const declares = new RegExp(`(interface|class) ${type} `);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('spec.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .filter((text) => declares.test(text))
    .flatMap((text) => [...ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true).statements])
    .filter((node) => ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node))
    .filter(({ name }) => name?.text === type)
    .flatMap(({ members }) => [
      ...[...members].flatMap(({ name }) => name?.getText() ?? []),
      ...[...members]
        .filter(ts.isConstructorDeclaration)
        .flatMap(({ parameters }) => parameters.map(({ name }) => name.getText())),
    ]);
}

type Schema = Readonly<Record<string, unknown>>;

let routes: ReadonlyMap<string, Described>;
let schemas: Readonly<Record<string, Schema>>;
let tables: Readonly<Record<string, readonly string[]>>;
let realm: RealmScope;

beforeAll(async () => {
  const { all, document, app } = await describedWith(
    Object.keys(DEFAULT_FEATURES).filter((f) => f !== 'usernameChange' && f !== 'deviceBoundCookies'),
  );
  routes = new Map(all.map((one) => [`${one.route.method} ${one.route.path.replace('auth/', '/')}`, one]));
  schemas = document.components.schemas;
  const { entityMetadatas } = app.get(DataSource);
  tables = Object.fromEntries(
    entityMetadatas.map(({ target, tableName, columns }) => [
      authEntities.includes(target as never) ? tableName : 'the user table',
      columns.map(({ databaseName }) => databaseName),
    ]),
  );
  realm = app.get(Realms).default;
});

/** The names of the bodies of a schema, or its fields. */
const namesOf = ({ $ref, anyOf, properties }: Schema): string[] => {
  if (typeof $ref === 'string') return [$ref.split('/').at(-1)!];
  return anyOf ? (anyOf as Schema[]).flatMap(namesOf) : Object.keys((properties ?? {}) as object);
};
const fieldsOf = (name: string): string[] => (schemas[name] ? namesOf(schemas[name]) : [name]);

/** The fields of a body that the generated page of the routes has: also one of a mode that this application does not use. */
const generatedFields = (name: string): string[] => {
  const [, table = ''] = readFileSync(join(ROOT, 'docs/routes.md'), 'utf8').split(`\n### ${name}\n`);
  return [...table.split(/\n#/, 1)[0]!.matchAll(/^\| `(\w+)`/gm)].map(([, field]) => field!);
};
const schemaOf = ({ operation }: Described, status: string): Schema =>
  operation.responses[status]?.content?.['application/json'].schema ?? {};
const bodyOf = ({ operation }: Described): Schema => operation.requestBody?.content['application/json'].schema ?? {};

describe('the page of the original interface', () => {
  it.each<[string, readonly string[] | object]>([
    ['Features', Object.keys(specification.FEATURES).map((name) => `features.${name}`)],
    ['Options', specification.OPTIONS],
    ['Environment variables', specification.VARIABLES],
    ['Tables and columns', specification.COLUMNS],
    ['Claims', specification.CLAIMS],
    ['Cookies and headers', specification.COOKIES_AND_HEADERS],
    ['Routes', specification.ROUTES],
    ['Bodies and objects', specification.BODIES],
    ['Limiters', specification.LIMITERS],
    ['Locks', specification.LOCKS],
    ['Abilities', specification.ABILITIES],
    ['Events', specification.EVENTS],
    ['Console', specification.COMMANDS],
    ['Route middleware', specification.MIDDLEWARE],
    ['Code of the host', specification.HOST_CODE],
  ])('has each of its keys once: %s', (title, keys) => {
    const listed = rowsOf(title).map(([key]) => plain(key));
    expect(listed.toSorted()).toEqual((Array.isArray(keys) ? [...keys] : Object.keys(keys)).toSorted());
  });

  it('has each of its statuses with the number of its conditions', () => {
    const listed = rowsOf('Statuses').map(([status]) => status!);
    for (const [status, conditions] of Object.entries(specification.STATUSES))
      expect([status, listed.filter((one) => one === status).length]).toEqual([status, conditions]);
    expect(listed.length).toBe(Object.values(specification.STATUSES).reduce((a, b) => a + b));
  });

  it('gives the reason of each deliberate difference', () => {
    for (const named of specification.DIFFERENCES)
      expect([named, differences.filter((cells) => cells.join().includes(named)).length]).toEqual([named, 1]);
    expect(differences.length).toBe(specification.DIFFERENCES.length);
    for (const cells of differences) expect(cells.map((cell) => cell.length > 10)).toEqual([true, true, true]);
  });

  it.each(['Events', 'Route middleware', 'Code of the host'])(
    'links to the pages that describe the names: %s',
    (title) => expect(notFound(title)).toEqual([]),
  );
});

describe('the names on the page of the original interface', () => {
  const { guards, ...module } = resolveOptions({});
  const resolved = { ...DEFAULTS, ...module, ...guards[0]!, features: guards[0]!.features };
  const documented = new Map(
    optionsPage()
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map(cellsOf)
      .map(([option, , fallback, variable]) => [
        plain(option),
        { fallback: fallback!, variable: namesIn(variable)[0] },
      ]),
  );

  it.each([
    ...Object.entries(specification.OPTIONS),
    ...Object.entries(specification.FEATURES).map(([name, on]) => [`features.${name}`, on] as const),
  ])('are those of the option %s, its default and its variable', (key, stated) => {
    const title = key.startsWith('features.') ? 'Features' : 'Options';
    const option = plain(section(title).get(key)![0]);
    expect([...documented.keys()]).toContain(option);
    const { variable } = documented.get(option)!;
    const value = valueAt(resolved, option);
    if (stated === APP_NAME) expect(value).toBe(resolved.appName);
    else if (stated !== NOT_STATED) expect(value ?? null).toEqual(stated);
    if (!variable) return;
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : 'a-text';
    expect(valueAt(authOptionsFromEnv({ [variable]: text }), option)).toBeDefined();
  });

  it('are those of the deliberate differences', () => {
    const known = new Set<string>([
      ...documented.keys(),
      ...Object.keys(surface),
      ...Object.keys(tables),
      ...FEATURES.flatMap(({ limits }) => Object.keys(limits ?? {})),
      ...Object.keys(new Texts(FEATURES).in('en').messages),
      ...routes.keys(),
      ...specification.CLAIMS,
      ...['TokenAbilityDenied', 'LoginChallenge', 'AccessClaims'].flatMap(membersOf),
      ...[...routes.values()].flatMap(({ needs }) => namesIn(needs)),
      ...Object.getOwnPropertyNames(Auth.prototype).map((name) => `auth.${name}`),
    ]);
    const names = differences
      .flatMap(([, ...cells]) => namesIn(cells.join()))
      .map((name) => name.replace(/^@|\(.*\)$/g, ''));
    expect(
      names.filter((name) => !known.has(name.replace('()', '')) && !specification.NAMES_OF_OTHERS.includes(name)),
    ).toEqual([]);
  });

  it('are those of the variables', () => {
    for (const [variable, [option]] of section('Environment variables'))
      expect(documented.get(plain(option))?.variable).toBe(variable);
  });

  it('are those of the tables and columns', () => {
    for (const [key, [here = '']] of section('Tables and columns')) {
      const [table, column] = here.includes('user table')
        ? ['the user table', namesIn(here)[0]]
        : plain(here).split('.');
      expect([key, Object.keys(tables)]).toEqual([key, expect.arrayContaining([table])]);
      if (column) expect(tables[table!]).toContain(column);
    }
  });

  it('are those of the claims', () => {
    const standing = { familyId: 'f', amr: ['pwd', 'otp'], authTime: 1, custom: {}, scope: 'a', pinned: true };
    const token = realm.get(AccessTokens).mint({ userId: '7', ...standing });
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as object;
    for (const [, [here]] of section('Claims')) expect(claims).toHaveProperty(plain(here));
  });

  it('are those of the cookies and headers', () => {
    const rows = section('Cookies and headers');
    const named = (key: string): string[] => namesIn(rows.get(key)![0]);
    expect(named('__Host-refresh')).toEqual([resolved.cookie.refreshName, 'cookie.refreshName']);
    const { cookie } = resolveOptions({ cookie: { secure: false } }).guards[0]!;
    expect(named('the cookie without cookie.secure')).toEqual([cookie.refreshName]);
    expect(named('X-Svc-Confirmation')).toEqual([resolved.confirm.header, 'confirm.header']);
    const [header, ...parts] = named('WWW-Authenticate of a missing ability');
    const challenge = new InsufficientScope(['a', 'b'], 'every').headers[header!];
    for (const part of parts) expect(challenge).toContain(part);
    expect(challenge).toMatch(/^Bearer error="insufficient_scope", .*scope="a b"$/);
  });

  it.each(Object.entries(specification.ROUTES))('are those of %s', (key, { needs, body, answer, limiter }) => {
    const [stated, fields, success, limit] = section('Routes').get(key)!;
    const route = routes.get(key)!;
    const needed = route.needs.split(/; |, /).map((need) => plain(need.replace('pinned session: ', '')));
    expect(itemsIn(stated)).toEqual(needed.filter((need) => need !== 'own origin (cookie mode)' && need !== '–'));
    expect(itemsIn(stated)).toEqual(expect.arrayContaining([...needs]));

    const [listed, read] = [namesIn(fields), namesOf(bodyOf(route))];
    expect(read).toEqual(expect.arrayContaining(listed));
    expect(listed).toEqual(expect.arrayContaining((bodyOf(route).required ?? []) as string[]));
    if (body) expect(listed).toEqual([...body]);

    for (const [, status = '', names] of success!.matchAll(/(\d{3})([^;]*)/g)) {
      expect(Object.keys(route.operation.responses)).toContain(status);
      const [shown, given] = [namesIn(names), namesOf(schemaOf(route, status))];
      expect(given).toEqual(expect.arrayContaining(shown));
      expect(shown.length === 0).toBe(given.length === 0);
      if (answer && status === '200') expect(shown.flatMap(fieldsOf)).toEqual(expect.arrayContaining([...answer]));
    }
    expect(itemsIn(limit)).toEqual(
      namesIn(route.limits)
        .slice(0, 1)
        .filter((name) => name.startsWith('svc-')),
    );
    if (limiter) expect(plain(limit)).toBe(limiter);
  });

  it.each(Object.entries(specification.BODIES))('are those of the body: %s', (key, stated) => {
    const [fields, here] = section('Bodies and objects').get(key)!;
    const own: Record<string, string> = { UserResource: 'UserFields' };
    const name = plain(here);
    const generated = generatedFields(name);
    expect(generated.length ? generated : membersOf(own[name] ?? name)).toEqual(
      expect.arrayContaining(namesIn(fields)),
    );
    expect(namesIn(fields)).toEqual(expect.arrayContaining([...stated]));
  });

  it('are those of the exceptions, with their statuses', () => {
    const locked = new AccountIsLocked('email', Infinity);
    const made = [
      new surface.Unauthenticated(true),
      new InsufficientScope(['a'], 'every'),
      new EmailUnverified(),
      new AlreadyEnrolled(),
      new WrongCredentials('email'),
      new surface.ValidationFailed({}),
      new ResetFailed(),
      locked,
      new ConfirmationRequired({ ttl: 300, header: 'X' }, []),
      new TooManyRequests({ limit: 1, remaining: 0, retryAfter: 1 }, 0),
      new TooManyFailures('email', { limit: 1, retryAfter: 1 }),
    ];
    const rows = rowsOf('Statuses');
    expect(rows.map(([status, , code]) => `${status} ${plain(code)}`).toSorted()).toEqual(
      made.map((exception) => `${exception.getStatus()} ${exception.code}`).toSorted(),
    );
    for (const [status, , , link] of rows) expect(linkedFrom([link!])).toContain(status);
    expect(locked.getResponse().errors).toEqual({ email: [locked.getResponse().message] });
  });

  it.each(Object.entries(specification.LIMITERS))('are those of the limiter: %s', (key, limited) => {
    const [here, named] = section('Limiters').get(key)!;
    expect(namesIn(named)).toEqual([...limited]);
    for (const route of limited) expect(routes.get(route)!.limits).toContain(here);
  });

  it('are those of the locks', () => {
    const here = new Map([...section('Locks')].map(([key, [name]]) => [key, plain(name)]));
    for (const purpose of LOCK_PURPOSES) expect(here.get(`purpose ${purpose}`)).toBe(purpose);
    expect(here.get('subject id:<primary_key>')).toBe(loginLock('7', 'ada@example.com').subject);
    expect(here.get('subject idn:<normalized_identifier>')).toBe(loginLock(null, 'ada@example.com').subject);
    expect(here.get('subject user id')).toBe(userLock('two_factor', '7').subject);
  });

  it('are those of the abilities, with their routes and bounds', () => {
    for (const [key, stated] of Object.entries(specification.ABILITIES)) {
      const named = namesIn(section('Abilities').get(key)![0]);
      expect(named).toEqual([...stated]);
      for (const route of named.filter((name) => name.includes('/')))
        expect(routes.get(route)!.needs).toContain(`\`${key}\``);
    }
    const bound = (key: string): number => Number(namesIn(section('Abilities').get(key)![0])[0]);
    const [name, scope] = [bound('length of an ability'), bound('length of the claim scope')];
    expect([flawOf('x'.repeat(name)), flawOfScope('x'.repeat(scope))]).toEqual([undefined, undefined]);
    expect([flawOf('x'.repeat(name + 1)), flawOfScope('x'.repeat(scope + 1))]).not.toContain(undefined);
  });

  it.each(Object.entries(specification.EVENTS))('are those of the event: %s', (key, stated) => {
    const [here, fields] = section('Events').get(key)!;
    const event = exported.get(plain(here)) as new (...args: unknown[]) => object;
    const listed = namesIn(fields);
    expect(Object.keys(new event())).toEqual(expect.arrayContaining(listed));
    expect(listed).toEqual(expect.arrayContaining([...stated]));
  });

  it('are those of the commands, with their defaults', () => {
    for (const [key, fallback] of Object.entries(specification.COMMANDS)) {
      const [here, stated] = section('Console').get(key)!;
      expect(consoleCommands()).toContain(plain(here));
      if (fallback) expect(plain(stated)).toBe(fallback);
    }
    const source = (name: string): string => readFileSync(join(ROOT, `libs/auth/src/tools/console/${name}.ts`), 'utf8');
    expect(source('data-commands')).toContain(`purpose = '${specification.COMMANDS['svc:release --purpose']}'`);
    expect(source('keygen')).toContain(`algorithm = '${specification.COMMANDS['svc:keygen --algorithm']}'`);
    expect(plain(section('Console').get('svc:prune --lockout-days')![1])).toBe(String(DEFAULTS.retention.lockoutDays));
    expect(DEFAULTS.retention.schedule).toMatch(/^\d+ \d+ \* \* \*$/);
    expect(section('Console').get('svc:prune')![1]).toBe('daily');
  });

  it('are those of the decorators, and of what a host calls or sets', () => {
    for (const [, [here]] of section('Route middleware'))
      expect(surface).toHaveProperty(/^@(\w+)\(/.exec(plain(here))![1]!, expect.any(Function));
    for (const [, [here]] of section('Code of the host')) {
      const name = plain(here);
      if (documented.has(name)) continue;
      expect(name.startsWith('auth.') ? Auth.prototype : surface).toHaveProperty(
        name.replace('auth.', ''),
        expect.any(Function),
      );
    }
  });
});
