import type { Type } from '@nestjs/common';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, type AuthModuleOptions, authEntities, withAuthColumns, withTwoFactorColumns } from '@svc/auth';
import { describeAuth } from '@svc/auth/openapi';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { FeatureOptions } from '../libs/auth/src/foundation/config/auth-options';
import type { LimitRule } from '../libs/auth/src/foundation/ports/limiter';
import { FEATURES } from '../libs/auth/src/features';
import { OPTIONS } from '../libs/auth/src/library-options';
import type { Feature } from '../libs/auth/src/foundation/realm/feature';
import { Realms } from '../libs/auth/src/foundation/realm/realm';
import { PinnedAbilityGate, type PinnedRequirement } from '../libs/auth/src/features/sessions/pinned-ability.gate';
import { type MountedRoute, mountedRoutes } from '../libs/auth/src/request/gates/library-routes';
import { declarationOf } from '../libs/auth/src/request/gates/request-log';
import { detailOf, gateTypeOf, routePlan } from '../libs/auth/src/request/gates/route-plan';
import { Limiters, limitationOf } from '../libs/auth/src/request/throttling/limiters';
import { namesOfTheLog } from './routes-log';
import { ABOUT_OPENAPI } from './routes-openapi';
import { Unconnected } from './unconnected';

const ROOT = join(__dirname, '..');
const SOURCE = 'libs/auth/src';
const TARGET = join(ROOT, 'docs/routes.md');

const PATH = 'auth';
const URL = 'https://app.example.com';

/** The requirement that a gate checks, by the stage of the gate. */
const NEEDS: Readonly<Record<string, string>> = {
  origin: 'own origin (cookie mode)',
  authentication: 'access token',
  confirmation: 'confirmation token',
};

@Entity()
class Account extends withTwoFactorColumns(withAuthColumns()) {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column({ unique: true }) username!: string;
  @Column() name!: string;
  @Column({ name: 'email_verified_at', type: 'timestamptz', nullable: true }) emailVerifiedAt!: Date | null;
}

type Schema = Readonly<Record<string, unknown>>;

interface Answer {
  readonly $ref?: string;
  readonly description: string;
  readonly content?: { 'application/json': { schema: Schema } };
}

interface Operation {
  /** `{guard}_{operation}` */
  readonly operationId: string;
  readonly summary: string;
  readonly requestBody?: { content: { 'application/json': { schema: Schema } } };
  readonly responses: Readonly<Record<string, Answer>>;
}

interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, Answer> };
}

/** A capability: its folder, its manifest, and the controllers that it mounts. */
interface Capability {
  readonly folder: string;
  readonly file: string;
  readonly feature: Feature;
}

/** A route with its description. */
export interface Described {
  readonly route: MountedRoute;
  readonly capability: Capability;
  readonly operation: Operation;
  readonly needs: string;
  readonly limits: string;
}

/** Every capability whose manifest is in `features.ts`, in the order of that list. */
function capabilities(): Capability[] {
  const list = readFileSync(join(ROOT, SOURCE, 'features.ts'), 'utf8');
  const order = [...list.split('FEATURES: readonly Feature[] = withFlags([')[1]!.split(']')[0]!.matchAll(/\w+/g)].map(
    ([name]) => name,
  );
  const files = [...list.matchAll(/^import \{([^}]*)\} from '\.\/(.*)';$/gm)];
  return order.flatMap((name) => {
    const [, , file] = files.find(([, names]) => names!.split(',').some((imported) => imported.trim() === name))!;
    const declared = (require(join(ROOT, SOURCE, file!)) as Record<string, Feature>)[name]!;
    const feature = FEATURES.find((listed) => listed.name === declared.name)!;
    return { folder: file!.split('/').at(-2)!, file: `${SOURCE}/${file}.ts`, feature };
  });
}

const controllersOf = ({ feature }: Capability): readonly Type[] => [
  ...(feature.controllers ?? []),
  ...(feature.defaultGuardControllers ?? []),
];

/** The guards that mount a route, and the options that enable it. */
function mountedBy({ capability: { feature }, route }: Described): string {
  const everyGuard = feature.controllers?.includes(Object.getPrototypeOf(route.controller) as Type);
  const flags = (feature.flags ?? []) as (keyof FeatureOptions)[];
  const isDefault = flags.some((flag) => OPTIONS.byName.get(`features.${flag}`)!.default);
  const switched = flags.map((flag) => `\`features.${flag}\``).join(' or ');
  return [everyGuard ? 'every guard' : 'default guard', switched && `${switched} (${isDefault ? 'on' : 'off'})`]
    .filter(Boolean)
    .join('; ');
}

