import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { newSecret } from '../../foundation/platform/crypto';
import { print } from '../console/command';
import { CommandRefused } from '../console/command';
import { BYTES, isSet, replaceFile, withVariable } from '../console/env-file';
import { pageUrl } from '../../foundation/platform/errors';

/** A file before and after the change, one character per byte. `before` is undefined for a new file. */
interface Edit {
  readonly file: string;
  readonly before: string | undefined;
  readonly after: string;
  /** Whether it is the env file, which has secrets. */
  readonly isEnv?: boolean;
}

/** What the commands print from the manifest of the library: compiled files are as far below it as the sources. */
export const manifestOfLibrary = (): { version: string; homepage: string } =>
  JSON.parse(readFileSync(join(__dirname, '../../../package.json'), 'utf8')) as ReturnType<typeof manifestOfLibrary>;

const APP_MODULE = 'src/app.module.ts';
const USERS = 'src/users.ts';
const IGNORE = '.gitignore';

/** The packages of the quick start. */
const PACKAGES =
  '@svc/auth @nestjs/jwt @nestjs/passport passport class-transformer @nestjs/typeorm typeorm pg @redis/client';

/** The packages whose major version is that of Nest. */
const OF_NEST = /^@nestjs\/(jwt|passport|typeorm)$/;

const USERS_TEXT = `import { withAuthColumns } from '@svc/auth';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { MigrationInterface, QueryRunner } from 'typeorm';

@Entity('users')
export class User extends withAuthColumns() {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column() name!: string;
}

const columns = \`id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name text NOT NULL, email text NOT NULL UNIQUE, password_hash text\`;

export class CreateUsers1795000000000 implements MigrationInterface {
  up = (db: QueryRunner) => db.query(\`CREATE TABLE users (\${columns})\`);
  down = (db: QueryRunner) => db.query('DROP TABLE users');
}
`;

const moduleImports = (end: string): string[] => [
  "import { existsSync } from 'node:fs';",
  "import { TypeOrmModule } from '@nestjs/typeorm';",
  "import { AuthModule, authEntities, authMigrations } from '@svc/auth';",
  `import { CreateUsers1795000000000, User } from './users${end}';`,
];

function loadOf(envFile: string): string {
  const name = `'${envFile.replaceAll(/['\\]/g, '\\$&')}'`;
  return `if (existsSync(${name})) process.loadEnvFile(${envFile === '.env' ? '' : name});`;
}

const MODULES = `
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      entities: [...authEntities, User],
      migrations: [...authMigrations, CreateUsers1795000000000],
      migrationsRun: true,
    }),
    AuthModule.forRoot({
      users: { entity: User },
      features: { registration: true },
      secret: process.env.SVC_SECRET,
      redis: { url: process.env.REDIS_URL },
    }),
  `;

/** The controller of the quick start. */
const guardedController = (end: string): string => `import { Controller, Get } from '@nestjs/common';
import { Authenticated, CurrentUser } from '@svc/auth';
import type { User } from './users${end}';

@Controller('hello')
@Authenticated()
export class AppController {
  @Get()
  getHello(@CurrentUser() user: User) {
    return \`Hello, \${user.name}!\`;
  }
}
`;

/**
 * Makes the changes of the quick start in a new Nest application: the user table, the modules, and the env file with a
 * new secret. What is already there stays as it is, so that a second run changes nothing.
 *
 * @throws CommandRefused before any change, if a file is not as `nest new` generates it
 */
export function init({ isDryRun, envFile: named }: { isDryRun: boolean; envFile: string }): void {
  const envFile = inThisFolder(named);
  // Before any change.
  manifest();
  const edits = [...sourceEdits(envFile), envEdit(envFile), ...ignoreEdits(envFile)].filter(
    ({ before = '', after }) => before !== after,
  );
  for (const edit of edits) {
    print(isDryRun ? `${difference(edit)}\n` : `${edit.before === undefined ? 'created' : 'changed'} ${edit.file}\n`);
    if (!isDryRun) write(edit);
  }
  if (!edits.length) print('Nothing to change.\n');
  print(warningsOn(envFile));
  print(nextSteps(envFile));
}

