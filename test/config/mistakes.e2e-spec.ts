import { Controller, type DynamicModule, Get, type ModuleMetadata, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { createClient } from '@redis/client';
import {
  Abilities,
  Authenticated,
  AuthModule,
  type AuthModuleOptions,
  RequireVerifiedEmail,
  Throttled,
  authEntities,
  authOptionsFromEnv,
} from '@svc/auth';
import { type KeyPairKeyObjectResult, createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { setImmediate as tick } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { createDatabase } from '../support/stores/database';
import { HostModule, SECRET, hostOptions } from '../support/hosts/host.module';
import { DuplicateEmails, IdentifierProvider } from '../support/hosts/incomplete-users';
import { API_URL, Mailbox, RESET_URL } from '../support/hosts/members';
import { Member, Operator, Person } from '../support/hosts/user-entities';

type Options = Partial<AuthModuleOptions>;

/** A mistake, how an application with it starts, and what its error says: the thing that is wrong, and the cure. */
type Mistake = readonly [mistake: string, start: () => Promise<unknown>, thing: string, cure: string];

let database: Awaited<ReturnType<typeof createDatabase>>;

beforeAll(async () => (database = await createDatabase()));
afterAll(async () => {
  // Each writes its failure to the log of the process, which the next file may read.
  await Promise.all(secondAttempts);
  await database.drop();
});

async function start(module: Type | DynamicModule): Promise<void> {
  const app = await NestFactory.create(module, { logger: false, abortOnError: false });
  await app.init().finally(() => app.close());
}

/** An application with these options, which may be of a wrong type, as in JavaScript. */
const options = (given: object, controllers?: Type[]) => async (): Promise<void> =>
  start(HostModule.with(database.url, given as Options, controllers, [DuplicateEmails]));

/** An application in production. */
const inProduction = (given: object) => async (): Promise<void> => {
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = 'production';
  const sound = { issuer: 'https://api.acme.test', audience: 'https://api.acme.test' };
  try {
    await options({ ...sound, ...given })();
  } finally {
    process.env.NODE_ENV = before;
  }
};

/** An application in production that reads these variables, and overwrites what they gave. */
const overwritten = (variables: Record<string, string>, given: object) => async (): Promise<void> => {
  Object.assign(process.env, variables);
  try {
    await inProduction({ ...authOptionsFromEnv(), secret: SECRET, ...given })();
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
  }
};

/** An application that reads these variables. */
const env = (variables: Record<string, string>) => async (): Promise<void> => {
  const { features, ...values } = authOptionsFromEnv({ SVC_SECRET: SECRET, ...variables });
  await options({ secret: undefined, ...values, features })();
};

/** An application with these imports. */
const imports =
  (given: () => NonNullable<ModuleMetadata['imports']>, controllers: Type[] = []) =>
  async (): Promise<void> =>
    start({ module: class Host {}, imports: given(), controllers });

const orm = (entities: Type[] = [...authEntities, Person, Operator]): DynamicModule =>
  TypeOrmModule.forRoot({ type: 'postgres', url: database.url, entities, retryAttempts: 0 });

/** A route of a host. */
function route(...decorators: MethodDecorator[]): Type {
  @Controller('orders')
  class OrdersController {
    @Get()
    list() {
      return [];
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(OrdersController.prototype, 'list')!;
  for (const decorate of decorators) decorate(OrdersController.prototype, 'list', descriptor);
  Object.defineProperty(OrdersController.prototype, 'list', descriptor);
  return OrdersController;
}

const pems = ({ publicKey, privateKey }: KeyPairKeyObjectResult) => ({
  publicKey: String(publicKey.export({ type: 'spki', format: 'pem' })),
  privateKey: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
});
const ec = pems(generateKeyPairSync('ec', { namedCurve: 'P-256' }));
const other = pems(generateKeyPairSync('ec', { namedCurve: 'P-256' }));
const weak = pems(generateKeyPairSync('rsa', { modulusLength: 1024 }));
const es256 = (keys: object): Options => ({
  algorithm: 'ES256',
  keys: { private: ec.privateKey, public: { default: ec.publicKey }, ...keys },
});

const mail = { mailer: new Mailbox() };
const reset = {
  users: { entity: Member },
  mail,
  features: { passwordReset: true },
  passwordReset: { frontendUrl: RESET_URL },
};
const verify = {
  users: { entity: Member },
  mail,
  features: { emailVerification: true },
  emailVerification: { apiUrl: API_URL },
};
const passkeys = { features: { passkeys: true }, passkeys: { rpId: 'example.com', origins: ['https://example.com'] } };
const second = (admin: object): Options => ({ guards: { admin } });

// One row is one line.
// prettier-ignore
const MISTAKES: readonly Mistake[] = [
  // Secrets and keys
  ['no secret', options({ secret: undefined }), 'secret (SVC_SECRET) is missing', 'npx svc-auth secret --show'],
  ['no key in a service that only verifies', options({ verifyOnly: true, routes: false, secret: undefined }), 'keys has no key to verify tokens with', 'Let the issuer sign with ES256: npx svc-auth keygen'],
  ['no public key in a service that only verifies', options({ verifyOnly: true, routes: false, algorithm: 'ES256', keys: { active: 'k1' } }), 'keys has no key to verify tokens with', 'SVC_JWKS_URL to the key set of the issuer'],
  ['a short secret', options({ secret: 'x'.repeat(31) }), 'secret (SVC_SECRET) has 248 bits', 'npx svc-auth secret --show'],
  ['a short former secret', options({ previousSecrets: ['short'] }), 'previousSecrets (SVC_PREVIOUS_SECRETS) has 40 bits', 'npx svc-auth secret'],
  ['a word as secret', options({ secret: 'secret'.repeat(8) }), 'secret (SVC_SECRET) repeats a pattern', 'npx svc-auth secret'],
  ['the secret of an example', options({ secret: 'a-string-secret-at-least-256-bits-long' }), 'secret (SVC_SECRET)', 'Generate one'],
  ['one value for two purposes', options({ encryption: { key: SECRET } }), 'encryption.key (SVC_ENCRYPTION_KEY) has the value of secret', 'npx svc-auth secret'],
  ['an algorithm that is not supported', options({ algorithm: 'EdDSA' }), 'algorithm (SVC_ALGORITHM) is "EdDSA"', 'Use HS256, RS256 or ES256'],
  ['a short RSA key', options({ algorithm: 'RS256', keys: { private: weak.privateKey, public: { default: weak.publicKey } } }), 'RSA key of 1024 bits', 'npx svc-auth keygen'],
  ['a kid without a public key', options(es256({ active: 'k2' })), 'keys.active (SVC_ACTIVE_KID) is "k2"', 'Add it to keys.public'],
  ['a public key of another pair', options(es256({ public: { default: other.publicKey } })), 'keys.private and keys.public["default"] are not one pair', 'Publish the public key'],
  ['a key file that does not exist', options(es256({ private: '@/nowhere/key.pem' })), 'keys.private (SVC_PRIVATE_KEY) names no readable key file', 'Give a PEM or the path'],
  ['routes without a key that signs', options(es256({ private: undefined })), 'keys.private (SVC_PRIVATE_KEY) is missing', 'set verifyOnly to true'],
  ['a key pair and no root for refresh tokens', options({ ...es256({}), encryption: {}, secret: undefined }), 'The guard "api" has no secret', 'Set encryption.key'],
  ['a PEM instead of the key options', options({ keys: ec.privateKey }), 'keys must be an object', 'Its options: active, private'],
  // Options
  ['a mistyped option', options({ acessTtl: 60 }), 'acessTtl is not an option', 'nearest known name is accessTtl'],
  ['a mistyped feature', options({ features: { passkey: true } }), 'features.passkey is not an option', 'nearest known name is features.passkeys'],
  ['a negative lifetime', options({ accessTtl: -5 }), 'accessTtl (SVC_ACCESS_TTL) is -5', 'from 1 to 86400'],
  ['a word as a number', options({ refreshTtl: 'month' }), 'refreshTtl (SVC_REFRESH_TTL) is "month"', 'a whole number of seconds'],
  ['a word as a boolean', options({ features: { lockout: 'never' } }), 'features.lockout (SVC_FEATURE_LOCKOUT) is "never"', 'Use true or false'],
  ['a secret that is not awaited', options({ secret: Promise.resolve(SECRET) }), 'secret (SVC_SECRET) is a promise', 'await it'],
  ['a secret in a Buffer', options({ secret: Buffer.from(SECRET) }), 'secret (SVC_SECRET) is a Buffer', "Use a text, such as buffer.toString('hex')"],
  ['several secrets in one option', options({ secret: [SECRET] }), 'secret (SVC_SECRET) is an array', 'Use a text'],
  ['a number as secret', options({ secret: 12345678 }), 'secret (SVC_SECRET) is a number', 'Use a text'],
  ['a function as secret', options({ secret: () => SECRET }), 'secret (SVC_SECRET) is a function', 'Use a text'],
  ['a text as list of secrets', options({ previousSecrets: 'abc' }), 'previousSecrets (SVC_PREVIOUS_SECRETS) is a text', 'Use a list of texts'],
  ['a list with something else', options({ previousSecrets: [undefined] }), 'previousSecrets (SVC_PREVIOUS_SECRETS) has an entry that is undefined', 'Use a list of texts'],
  ['a number as path', options({ path: 5 }), 'path is a number', 'Use a text'],
  ['a number as path of a guard', options({ guards: { admin: { users: { entity: Operator }, path: 5 } } }), 'guards.admin.path is a number', 'Use a text'],
  ['a number as issuer', options({ issuer: 5 }), 'issuer (SVC_ISSUER) is a number', 'Use a text'],
  ['a URL object as audience', options({ audience: [new URL('https://api.acme.test')] }), 'audience (SVC_AUDIENCE) has an entry that is a URL object', 'Use a list of texts, such as url.href'],
  ['a number as username', options({ username: 5 }), 'username (SVC_USERNAME) is a number', 'Use a text'],
  ['a list of domains', options({ domain: ['a'] }), 'domain (SVC_DOMAIN) is an array', 'Use a text or null'],
  ['a key in its own form', options(es256({ private: createPrivateKey(ec.privateKey) })), 'keys.private (SVC_PRIVATE_KEY) is a KeyObject', 'Use a text, such as key.export('],
  ['keys that are not awaited', options({ keys: Promise.resolve({}) }), 'keys is a promise', 'await it'],
  ['a number that is not awaited', options({ accessTtl: Promise.resolve(60) }), 'accessTtl (SVC_ACCESS_TTL) is a promise', 'await it'],
  ['no users', options({ users: undefined }), 'users is missing', 'users: { entity: YourUser }'],
  ['the entity instead of the users', options({ users: Person }), 'users must be an object', 'Its options: entity, provider'],
  ['a username without a column', options({ username: 'login' }), 'has no column "login"', 'SVC_USERNAME'],
  ['an empty audience', options({ audience: [' '] }), 'audience (SVC_AUDIENCE) is empty', 'Set an audience'],
  ['a hook that is no function', options({ hooks: { abilities: ['orders.read'] } }), 'hooks.abilities', 'must be a function'],
  ['a store that does not exist', options({ denylistStore: 'redis' }), 'denylistStore names "redis"', 'SVC_DENYLIST_STORE'],
  // Stores
  ['a URL as cache', options({ cache: 'redis://localhost' }), 'cache is a URL', 'createClient({ url }).connect()'],
  ['a client that is not awaited', options({ cache: Promise.resolve({}) }), 'cache is a promise', 'Await it'],
  ['a client that is not connected', options({ cache: createClient() }), 'cache is a Redis client that is not connected', 'Await client.connect()'],
  ['a client of ioredis', options({ cache: { sendCommand: async () => null, defineCommand: () => null } }), 'cache is a client of ioredis', 'node-redis'],
  ['a text instead of the Redis options', options({ redis: 'redis://localhost' }), 'redis must be an object', 'Its options: url'],
  ['a Redis URL without a scheme', options({ redis: { url: 'localhost:6379' } }), 'redis.url (SVC_REDIS_URL) is not a URL of Redis', 'such as redis://localhost:6379'],
  ['a percent sign in the password of Redis', options({ redis: { url: 'redis://:50%off@localhost' } }), 'redis.url (SVC_REDIS_URL) has a percent sign', 'encodeURIComponent'],
  ['a name of a database of Redis', options({ redis: { url: 'redis://localhost/main' } }), 'redis.url (SVC_REDIS_URL) has a path that is not the number', 'redis://localhost:6379/0'],
  ['two stores', options({ redis: { url: 'redis://localhost' }, cache: {} }), 'redis.url (SVC_REDIS_URL) and cache are both set', 'Remove one of them'],
  ['no store in production', inProduction({}), 'Neither redis.url (SVC_REDIS_URL) nor cache is set', 'Set redis.url to the URL of your Redis'],
  ['a variable of Redis that the options overwrite', overwritten({ SVC_REDIS_URL: 'redis://localhost' }, { redis: { url: undefined } }), 'SVC_REDIS_URL is set, but the options do not have its value', 'they overwrite it'],
  ['a cache that is no store', options({ cache: { stores: [{ store: new Map() }] } }), 'cache is no store: it has no method get', 'Set redis.url'],
  ['a schedule where only tokens are verified', options({ verifyOnly: true, retention: { schedule: '1 1 * * *' } }), 'retention.schedule (SVC_PRUNE_SCHEDULE) is set', 'set it at the issuer'],
  // Production
  ['the issuer of the example', inProduction({ issuer: undefined }), 'issuer (SVC_ISSUER) is the example', 'set it to the URL of your API'],
  ['a variable that the options overwrite', overwritten({ SVC_ISSUER: 'https://a.example.org' }, { issuer: undefined }), 'SVC_ISSUER is set, but the options do not have its value', '...authOptionsFromEnv()'],
  ['the audience of the example', inProduction({ audience: undefined }), 'audience (SVC_AUDIENCE) has the example', 'set it to the URL of your API'],
  ['a cookie without TLS', inProduction({ cookie: { secure: false } }), 'cookie.secure (SVC_COOKIE_SECURE) is false', 'remove the option'],
  ['a wildcard origin in production', inProduction({ cookie: { origins: ['https://*.preview.example.com'] } }), 'cookie.origins (SVC_COOKIE_ORIGINS) has the wildcard', 'list each origin'],
  // Features
  ['passkeys without a domain', options({ ...passkeys, passkeys: { origins: ['https://example.com'] } }), 'passkeys.rpId (SVC_PASSKEY_RP_ID)', 'Set it to the domain'],
  ['passkeys without an origin', options({ ...passkeys, passkeys: { rpId: 'example.com' } }), 'passkeys.origins (SVC_PASSKEY_ORIGINS)', 'Set it to the exact origins'],
  ['a reset without a page', options({ ...reset, passwordReset: {} }), 'passwordReset.frontendUrl (SVC_RESET_URL) is missing', 'Set it to the page'],
  ['a page over plain HTTP', options({ ...reset, passwordReset: { frontendUrl: 'http://app.example.test/reset' } }), 'passwordReset.frontendUrl (SVC_RESET_URL)', 'http is allowed only for localhost'],
  ['a reset link without its token', options({ ...reset, passwordReset: { frontendUrl: () => RESET_URL } }), 'passwordReset.frontendUrl (SVC_RESET_URL) returns a link without its first argument', 'Set it to the page'],
  ['a reset without a mailer', options({ ...reset, mail: {} }), 'features.passwordReset needs mail.mailer', 'nodemailerMailer(transport, from)'],
  ['a transporter as mailer', options({ ...reset, mail: { mailer: { sendMail: async () => null } } }), 'mail.mailer has no method send', 'nodemailerMailer(transport, from)'],
  ['a verification without the URL of the API', options({ ...verify, emailVerification: {} }), 'emailVerification.apiUrl (SVC_VERIFY_API_URL) is missing', 'Set it to the external URL'],
  ['a verification without a key', options({ ...verify, encryption: {} }), 'features.emailVerification needs encryption.key (SVC_ENCRYPTION_KEY)', 'npx svc-auth secret'],
  ['a verification of users without such a column', options({ ...verify, users: { entity: Person } }), 'no verified email', 'a column emailVerifiedAt'],
  ['registration of users without a name', options({ features: { registration: true } }), 'the users of the guard "api" cannot be created', 'a column name'],
  ['registration with addresses that are not unique', options({ users: { entity: DuplicateEmails }, features: { registration: true } }), 'no unique index on DuplicateEmails.email', '@Index({ unique: true })'],
  ['a provider that cannot delete', options({ users: { provider: IdentifierProvider } }), 'features.accountDeletion is on', 'turn the feature off'],
  // Guards
  ['a second guard without users', options(second({ users: undefined })), 'guards.admin.users is missing', 'users: { entity: YourUser }'],
  ['two guards with one audience', options(second({ audience: 'https://api.example.com' })), '"admin" and "api" share the audience', 'Set guards.admin.audience'],
  ['two guards at one path', options(second({ path: 'auth' })), '"admin" and "api" are both mounted at "auth"', 'Set guards.admin.path'],
  ['a guard with the name of the default one', options({ guard: 'admin' }), 'guards.admin has the name of the default guard', 'Rename one'],
  ['a store of one guard', options(second({ redis: { url: 'redis://localhost' } })), 'guards.admin.redis has no effect', 'Set it beside guards'],
  // Environment
  ['an invalid duration', env({ SVC_ACCESS_TTL: '15min' }), 'accessTtl (SVC_ACCESS_TTL) is "15min"', 'ms, s, m, h, d'],
  ['a negative number', env({ SVC_LEEWAY: '-1' }), 'leeway (SVC_LEEWAY) is "-1"', 'from 0 to 300'],
  ['a wide window of codes', env({ SVC_2FA_WINDOW: '2' }), 'twoFactor.window (SVC_2FA_WINDOW) is "2"', 'from 0 to 1'],
  ['a wide window of codes at a guard', options(second({ twoFactor: { window: 2 } })), 'guards.admin.twoFactor.window (SVC_ADMIN_2FA_WINDOW) is 2', 'from 0 to 1'],
  ['a fork threshold of one', env({ SVC_FORK_THRESHOLD: '1' }), 'forkThreshold (SVC_FORK_THRESHOLD) is "1"', 'from 2 to'],
  ['a lockout after more than 100 failures', env({ SVC_LOCKOUT_MAX_ATTEMPTS: '101' }), 'lockout.maxAttempts (SVC_LOCKOUT_MAX_ATTEMPTS) is "101"', 'from 1 to 100'],
  ['an answer that is no boolean', env({ SVC_COOKIE_MODE: 'cookie' }), 'cookieMode (SVC_COOKIE_MODE) is "cookie"', 'true or false'],
  ['an algorithm in lower case', env({ SVC_ALGORITHM: 'hs256' }), 'algorithm (SVC_ALGORITHM) is "hs256"', 'Use HS256'],
  ['a blank secret', env({ SVC_SECRET: ' ' }), 'secret (SVC_SECRET) is missing', 'npx svc-auth secret'],
  ['a slash in the password of Redis', env({ SVC_REDIS_URL: 'redis://app:6379/hidden@localhost' }), 'redis.url (SVC_REDIS_URL) has a path that is not the number', 'a slash is %2F'],
  ['a host name as Redis', env({ SVC_REDIS_URL: 'redis' }), 'redis.url (SVC_REDIS_URL) is not a URL of Redis', 'such as redis://localhost:6379'],
  ['a key set in an issuer', env({ SVC_ALGORITHM: 'ES256', SVC_JWKS_URL: 'https://api.acme.test/auth/jwks' }), 'keys.jwks (SVC_JWKS_URL) is for services that only verify', 'Set verifyOnly to true'],
  ['a broker that is not declared', env({ SVC_FEATURE_PASSWORD_RESET: 'on', SVC_RESET_BROKER: 'staff' }), 'passwordReset.broker (SVC_RESET_BROKER) names "staff"', 'brokers: { "staff": {} }'],
  ['an origin with a path', env({ SVC_COOKIE_ORIGINS: 'https://app.example.com/' }), 'cookie.origins (SVC_COOKIE_ORIGINS) has "https://app.example.com/"', 'such as https://app.example.com'],
  ['a wildcard over http', env({ SVC_COOKIE_ORIGINS: 'http://*.preview.example.com' }), 'cookie.origins (SVC_COOKIE_ORIGINS) has "http://*.preview.example.com"', 'such as https://app.example.com'],
  ['a wildcard with a port', env({ SVC_COOKIE_ORIGINS: 'https://*.preview.example.com:8443' }), 'cookie.origins (SVC_COOKIE_ORIGINS) has "https://*.preview.example.com:8443"', 'such as https://app.example.com'],
  ['two wildcards', env({ SVC_COOKIE_ORIGINS: 'https://*.*.example.com' }), 'cookie.origins (SVC_COOKIE_ORIGINS) has "https://*.*.example.com"', 'such as https://app.example.com'],
  ['a wildcard in a label', env({ SVC_COOKIE_ORIGINS: 'https://pr-*.example.com' }), 'cookie.origins (SVC_COOKIE_ORIGINS) has "https://pr-*.example.com"', 'such as https://app.example.com'],
  ['a wildcard in the middle', env({ SVC_COOKIE_ORIGINS: 'https://a.*.example.com' }), 'cookie.origins (SVC_COOKIE_ORIGINS) has "https://a.*.example.com"', 'such as https://app.example.com'],
  ['a wildcard for everything', env({ SVC_COOKIE_ORIGINS: 'https://*' }), 'cookie.origins (SVC_COOKIE_ORIGINS) has "https://*"', 'such as https://app.example.com'],
  ['a wildcard of an address', env({ SVC_COOKIE_ORIGINS: 'https://*.0.0.1' }), 'cookie.origins (SVC_COOKIE_ORIGINS) has "https://*.0.0.1"', 'such as https://app.example.com'],
  ['a wildcard below a public suffix', env({ SVC_COOKIE_ORIGINS: 'https://*.vercel.app' }), 'has the wildcard "https://*.vercel.app"', 'Use a wildcard below your own domain'],
  ['a wildcard for passkeys', options({ ...passkeys, passkeys: { rpId: 'example.com', origins: ['https://*.example.com'] } }), 'passkeys.origins (SVC_PASSKEY_ORIGINS) has "https://*.example.com"', 'Use scheme, host and port'],
  ['a wildcard in a mailed link', options({ ...reset, passwordReset: { frontendUrl: 'https://*.example.com/reset' } }), 'passwordReset.frontendUrl (SVC_RESET_URL) is "https://*.example.com/reset", which has a wildcard', 'Set it to the page'],
  ['a header that is in use', env({ SVC_CONFIRM_HEADER: 'Authorization' }), 'confirm.header (SVC_CONFIRM_HEADER) is "Authorization"', 'such as X-Svc-Confirmation'],
  ['a password of six characters', env({ SVC_PASSWORD_MIN_LENGTH: '6' }), 'passwords.minLength (SVC_PASSWORD_MIN_LENGTH) is "6"', 'from 8 to 255'],
  // Wiring
  ['no options', async () => AuthModule.forRoot(undefined as never), 'AuthModule.forRoot got undefined', 'AuthModule.forRoot({'],
  ['a function that was not called', async () => AuthModule.forRoot(authOptionsFromEnv as never), 'AuthModule.forRoot got a function', '...authOptionsFromEnv()'],
  ['a factory of forRoot', imports(() => [orm(), AuthModule.forRoot({ users: { entity: Person }, useFactory: () => ({}) } as never)]), 'useFactory is not an option of AuthModule.forRoot', 'AuthModule.forRootAsync'],
  ['no factory', async () => AuthModule.forRootAsync({ users: { entity: Person } } as never), 'AuthModule.forRootAsync got no useFactory', 'a function that returns the options'],
  ['a factory that returns nothing', imports(() => [orm(), AuthModule.forRootAsync({ users: { entity: Person }, useFactory: () => undefined as never }), ]), 'useFactory of AuthModule.forRootAsync returned undefined', 'Return an object'],
  ['features from the factory', imports(() => [orm(), AuthModule.forRootAsync({ users: { entity: Person }, useFactory: () => ({ secret: SECRET, features: {} }) }), ]), 'useFactory returned "features"', 'Pass it to forRootAsync beside useFactory'],
  ['AuthModule twice', imports(() => [orm(), AuthModule.forRoot(hostOptions({})), AuthModule.forRoot(hostOptions({}))]), 'AuthModule is imported more than once', 'Import it once'],
  ['a guarded route without AuthModule', imports(() => [], [route(Authenticated())]), 'AuthModule is not imported', 'Import AuthModule.forRoot() in the root module'],
  ['a test of one controller without AuthModule', () => Test.createTestingModule({ controllers: [route(Authenticated())] }).compile(), 'AuthModule is not imported', 'useMocker'],
  ['no data source', imports(() => [AuthModule.forRoot(hostOptions({}))]), 'No TypeORM DataSource of PostgreSQL', 'Import TypeOrmModule.forRoot()'],
  ['a data source of MySQL', imports(() => [mysql(), AuthModule.forRoot(hostOptions({}))]), 'type "mysql", and @svc/auth needs PostgreSQL', "type: 'postgres'"],
  ['a data source of MySQL that is not connected', imports(() => [TypeOrmModule.forRoot(away('mysql')), AuthModule.forRoot(hostOptions({}))]), 'type "mysql", and @svc/auth needs PostgreSQL', "Set type: 'postgres'"],
  ['a data source of SQLite from a factory', imports(() => [TypeOrmModule.forRootAsync({ useFactory: async () => (await tick(), away('better-sqlite3')) }), AuthModule.forRoot(hostOptions({}))]), 'type "better-sqlite3", and @svc/auth needs PostgreSQL', 'add a second data source'],
  ['a data source without the user entity', imports(() => [orm([...authEntities]), AuthModule.forRoot(hostOptions({}))]), 'Operator is not an entity of this data source', 'Add it to the entities of TypeOrmModule.forRoot()'],
  ['a data source without authEntities', imports(() => [orm([Person, Operator]), AuthModule.forRoot(hostOptions({}))]), 'The data source has no entities Session', 'Add ...authEntities to its entities'],
  ['a class that is no entity', options({ users: { entity: class Customer {} } }), 'Customer is not an entity of this data source', 'Its class needs @Entity()'],
  ['a guard that is not declared', options({}, [route(Authenticated('staff'))]), 'There is no guard "staff". Declared: admin, api', "Add it to AuthModule's guards"],
  ['a gate without an ability', async () => route(Abilities(...([] as unknown as [string]))), 'An ability gate names no ability', "@Abilities('orders.read')"],
  ['a limiter that is not declared', options({}, [route(Throttled('exports'))]), '"exports"', 'rateLimits.limiters'],
  ['a gate for a state that is not known', options({}, [route(RequireVerifiedEmail(), Authenticated())]), 'OrdersController.list', 'emailVerifiedAt'],
];

/** Second attempts of data sources that could not be connected. Their applications are refused before. */
const secondAttempts: Promise<void>[] = [];

/** Options of a data source that cannot be connected: TypeORM tries it again a second later. */
function away(type: 'mysql' | 'better-sqlite3'): TypeOrmModuleOptions {
  let end: (() => void) | undefined;
  const toRetry = (): boolean => {
    if (end) return (end(), false);
    secondAttempts.push(new Promise((ended) => (end = ended)));
    return true;
  };
  const retries = { retryAttempts: 3, retryDelay: 1000, toRetry };
  return { type, database: 'none', autoLoadEntities: true, ...retries } as TypeOrmModuleOptions;
}

/** A module with a data source that is not PostgreSQL. */
function mysql(): DynamicModule {
  const value = { options: { type: 'mysql' }, entityMetadatas: [], getRepository: () => ({}) };
  const source = { provide: DataSource, useValue: value };
  return { module: class Other {}, global: true, providers: [source], exports: [source] };
}

describe('a mistake is refused at the start, by an error that names the thing and the cure:', () => {
  it('there are sixty of them, or more', () => {
    expect(MISTAKES.length).toBeGreaterThanOrEqual(60);
    expect(new Set(MISTAKES.map(([mistake]) => mistake)).size).toBe(MISTAKES.length);
  });

  it.each(MISTAKES)('%s', async (_, begin, thing, cure) => {
    const error: Error = await begin().then(
      () => new Error('it starts'),
      (e) => e,
    );
    expect(error.message).toContain(thing);
    expect(error.message).toContain(cure);
    expect(error.name).toBe('AuthConfigError');
  });
});