/** The credentials that a request needs besides its body. */
function needsOf({ controller, handler }: MountedRoute): string {
  const { gates } = routePlan(controller, handler);
  const abilities = gates
    .filter((gate) => gateTypeOf(gate) === PinnedAbilityGate)
    .map((gate) => `pinned session: ${(detailOf(gate) as PinnedRequirement).abilities.map(code).join(', ')}`);
  return [...gates.flatMap(({ stage }) => NEEDS[stage] ?? []), ...abilities].join('; ') || '–';
}

/** The limits of a route, read from its limiters, or why it has none. */
function limitsOf({ controller, handler, guard }: MountedRoute, realms: Realms, needsCaller: boolean): string {
  const limiters = realms.get(guard).get(Limiters);
  const context = { guard, client: 'client', userId: needsCaller ? 'user' : null };
  const { names, reason } = limitationOf(controller, handler);
  const limits = names.map((name) => {
    const rules = [limiters.limiter(name)({}, context)].flat() as LimitRule[];
    const counted = rules.map(({ key }) => (key.startsWith('user|') ? 'user' : 'client'));
    const { maxAttempts, decaySeconds } = rules[0]!;
    return `\`${name}\`: ${maxAttempts} in ${decaySeconds} s for each ${counted.join(' and each ')}`;
  });
  return limits.join('; ') || `none: ${reason}`;
}

const code = (text: string): string => `\`${text}\``;
const bodyName = (ref: string): string => ref.split('/').at(-1)!;

/** A schema in a table cell. Named bodies link to their table. */
function shown(schema: Schema): string {
  if (schema.$ref) return link(bodyName(schema.$ref as string));
  if (schema.anyOf) return (schema.anyOf as Schema[]).map(shown).join(' or ');
  const fields = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  if (schema.type !== 'object' || !fields.length) return code(typeOf(schema));
  return fields.map(([name, field]) => `\`${name}\`: ${typeShown(field)}`).join('; ');
}

const link = (name: string): string => `[\`${name}\`](#${name.toLowerCase()})`;

function typeShown(schema: Schema): string {
  if (schema.type === 'array') return `list of ${typeShown(schema.items as Schema)}`;
  if (schema.$ref) return link(bodyName(schema.$ref as string));
  if (schema.enum) return (schema.enum as unknown[]).map((value) => code(JSON.stringify(value))).join(' or ');
  if (schema.anyOf) return (schema.anyOf as Schema[]).map(typeShown).join(' or ');
  if (schema.properties) return `object (${shown(schema)})`;
  return typeOf(schema) + (schema.nullable ? ' or null' : '');
}

const FORMATS: Readonly<Record<string, string>> = { uuid: 'UUID', 'date-time': 'time in ISO 8601' };

const typeOf = ({ type, format }: Schema): string => FORMATS[format as string] ?? (type as string);

/** The fields of a request body. Optional fields are in brackets. */
function fieldsOf({ requestBody }: Operation): string {
  const schema = requestBody?.content['application/json'].schema;
  if (!schema) return '–';
  const required = (schema.required ?? []) as string[];
  const fields = Object.keys((schema.properties ?? {}) as object);
  return fields.map((field) => (required.includes(field) ? code(field) : `[${code(field)}]`)).join(', ') || 'object';
}

/** The causes of failures by status, each with its text. */
function causesOf({ responses }: Operation, document: Document): [status: string, text: string][] {
  return Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, answer]) => {
      const { description } = answer.$ref ? document.components.responses[bodyName(answer.$ref)]! : answer;
      return description.split(' Or: ').map((text): [string, string] => [status, text]);
    });
}

/** A cause that operations of at least this many capabilities have is listed in one table. */
const SHARED_BY = 3;

/** The maximum number of routes that are named beside a shared cause. A longer list is replaced by its length. */
const LISTED = 12;

