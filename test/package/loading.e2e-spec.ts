import { join } from 'node:path';
import { ROOT, run } from '../support/packages/package';
import { type TestDatabase, createDatabase } from '../support/stores/database';

const REGISTER = join(ROOT, 'test/support/runtime/register-ts.cjs');

/** Packages that take memory and time to load, each with its purpose. */
const LATE = {
  tldts: 'passkeys and wildcard origins',
  '@simplewebauthn/server': 'passkeys',
  otplib: 'two-factor authentication',
  nodemailer: 'mail',
  'openid-client': 'sign-in with a provider',
  jose: 'sign-in with a provider',
  '@zxcvbn-ts/language-common': 'new passwords',
  'class-validator': 'a class of registration',
  bcryptjs: 'former hashes',
  'nest-commander': 'the console',
  'drizzle-orm': 'users in a table of Drizzle',
  '@nestjs/swagger': 'OpenAPI',
  '@nestjs/terminus': 'health checks of the host',
  '@nestjs/throttler': 'limits of the host',
  '@redis/client': 'redis.url',
};

/** Packages that the start of an application loads, of which Nest loads some itself, and the import of the library does not. */
const AT_START = {
  argon2: 'hashes',
  '@node-rs/argon2': 'hashes',
  '@nestjs/microservices': 'handlers of a microservice',
  '@nestjs/websockets': 'gateways',
  pg: 'the pool of the host',
  '@nestjs/typeorm': 'a data source of the host',
  '@nestjs/event-emitter': 'events of the host',
  '@nestjs/schedule': 'the jobs of the host',
};

/** Prints the loaded files after a script. */
function loadedBy(script: string, variables: Record<string, string> = {}): string[] {
  const code = `(async () => { ${script} console.log(JSON.stringify(Object.keys(require.cache))); process.exit(); })();`;
  const output = run(process.execPath, ['--require', REGISTER, '-e', code], ROOT, variables);
  return JSON.parse(output.trim().split('\n').at(-1)!);
}

const of = (name: string, files: readonly string[]): string[] =>
  files.filter((file) => file.includes(`/node_modules/${name}/`));

/** The modules of the sign-in with a provider that a process without it loads: the data of accounts stays while it is off. */
const OFF = ['identities.feature.ts', 'identities.options.ts', 'identity.entity.ts', 'identity.store.ts'];

const IDENTITIES = join(ROOT, 'libs/auth/src/features/identities/');
const ofIdentities = (files: readonly string[]): string[] =>
  files.flatMap((file) => (file.startsWith(IDENTITIES) ? file.slice(IDENTITIES.length) : [])).toSorted();

describe('the import of the library', () => {
  let loaded: string[];

  beforeAll(() => void (loaded = loadedBy('require("@svc/auth");')));

  it('loads its entry file', () => expect(loaded).toContain(join(ROOT, 'libs/auth/src/index.ts')));

  it('loads the texts of no language but the messages in English', () => {
    const [source, languages] = [join(ROOT, 'libs/auth/src/'), join(ROOT, 'libs/auth/src/foundation/languages/')];
    expect(loaded.filter((file) => file.startsWith(languages) && /[/\\][a-z]{2}\.ts$/.test(file))).toEqual([]);
    expect(loaded.filter((file) => file.startsWith(source) && file.endsWith('.languages.ts'))).toEqual([]);
    expect(loaded).toContain(join(languages, 'texts.ts'));
  });

  it('loads of the sign-in with a provider its manifest and its table', () =>
    expect(ofIdentities(loaded)).toEqual(OFF));

  it.each(Object.entries({ ...LATE, ...AT_START }))('does not load %s, which is for %s', (name) => {
    expect(of(name, loaded)).toEqual([]);
  });
});

describe('the start of an application without optional features', () => {
  let database: TestDatabase;
  let loaded: string[];

  beforeAll(async () => {
    database = await createDatabase();
    loaded = loadedBy(START, { DATABASE_URL: database.url });
  });
  afterAll(() => database?.drop());

  it('loads of the sign-in with a provider its manifest and its table', () =>
    expect(ofIdentities(loaded)).toEqual(OFF));

  it('loads the library of its hashes', () => {
    expect([...of('@node-rs/argon2', loaded), ...of('argon2', loaded)]).not.toEqual([]);
  });

  it.each(Object.entries(LATE))('does not load %s, which is for %s', (name) => {
    expect(of(name, loaded)).toEqual([]);
  });
});

/** An application on a pool with users of its own. */
const START = `
  const { NestFactory } = require('@nestjs/core');
  const { AuthModule, UserProvider } = require('@svc/auth');
  const { Pool } = require('pg');
  class Users extends UserProvider {
    findById() {} findByIdentifier() {} idOf() {} passwordHashOf() {} savePasswordHash() {}
  }
  const auth = AuthModule.forRoot({
    pool: new Pool({ connectionString: process.env.DATABASE_URL }),
    secret: 'a-secret-of-this-test-0123456789-abcdef',
    users: { provider: Users },
    features: { accountDeletion: false },
  });
  const app = await NestFactory.create({ module: class Root {}, imports: [auth] }, { logger: false, abortOnError: false });
  await app.init();
  await app.close();`;