/** The path of a file, relative to this folder and with slashes. A file on another drive keeps its absolute path. */
const inThisFolder = (file: string): string => relative('', resolve(file)).replaceAll('\\', '/');

const isOutside = (path: string): boolean => path.startsWith('../') || isAbsolute(path);

function write({ file, before, after, isEnv }: Edit): void {
  mkdirSync(dirname(file), { recursive: true });
  if (before === undefined) writeFileSync(file, after, { encoding: BYTES, mode: isEnv ? 0o600 : 0o666 });
  else replaceFile(file, after);
}

/** A text as the bytes in which it is written. */
const bytesOf = (text: string): string => Buffer.from(text).toString(BYTES);

/** The text of a file; undefined without one. @throws CommandRefused for a folder, and a file that cannot be read */
function textOf(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  if (!statSync(file).isFile())
    throw new CommandRefused(`${file} is not a file. Rename it: this command writes a file there.`);
  try {
    return readFileSync(file, BYTES);
  } catch (error) {
    throw new CommandRefused(`${file} cannot be read: ${(error as Error).message}`);
  }
}

const AUTH_MODULE = /import\s*\{[^}]*\bAuthModule\b[^}]*\}\s*from\s*['"]@svc\/auth['"]/;

/** A class of the host that is the entity of a table of users: `@Entity('users')`, or `@Entity()` of a class of that name. */
const USER_ENTITY =
  /@Entity\((?:\s*['"`]users?['"`][^)]*|\s*\{[^)]*name:\s*['"`]users?['"`][^)]*)\)|@Entity\([^)]*\)\s*(?:@\w+\([^)]*\)\s*)*export (?:default )?(?:abstract )?class (?:User|UserEntity)\b/i;

/** The file of the host with an entity of users, besides the one that this command writes; undefined without one. */
const userEntity = (): string | undefined =>
  existsSync('src')
    ? readdirSync('src', { recursive: true, encoding: 'utf8' })
        .map((file) => join('src', file).replaceAll('\\', '/'))
        .filter((file) => /(?<!\.d|spec|test)\.[cm]?ts$/.test(file) && file !== USERS && statSync(file).isFile())
        .toSorted()
        .find((file) => USER_ENTITY.test(textOf(file) ?? ''))
    : undefined;

/** A second table of users would not have the accounts of the first one. @throws CommandRefused for an entity of the host */
function refuseSecondTable(): void {
  const file = userEntity();
  if (file === undefined) return;
  const { dependencies = {} } = manifest();
  const hasBcrypt = Boolean(dependencies.bcrypt ?? dependencies.bcryptjs);
  throw new CommandRefused(
    `${file} has an entity of users. This command would make a second table, so it has changed nothing. Keep the table: give the ` +
      `property of the hash the name passwordHash, and its column,\n\n` +
      `  @Column({ name: 'password', type: 'text', nullable: true, select: false }) passwordHash?: string | null;\n\n` +
      `and add these lines to the root module:\n\n` +
      `  import { AuthModule, authEntities, authMigrations${hasBcrypt ? ', bcryptVerifier' : ''} } from '@svc/auth';\n\n` +
      `  entities: [...authEntities, User],\n  migrations: [...authMigrations],\n\n` +
      `  AuthModule.forRoot({\n    users: { entity: User },\n    secret: process.env.SVC_SECRET,\n` +
      `    redis: { url: process.env.REDIS_URL },\n${hasBcrypt ? '    hashing: { verifiers: [bcryptVerifier()] },\n' : ''}  }),\n\n` +
      `Then npx svc-auth secret, and a migration of the column. All steps are in "The same table": ${pageUrl('recipes/moving-here.md#the-same-table')}`,
  );
}

/** The root module and the users. With the module of the library in the root module, both are the host's. */
function sourceEdits(envFile: string): Edit[] {
  if (AUTH_MODULE.test(textOf(APP_MODULE) ?? '')) return [];
  refuseSecondTable();
  return [usersEdit(), moduleEdit(envFile)];
}