function sharedCauses(all: readonly Described[], document: Document): Map<string, Described[]> {
  const routes = new Map<string, Described[]>();
  for (const described of all)
    for (const [status, text] of causesOf(described.operation, document)) {
      const key = `${status} ${text}`;
      routes.set(key, [...(routes.get(key) ?? []), described]);
    }
  const isShared = (ones: Described[]): boolean =>
    new Set(ones.map(({ capability }) => capability.folder)).size >= SHARED_BY;
  return new Map([...routes].filter(([, ones]) => isShared(ones)).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function answersOf({ operation }: Described, document: Document, shared: ReadonlyMap<string, unknown>): string {
  const successes = Object.entries(operation.responses)
    .filter(([status]) => Number(status) < 400)
    .map(([status, { content }]) => `**${status}**${content ? ` ${shown(content['application/json'].schema)}` : ''}`);
  const causes = causesOf(operation, document);
  const own = causes.filter(([status, text]) => !shared.has(`${status} ${text}`));
  const usual = [...new Set(causes.filter((cause) => !own.includes(cause)).map(([status]) => status))];
  return [
    ...successes,
    ...own.map(([status, text]) => `**${status}** ${text}`),
    ...(usual.length ? [`[also](#answers-of-several-routes) ${usual.join(', ')}`] : []),
  ].join('<br>');
}

const cell = (text: string): string => text.replaceAll('|', '\\|');
const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n');

const titleOf = (folder: string): string => folder.charAt(0).toUpperCase() + folder.slice(1).replaceAll('-', ' ');
const pathOf = ({ method, path }: MountedRoute): string =>
  `\`${method} ${path.slice(PATH.length).replaceAll(/:svc\w+/g, ':id')}\``;

const HEAD = `# Routes

Generated from the manifests and the OpenAPI description of the library, with every feature on: \`npm run docs\`.

- A guard mounts its routes below its \`path\` (\`auth\`): \`POST /login\` is \`POST /auth/login\`. \`routes: false\` mounts none.
- **Mounted** names the guards that have the route, and the option that switches it on, with its default.
- **Needs** is what a request carries besides its body: an access token as \`Authorization: Bearer …\`, a
  [confirmation token](step-up.md) in the header \`X-Svc-Confirmation\`. With \`cookieMode\`, routes that set or read the
  refresh cookie answer 403 to [pages of other origins](deployment.md#cookie-mode). A [pinned session](abilities.md) needs
  the named ability.
- **Body** lists the fields of the JSON body. A field in square brackets is optional. The login field is \`email\`
  (option \`username\`). A body of another type is read where the application has a parser for it, such as a form; otherwise the
  answer is 415, also of a route without fields. A request without a body needs no type.
- **Answers** lists the statuses with the default options, each with its body or its text. Besides, a sign-in answers 401 with
  \`hooks.canSignIn\`, 403 with \`emailVerification.blockUnverifiedLogin\`, 202 with \`registration.concealExisting\`, and
  [\`AuthEnrolment\`](#authenrolment) with \`twoFactor.required\`, which also lets \`DELETE /two-factor\` answer 409. The limits on failed attempts and the lockout are not in
  **Limit**; they are in [rate limits](rate-limits.md).
`;

/** The routes page. It is generated without stores, because none of its content depends on them. */
export async function routesPage(): Promise<string> {
  // Needs another identifier than the email.
  const ofUsernames = 'usernameChange';
  // Needs cookie mode.
  const ofCookies = 'deviceBoundCookies';
  const separate = [ofUsernames, ofCookies];
  const flags = Object.keys(OPTIONS.ofGuard.features!).filter((flag) => !separate.includes(flag));
  const [{ all, document }, other] = [await describedWith(flags), await describedWith([ofUsernames], 'username')];
  // Also for bodies that no operation has with the default options.
  const options = { cookieMode: true, twoFactor: { required: true } };
  const inCookies = await describedWith([...flags, ofCookies], 'email', options);
  const more = [...other.all, ...inCookies.all].filter(({ capability: { feature } }) =>
    feature.flags?.some((flag) => separate.includes(flag)),
  );
  const responses = { ...inCookies.document.components.responses, ...document.components.responses };
  const schemas = Object.entries({ ...document.components.schemas, ...inCookies.document.components.schemas });
  const sorted = Object.fromEntries(schemas.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return pageOf([...all, ...more], { ...document, components: { ...document.components, responses, schemas: sorted } });
}

/** The routes of an application with these features, their OpenAPI description, and the application, which is not started. */
export async function describedWith(
  flags: readonly string[],
  username = 'email',
  options: Partial<AuthModuleOptions> = {},
) {
  const testing = await Test.createTestingModule({
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', entities: [...authEntities, Account] }),
      AuthModule.forRoot({
        secret: 'of-a-document-that-signs-nothing-0123456789',
        encryption: { key: 'of-a-document-that-encrypts-nothing-012345' },
        users: { entity: Account },
        username,
        // Security events have no routes, and need keys.
        features: Object.fromEntries(flags.map((flag) => [flag, flag !== 'securityEventTokens'])),
        passkeys: { rpId: 'example.com', rpName: 'Example', origins: [URL] },
        passwordReset: { frontendUrl: URL },
        emailVerification: { apiUrl: URL, frontendUrl: URL },
        emailChange: { confirmUrl: URL, undoUrl: URL },
        knownDevices: { frontendUrl: URL },
        accessKeys: { scannerKeys: {} },
        mail: { mailer: { send: async () => undefined } },
        ...options,
      }),
    ],
  })
    .overrideProvider(DataSource)
    .useFactory({
      factory: () => new Unconnected({ type: 'postgres', entities: [...authEntities, Account] }).initialize(),
    })
    .compile();
  const app = testing.createNestApplication({ logger: false });
  const document = describeAuth(app, { openapi: '3.0.0', paths: {} }) as unknown as Document;
  const [list, realms] = [capabilities(), app.get(Realms)];
  const all = mountedRoutes(app.get(ModulesContainer), new MetadataScanner()).map((route): Described => {
    const capability = list.find((entry) =>
      controllersOf(entry).includes(Object.getPrototypeOf(route.controller) as Type),
    );
    if (!capability) throw new Error(`No manifest mounts ${route.method} ${route.path}.`);
    const place = `/${route.path.replaceAll(/:(\w+)/g, '{$1}')}`;
    const operation = document.paths[place]![route.method.toLowerCase()]!;
    const needs = needsOf(route);
    const limits = limitsOf(route, realms, needs.includes(NEEDS.authentication!));
    return { route, capability, operation, needs, limits };
  });
  return { all, document, app };
}

function pageOf(all: readonly Described[], document: Document): string {
  const shared = sharedCauses(all, document);
  const sections = [...new Set(capabilities().map(({ folder }) => folder))].flatMap((folder) => {
    const own = all.filter(({ capability }) => capability.folder === folder);
    return own.length ? [sectionOf(folder, own, document, shared)] : [];
  });
  const routes = all.map(({ route }) => route);
  const names = namesOfTheLog(routes, pathOf, table);
  return [HEAD, ABOUT_OPENAPI, ...sections, sharedSection(shared), names, bodiesSection(document)].join('\n');
}

function sectionOf(
  folder: string,
  own: readonly Described[],
  document: Document,
  shared: ReadonlyMap<string, unknown>,
): string {
  const files = [...new Set(own.map(({ capability }) => capability.file))];
  const sources = files.map((file) => `[the manifest](../${file})`).join(', ');
  const page = own.map(({ capability }) => capability.feature.page).find(Boolean) ?? `${folder}.md`;
  const about = existsSync(join(ROOT, 'docs', page)) ? ` About it: [${page}](${page}).` : '';
  const rows = own.map((described) => [
    pathOf(described.route),
    described.operation.summary,
    mountedBy(described),
    described.needs,
    fieldsOf(described.operation),
    answersOf(described, document, shared),
    described.limits,
  ]);
  const head = ['Route', 'Purpose', 'Mounted', 'Needs', 'Body', 'Answers', 'Limit'];
  const notes = own.flatMap(({ route }) => {
    const { note, remembers } = declarationOf(route.handler)!;
    const sentences = [note, remembers && 'With `sessions.ttlWithoutRemember`, also reads `remember`.'].filter(Boolean);
    return sentences.length ? [`- ${pathOf(route)}: ${sentences.join(' ')}`] : [];
  });
  return [
    `## ${titleOf(folder)}`,
    `Mounted by ${sources}.${about}`,
    table(head, rows),
    ...(notes.length ? [notes.join('\n')] : []),
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}

function sharedSection(shared: ReadonlyMap<string, readonly Described[]>): string {
  const where = (ones: readonly Described[]): string =>
    ones.length > LISTED ? `${ones.length} routes` : ones.map(({ route }) => pathOf(route)).join(', ');
  const rows = [...shared].map(([cause, ones]) => [cause.slice(0, 3), cause.slice(4), where(ones)]);
  return `## Answers of several routes

Every failure is \`{ "message": … }\`, with \`errors\` by field where a field is wrong. The texts are the defaults of
\`messages\`; their keys are in the header \`X-Svc-Error-Codes\`, by field ([codes](decisions/error-codes.md)). A 429, and a 503 that names a wait, carry \`Retry-After\`. A store that does not answer gives 503 within a
second. "This account is locked" needs \`features.lockout\`.

${table(['Status', 'Text', 'Routes'], rows)}
`;
}

function bodiesSection({ components: { schemas } }: Document): string {
  const tables = Object.entries(schemas).map(([name, schema]) => {
    const required = (schema.required ?? []) as string[];
    const rows = Object.entries((schema.properties ?? {}) as Record<string, Schema>).map(([field, property]) => [
      code(field) + (required.includes(field) ? '' : ' (optional)'),
      typeShown(property),
      (property.description as string | undefined) ?? '',
    ]);
    return `### ${name}\n\n${table(['Field', 'Type', 'Meaning'], rows)}\n`;
  });
  return `## Bodies\n\n${tables.join('\n')}`;
}

if (require.main === module) void routesPage().then((text) => writeFileSync(TARGET, text));