/** A file of this name that the host already has stays as it is. */
function usersEdit(): Edit {
  const before = textOf(USERS);
  const has = (name: string): boolean => new RegExp(`export class ${name}\\b`).test(before ?? '');
  if (before !== undefined && !(has('User') && has('CreateUsers1795000000000')))
    throw new CommandRefused(
      `${USERS} exists, and is not that of this command. Rename it, or follow the quick start by hand: ${manifestOfLibrary().homepage}`,
    );
  return { file: USERS, before, after: before ?? USERS_TEXT };
}

function moduleEdit(envFile: string): Edit {
  const before = textOf(APP_MODULE);
  if (before === undefined)
    throw new CommandRefused(
      `There is no ${APP_MODULE}. Run this command in the folder of a Nest application: npx @nestjs/cli new hello`,
    );
  const decorated = /^@Module\(\{\s*imports: \[\s*\],/m.exec(before);
  const lastImport = [...before.matchAll(/^import [^;]*;[ \t]*\r?\n/gm)].at(-1);
  const own = ['AuthModule', 'TypeOrmModule'].find((name) => before.includes(name));
  if (!decorated || !lastImport || own) {
    const rename = `Its ${own} is another one than that of the library: import one of them under another name. `;
    throw new CommandRefused(
      `${APP_MODULE} is not as nest new generates it (imports: []), so it was left as it is, and so were all other files. ` +
        `${own === 'AuthModule' ? rename : ''}Add these lines yourself:\n\n` +
        `${[...moduleImports(endOf(before)), '', loadOf(envFile)].join('\n')}\n\n  imports: [${MODULES}],`,
    );
  }
  const newline = before.includes('\r\n') ? '\r\n' : '\n';
  const lines = (text: string): string => text.replaceAll('\n', newline);
  const afterImports = lastImport.index + lastImport[0].length;
  const head = before.slice(0, afterImports) + moduleImports(endOf(before)).join(newline) + newline;
  const body = before
    .slice(afterImports)
    .replace(
      /(@Module\(\{\s*imports: \[)\s*\]/,
      (_, start: string) => `${bytesOf(loadOf(envFile))}${newline}${newline}${start}${lines(MODULES)}]`,
    );
  return { file: APP_MODULE, before, after: head + body };
}

/** The ending of relative imports: an application in ESM writes it. */
const endOf = (text: string): string => (/from '\.\/[^']*\.js'/.test(text) ? '.js' : '');

function envEdit(file: string): Edit {
  const before = textOf(file);
  const variables: readonly (readonly [string, () => string])[] = [
    ['DATABASE_URL', () => `postgres://${databaseUser()}localhost/${databaseName()}`],
    ['REDIS_URL', () => 'redis://localhost:6379'],
    ['SVC_SECRET', newSecret],
  ];
  const after = variables.reduce(
    (text, [name, value]) => (isSet(text, name) ? text : withVariable(text, name, value())),
    before ?? '',
  );
  return { file, before, after, isEnv: true };
}

function manifest(): {
  name?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
} {
  try {
    return (JSON.parse(textOf('package.json') ?? '{}') ?? {}) as ReturnType<typeof manifest>;
  } catch (error) {
    if (error instanceof CommandRefused) throw error;
    throw new CommandRefused(`package.json cannot be read as JSON: ${(error as Error).message}`);
  }
}

const databaseName = (): string => manifest().name?.replace(/^.*\//, '').replaceAll(/\W/g, '_') || 'app';

/** The account of PostgreSQL that `createdb` uses, too. Without a name in the URL, the driver finds none in a container. */
const databaseUser = ({ USER } = process.env): string => (USER ? `${encodeURIComponent(USER)}@` : '');

/**
 * The env file must not be committed. Without a `.gitignore` in this folder, too: a folder above can be the repository.
 * Patterns of this file cannot name a file outside of its folder.
 */
function ignoreEdits(envFile: string): Edit[] {
  if (isOutside(envFile)) return [];
  const before = textOf(IGNORE);
  const path = bytesOf(envFile);
  // The last line that matches decides.
  const last = before?.split(/\r?\n/).findLast((line) => matches(line.trim().replace(/^!/, ''), path));
  if (last && !last.startsWith('!')) return [];
  const newline = before?.includes('\r\n') ? '\r\n' : '\n';
  const isOpen = before && !before.endsWith('\n');
  const pattern = path.replaceAll(/[\\*?[\]!# ]/g, '\\$&');
  return [{ file: IGNORE, before, after: `${before ?? ''}${isOpen ? newline : ''}${pattern}${newline}` }];
}

/** Whether a line of a `.gitignore` names a file of its folder. Without a slash it also names files of folders below. */
function matches(line: string, path: string): boolean {
  const pattern = line.replace(/^(\*\*)?\//, '');
  const isWhole = line.startsWith('/') || pattern.includes('/');
  const source = pattern.replaceAll(/\\(.)|\*|\?|[^\w]/g, (token, escaped?: string) => {
    if (token === '*' || token === '?') return token === '*' ? '[^/]*' : '[^/]';
    return (escaped ?? token).replace(/\W/, '\\$&');
  });
  return new RegExp(`^${source}$`).test(isWhole ? path : basename(path));
}

/** What the user has to do about the env file. The mode of a file that exists stays: its readers may need it. */
function warningsOn(envFile: string): string {
  const mode = statSync(envFile, { throwIfNoEntry: false })?.mode ?? 0;
  const isReadable = process.platform !== 'win32' && (mode & 0o077) !== 0;
  return [
    isReadable ? `Other users of this machine can read ${envFile}, which has secrets: chmod 600 ${envFile}\n` : '',
    isOutside(envFile) ? `${envFile} is outside of this folder. Make sure that git ignores it.\n` : '',
  ].join('');
}

function nextSteps(envFile: string): string {
  const { dependencies = {}, devDependencies = {} } = manifest();
  const installed = { ...dependencies, ...devDependencies };
  const isNest11 = /^\D*11\b/.test(installed['@nestjs/core'] ?? '');
  const missing = PACKAGES.split(' ')
    .filter((name) => !installed[name])
    .map((name) => (isNest11 && OF_NEST.test(name) ? `${name}@11` : name));
  return `
Next:
${missing.length ? `  npm install ${missing.join(' ')}\n` : ''}  check DATABASE_URL and REDIS_URL in ${envFile}, and create the database: createdb ${databaseName()}
  npm run build && npx svc-auth doctor${envFile === '.env' ? '' : ` --env ${envFile}`}
  npm start

A guarded route, as src/app.controller.ts (then remove AppService from src/app.module.ts, and delete src/app.service.ts and the
generated tests of the former controller):

${guardedController(endOf(textOf(APP_MODULE) ?? ''))}`;
}

/**
 * The lines of a change, with + and -, and the lines around them. Of an env file only the new lines, because the others can
 * be secrets. A new secret is not shown, because a second run makes another one.
 */
function difference({ file, before, after, isEnv }: Edit): string {
  const old = before?.split('\n') ?? [];
  const now = after.split('\n');
  let next = 0;
  // An edit adds lines, and replaces some: all others stay in their order.
  const lines = now.flatMap((line) => {
    if (line === old[next]) return [` ${old[next++]}`];
    const isReplaced = next < old.length && !now.includes(old[next]!);
    return [...(isReplaced ? [`-${old[next++]}`] : []), `+${line}`];
  });
  // The rest of a line can be a comment with a former value.
  const added = now.filter((line) => !old.includes(line)).map((line) => `+${line.replace(/\s+#.*/, '')}`);
  const text = (isEnv ? added : lines).join('\n').replace(/^(\+SVC_SECRET=).*/gm, '$1(a new secret)');
  const shown = Buffer.from(text, BYTES).toString();
  return `--- ${before === undefined ? '(new)' : file}\n+++ ${file}\n${shown}`;
}
