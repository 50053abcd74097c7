import {
  Controller,
  type DynamicModule,
  Get,
  Logger,
  Module,
  type ModuleMetadata,
  type OnModuleInit,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { createClient, createCluster } from '@redis/client';
import {
  AccessTokenGuard,
  Authenticated,
  AuthModule,
  type AuthModuleOptions,
  SecurityStore,
  authEntities,
  authMigrations,
  authOptionsFromEnv,
} from '@svc/auth';
import { TypeOrmModule } from '@nestjs/typeorm';
import { generateKeyPairSync } from 'node:crypto';
import {
  createClient as createClient5,
  createClientPool,
  createCluster as createCluster5,
  createSentinel,
} from 'redis-5';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { type AdapterOptions, startHost } from '../support/adapter';
import { createDatabase } from '../support/database';
import { HostModule, SECRET, hostOptions } from '../support/host.module';
import { MinimalProvider } from '../support/incomplete-users';
import { PASSKEYS } from '../support/passkeys';
import { Operator, Person } from '../support/user-entities';
import { RedisServer } from '../support/redis';
import { describeWithOwnRedis } from '../support/with-redis';

const pem = (key: { export(o: object): string | Buffer }, type: string): string =>
  String(key.export({ type, format: 'pem' }));
const pair = (type: 'rsa' | 'ec', option: object) => {
  const { publicKey, privateKey } = generateKeyPairSync(type as 'rsa', option as { modulusLength: number });
  return { public: pem(publicKey, 'spki'), private: pem(privateKey, 'pkcs8'), key: privateKey };
};

const CreateSvcSessions = authMigrations[0]!;

class NullStore extends SecurityStore {
  readonly shared = false;
  scan = async function* () {};
  getMany = async (keys: readonly string[]) => keys.map(() => null);
  setMany = async () => undefined;
  add = async () => true;
  take = async () => null;
  advance = async () => true;
  count = async () => ({ admitted: true, buckets: [] });
  settle = async () => undefined;
}

/** A store that declares itself shared. */
const SHARED = Object.assign(new NullStore(), { shared: true });

let database: Awaited<ReturnType<typeof createDatabase>>;

beforeAll(async () => (database = await createDatabase()));
afterAll(() => database.drop());

/** What production needs besides the options of the test host. */
const PRODUCTION = { issuer: 'https://api.acme.test', audience: 'https://api.acme.test' };

async function start(options: Partial<AuthModuleOptions>): Promise<void> {
  const app = await NestFactory.create(HostModule.with(database.url, options), { logger: false, abortOnError: false });
  await app.init();
  await app.close();
}

describe('the module refuses to start', () => {
  const rsa = pair('rsa', { modulusLength: 2048 });
  const weak = pair('rsa', { modulusLength: 1024 });
  const ec = pair('ec', { namedCurve: 'P-256' });
  const locked = pem(
    { export: () => ec.key.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'right' }) },
    'pkcs8',
  );

  const asymmetric = (algorithm: 'RS256' | 'ES256', keys: object): Partial<AuthModuleOptions> => ({ algorithm, keys });
  const sound = asymmetric('ES256', { private: ec.private, public: { default: ec.public } });
  const refused: [string, Partial<AuthModuleOptions>, RegExp][] = [
    ['without a secret', { secret: undefined }, /^secret \(SVC_SECRET\) is missing.*svc:secret/],
    ['with a secret of 248 bits', { secret: 'x'.repeat(31) }, /^secret has 248 bits.*svc:secret/],
    ['with a short former secret', { previousSecrets: ['short'] }, /^previousSecrets has 40 bits/],
    [
      'with a short secret of an extra guard',
      { guards: { admin: { secret: 'x' } } },
      /^guards\.admin\.secret has 8 bits/,
    ],
    [
      'with an unknown algorithm',
      { algorithm: 'HS512' as never },
      /algorithm \(SVC_ALGORITHM\) is "HS512"\. Use HS256/,
    ],
    [
      'with an RSA key under 2048 bits',
      asymmetric('RS256', { private: weak.private, public: { default: weak.public } }),
      /RSA key of 1024 bits/,
    ],
    [
      'with an active kid without a public key',
      asymmetric('ES256', { active: 'k2', private: ec.private, public: { k1: ec.public } }),
      /keys\.active.*"k2".*keys\.public/,
    ],
    [
      'with an empty active kid',
      asymmetric('ES256', { active: '', private: ec.private, public: { k1: ec.public } }),
      /keys\.active/,
    ],
    [
      'with a key that does not match the algorithm',
      asymmetric('RS256', { private: ec.private, public: { default: ec.public } }),
      /no readable RS256 key/,
    ],
    [
      'with a public key of another pair',
      asymmetric('ES256', { private: ec.private, public: { default: pair('ec', { namedCurve: 'P-256' }).public } }),
      /not one pair/,
    ],
    [
      'with a wrong passphrase',
      asymmetric('ES256', { private: locked, passphrase: 'wrong', public: { default: ec.public } }),
      /keys\.passphrase \(SVC_KEY_PASSPHRASE\) is missing or wrong/,
    ],
    [
      'without a passphrase',
      asymmetric('ES256', { private: locked, public: { default: ec.public } }),
      /keys\.passphrase/,
    ],
    [
      'with a missing private key file',
      asymmetric('RS256', { private: '@/nowhere/key.pem', public: { default: rsa.public } }),
      /keys\.private names no readable key file/,
    ],
    [
      'with routes but no private key',
      asymmetric('ES256', { public: { default: ec.public } }),
      /keys\.private \(SVC_PRIVATE_KEY\) is missing.*routes/,
    ],
    [
      'with a key pair and neither an encryption key nor a secret',
      { ...sound, encryption: {}, secret: undefined },
      /^The guard "api" has no secret from which refresh tokens can be derived\. Set encryption\.key.*svc:secret/m,
    ],
    [
      'with a key pair of an extra guard and nothing else of its own',
      { encryption: {}, guards: { admin: { ...sound, secret: '' } } },
      /^The guard "admin" has no secret from which refresh tokens can be derived/,
    ],
    [
      'with a key pair and a short secret',
      { ...sound, encryption: {}, secret: 'x'.repeat(31) },
      /^secret \(SVC_SECRET\) is shorter than 32 bytes, and refresh tokens are derived from it/,
    ],
    [
      'with both own keys and a key set',
      asymmetric('ES256', {
        private: ec.private,
        public: { default: ec.public },
        jwks: 'https://me:hidden@example.com',
      }),
      /^keys\.jwks \(SVC_JWKS_URL\) cannot be combined(?!.*hidden)/,
    ],
    ['with an empty audience', { audience: ' , '.split(',') }, /^audience \(SVC_AUDIENCE\) is empty/m],
    [
      'with an audience of two guards',
      { guards: { admin: { audience: ['https://x', 'https://api.example.com'] } } },
      /"admin" and "api" share the audience https:\/\/api\.example\.com.*guards\.admin\.audience/,
    ],
    [
      'with two guards at one path',
      { guards: { admin: { path: '/auth/' } } },
      /both mounted at "auth".*guards\.admin\.path/,
    ],
    ['with two guards at one path in different case', { guards: { admin: { path: 'AUTH' } } }, /both mounted at/],
    [
      'with a cookie of two guards',
      { guards: { admin: { cookie: { refreshName: '__Host-refresh' } } } },
      /share the cookie __Host-refresh.*guards\.admin\.cookie\.refreshName/,
    ],
    ['with a guard named like the default one', { guard: 'admin' }, /guards\.admin has the name of the default guard/],
    ['with a guard name that is not a valid cookie name', { guard: 'a b;c' }, /guard name "a b;c"/],
    ['without users', { users: undefined }, /^users is missing\..*entity/m],
    [
      'with an extra guard without users of its own',
      { guards: { admin: { users: undefined } } },
      /guards\.admin\.users is missing/,
    ],
    [
      'with a username without a column in the table',
      { username: 'login' },
      /(Person|Operator) has no column "login".*SVC_USERNAME/,
    ],
    [
      'with an unknown denylist store',
      { denylistStore: 'redis' },
      /denylistStore names "redis", but stores has no entries/,
    ],
    [
      'with a secret that can be guessed',
      { secret: 'secret'.repeat(8) },
      /^secret \(SVC_SECRET\) repeats a pattern(?!.*secretsecret).*svc:secret/,
    ],
    [
      'with one value as secret and as encryption key',
      { encryption: { key: SECRET } },
      /^encryption\.key \(SVC_ENCRYPTION_KEY\) has the value of secret.*svc:secret/,
    ],
    [
      'with a lifetime out of its range',
      { accessTtl: -5 },
      /^accessTtl \(SVC_ACCESS_TTL\) is -5\. Use .* from 1 to 86400/,
    ],
    [
      'with a number that is none',
      { refreshTtl: 'month' as never },
      /^refreshTtl \(SVC_REFRESH_TTL\) is "month"\. Use a whole number of seconds/,
    ],
    [
      'with a text instead of a boolean',
      { features: { lockout: 'never' as never } },
      /^features\.lockout \(SVC_FEATURE_LOCKOUT\) is "never"\. Use true or false/,
    ],
    [
      'with an unknown option',
      { acessTtl: 60 } as object,
      /^acessTtl is not an option\. The nearest known name is accessTtl\./,
    ],
    [
      'with an unknown feature',
      { features: { passkey: true } as object },
      /^features\.passkey is not an option\. The nearest known name is features\.passkeys\./,
    ],
    [
      'with several of these, and names all of them',
      { accessTtl: 0, leeway: 1e9, cookieMod: true } as object,
      /^accessTtl .*\nleeway .*\ncookieMod is not an option/,
    ],
    [
      'with passkeys without a relying party id',
      { features: { passkeys: true }, passkeys: { origins: ['https://example.com'] } },
      /^features\.passkeys needs passkeys\.rpId \(SVC_PASSKEY_RP_ID\)/,
    ],
    [
      'with passkeys without an origin',
      { features: { passkeys: true }, passkeys: { rpId: 'example.com' } },
      /^features\.passkeys needs passkeys\.origins \(SVC_PASSKEY_ORIGINS\)/,
    ],
  ];

  it.each(refused)('%s, and names the correction', async (_, options, message) => {
    const admin = {
      path: 'admin/auth',
      audience: 'https://admin.example.com',
      users: { entity: Operator },
      ...options.guards?.admin,
    };
    const given = { users: { entity: Person }, ...options, guards: { admin } };
    await expect(start(given)).rejects.toMatchObject({
      name: 'AuthConfigError',
      message: expect.stringMatching(message),
    });
  });

  it('unless a key pair has an encryption key or a secret beside it', async () => {
    await start(sound);
    await start({ ...sound, encryption: {}, secret: SECRET });
  });

  it('without a secret in the error message', async () => {
    const error: Error = await start({ secret: 'hunter2-hunter2' }).then(
      () => new Error('started'),
      (e) => e,
    );
    expect(error.message).toContain('120 bits');
    expect(error.message).not.toContain('hunter2');
  });

  describe('in production', () => {
    const before = process.env.NODE_ENV;
    beforeAll(() => (process.env.NODE_ENV = 'production'));
    afterAll(() => (process.env.NODE_ENV = before));

    it.each([
      ['no store', undefined],
      ['a cache in memory', { stores: [{ store: new Map() }] }],
      ['a null store', new NullStore()],
    ])('with %s', async (_, cache) => {
      await expect(start({ ...PRODUCTION, cache })).rejects.toThrow(
        /^cache is.*Set it to a cache-manager cache on Redis/,
      );
    });

    it.each(['Production', 'prod'])('also if NODE_ENV is %s', async (name) => {
      process.env.NODE_ENV = name;
      await expect(start({ ...PRODUCTION })).rejects.toThrow(/^cache is not set/);
      process.env.NODE_ENV = 'production';
    });

    it('unless the store declares itself shared', async () => {
      await start({ ...PRODUCTION, cache: SHARED });
    });

    it.each<[string, Partial<AuthModuleOptions>, RegExp]>([
      [
        'the example issuer',
        { issuer: undefined },
        /^issuer \(SVC_ISSUER\) is the example https:\/\/api\.example\.com/,
      ],
      ['the example audience', { audience: undefined }, /^audience \(SVC_AUDIENCE\) has the example/],
      ['a cookie without TLS', { cookie: { secure: false } }, /^cookie\.secure \(SVC_COOKIE_SECURE\) is false/],
    ])('with %s', async (_, options, message) => {
      await expect(start({ ...PRODUCTION, cache: SHARED, ...options })).rejects.toThrow(message);
    });
  });

  it.each([
    ['features', { features: { rotation: false } }],
    ['guards.admin.domain', { guards: { admin: { domain: 'x' } } }],
    ['guards.admin.features', { guards: { admin: { features: { denylist: false } } } }],
    ['guards.other', { guards: { other: { secret: SECRET } } }],
  ])('with %s from a factory, because its value is needed earlier', async (name, values) => {
    const module = AuthModule.forRootAsync({
      users: { entity: Person },
      guards: { admin: { path: 'admin/auth', audience: 'https://admin.example.com', users: { entity: Operator } } },
      useFactory: () => ({ secret: SECRET, ...values }) as object,
    });
    const orm = TypeOrmModule.forRoot({
      type: 'postgres',
      url: database.url,
      retryAttempts: 0,
      autoLoadEntities: true,
    });
    const host = { module: class Host {}, imports: [orm, module] };
    await expect(NestFactory.createApplicationContext(host, { logger: false, abortOnError: false })).rejects.toThrow(
      `useFactory returned "${name}"`,
    );
  });
});

const HIDDEN = ['--rename-command', 'CONFIG', ''];

describeWithOwnRedis('in production, a Redis', () => {
  const before = process.env.NODE_ENV;
  let redis: RedisServer;

  beforeAll(() => (process.env.NODE_ENV = 'production'));
  afterEach(() => redis.stop());
  afterAll(() => (process.env.NODE_ENV = before));

  async function startOn(...settings: string[]): Promise<void> {
    redis = await RedisServer.start(...settings);
    const { cache, client } = await redisCache(redis.url);
    try {
      await start({ ...PRODUCTION, cache });
    } finally {
      await client.disconnect();
    }
  }

  it.each(['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'volatile-lru', 'volatile-random', 'volatile-ttl'])(
    'that evicts by %s is refused, and the error names the correction',
    async (policy) => {
      await expect(startOn('--maxmemory-policy', policy)).rejects.toThrow(
        new RegExp(`maxmemory-policy of Redis is ${policy}.*Set maxmemory-policy to noeviction`),
      );
    },
  );

  it('that evicts is refused even if it forbids CONFIG, as managed services do', async () => {
    await expect(startOn('--maxmemory-policy', 'allkeys-lru', ...HIDDEN)).rejects.toThrow(/is allkeys-lru/);
  });

  it.each([
    ['keeps everything', []],
    ['keeps everything and forbids CONFIG', HIDDEN],
    ['forbids CONFIG and INFO', [...HIDDEN, '--rename-command', 'INFO', '']],
  ])('that %s is accepted', async (_, settings) => {
    await expect(startOn(...settings)).resolves.toBeUndefined();
  });

  it('that evicts is accepted in development', async () => {
    process.env.NODE_ENV = 'test';
    await expect(startOn('--maxmemory-policy', 'allkeys-lru')).resolves.toBeUndefined();
    process.env.NODE_ENV = 'production';
  });
});

describeWithOwnRedis('a cache that connects at its first use, as @keyv/redis does,', () => {
  it.each([
    ['4', createClient],
    ['5', createClient5],
  ] as [string, typeof createClient][])('is connected at boot: node-redis %s', async (_, create) => {
    const redis = await RedisServer.start();
    const client = create({ url: redis.url });
    try {
      await start({ cache: { stores: [{ store: { client } }] } });
      expect(client.isOpen).toBe(true);
      expect(await client.keys('svc:*')).not.toEqual([]);
    } finally {
      if (client.isOpen) await client.disconnect();
      await redis.stop();
    }
  });
});

describe('the option cache', () => {
  const URL_OF_REDIS = 'redis://user:hidden@127.0.0.1:1';

  /** A client of ioredis, as far as it is like one of node-redis. */
  class IoRedis {
    readonly status = 'ready';
    sendCommand = async () => undefined;
    defineCommand = () => undefined;
  }

  it.each<[string, () => unknown, RegExp]>([
    ['a URL', () => URL_OF_REDIS, /^cache is a URL\. Set it to a connected client of node-redis/],
    ['a URL object', () => new URL(URL_OF_REDIS), /^cache is a URL/],
    ['a promise of a client', () => Promise.resolve({}), /^cache is a promise\. Await it/],
    [
      'a client of node-redis 4 that was never connected',
      () => createClient(),
      /^cache is a Redis client that is not connected/,
    ],
    [
      'a client of node-redis 5 that was never connected',
      () => createClient5(),
      /^cache is a Redis client that is not connected/,
    ],
    ['a pool that was never connected', () => createClientPool(), /^cache is a Redis client that is not connected/],
    [
      'a sentinel object that was never connected',
      () => createSentinel({ name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] }),
      /^cache is a Redis client that is not connected/,
    ],
    [
      'a cache whose client cannot be connected',
      () => ({ stores: [{ store: { client: createClient({ url: URL_OF_REDIS }) } }] }),
      /^cache has a Redis client that could not be connected within 5 seconds\./,
    ],
    [
      'a cluster client of node-redis 4',
      () => createCluster({ rootNodes: [{ url: URL_OF_REDIS }] }),
      /^cache is a client of Redis Cluster, which is not supported/,
    ],
    [
      'a cluster client of node-redis 5',
      () => createCluster5({ rootNodes: [{ url: URL_OF_REDIS }] }),
      /^cache is a client of Redis Cluster, which is not supported/,
    ],
    ['a client of ioredis', () => new IoRedis(), /^cache is a client of ioredis/],
    ['a cache on ioredis', () => ({ store: { client: new IoRedis() } }), /^cache is a client of ioredis/],
  ])('is refused, in development too, if it is %s', async (_, cache, message) => {
    const error: Error = await start({ cache: cache() as object }).then(
      () => new Error('started'),
      (e) => e,
    );
    expect(error).toMatchObject({ name: 'AuthConfigError', message: expect.stringMatching(message) });
    expect(error.message).not.toContain('hidden');
  });
});

describe('an application', () => {
  const create = (imports: NonNullable<ModuleMetadata['imports']>, controllers: Type[] = []) =>
    NestFactory.create({ module: class Host {}, imports, controllers }, { logger: false, abortOnError: false });
  const orm = () =>
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: database.url,
      entities: [...authEntities, Person, Operator],
      retryAttempts: 0,
    });

  @Controller('orders')
  class OrdersController {
    @Get()
    @Authenticated()
    list() {
      return [];
    }
  }

  @Controller('reports')
  class ReportsController {
    @Get()
    @UseGuards(AccessTokenGuard)
    list() {
      return [];
    }
  }

  const GUARDED: [string, Type<{ list(): unknown[] }>][] = [
    ['a decorator', OrdersController],
    ['a guard class', ReportsController],
  ];

  it('that imports AuthModule twice does not start', async () => {
    const twice = [orm(), AuthModule.forRoot(hostOptions({})), AuthModule.forRoot(hostOptions({}))];
    await expect(create(twice)).rejects.toMatchObject({
      name: 'AuthConfigError',
      message: expect.stringMatching(/^AuthModule is imported more than once.*Import it once/),
    });
  });

  it('may import the same AuthModule in several modules', async () => {
    const auth = AuthModule.forRoot(hostOptions({}));
    const app = await create([orm(), auth, { module: class Orders {}, imports: [auth] }]);
    await app.init();
    await app.close();
  });

  it.each(GUARDED)('that does not import AuthModule does not start with guarded routes: %s', async (_, controller) => {
    await expect(create([], [controller])).rejects.toMatchObject({
      name: 'AuthConfigError',
      message: expect.stringMatching(/AuthModule is not imported\. Import AuthModule\.forRoot\(\) in the root module/),
    });
  });

  it('reports the error of AuthModule, and not that it is missing, if its options are wrong', async () => {
    const auth = AuthModule.forRoot(hostOptions({ accessTtl: 0 }));
    await expect(create([orm(), auth], [OrdersController])).rejects.toThrow(/^accessTtl \(SVC_ACCESS_TTL\) is 0/);
  });

  it.each(GUARDED)(
    'of a test with one controller and without AuthModule is not compiled: %s',
    async (_, controller) => {
      await expect(Test.createTestingModule({ controllers: [controller] }).compile()).rejects.toMatchObject({
        name: 'AuthConfigError',
        message: expect.stringMatching(
          /A test of single controllers imports it, too, or mocks the guards with useMocker/,
        ),
      });
      const mocked = await Test.createTestingModule({ controllers: [controller] })
        .useMocker(() => ({}))
        .compile();
      expect(mocked.get(controller).list()).toEqual([]);
      // The guard itself is real: a request to the route reaches a mock, and is refused.
      const app = await mocked.createNestApplication({ logger: false }).init();
      const path = controller === OrdersController ? '/orders' : '/reports';
      await request(app.getHttpServer()).get(path).expect(500);
      await app.close();
    },
  );

  it.each(['Realms', 'GateRefusalLog', 'TransportErrors', 'Symbol(AUTH_CONFIG)'])(
    'of a test that mocks all but %s is not compiled',
    async (missing) => {
      const nameOf = (token: unknown): string => (typeof token === 'function' ? token.name : String(token));
      const testing = Test.createTestingModule({ controllers: [OrdersController] }).useMocker((token) =>
        nameOf(token) === missing ? undefined : {},
      );
      await expect(testing.compile()).rejects.toMatchObject({
        name: 'AuthConfigError',
        message: expect.stringMatching(/AuthModule is not imported/),
      });
    },
  );

  /** A module with a data source of the host that is not PostgreSQL, or is a mock. */
  const sourceOf = (value: object): DynamicModule => {
    const source = { provide: DataSource, useValue: value };
    return { module: class Other {}, global: true, providers: [source], exports: [source] };
  };

  it.each([
    ['mysql', 'routes', { users: { provider: MinimalProvider } }],
    ['sqlite', 'users in a table', { routes: false, users: { entity: Person } }],
    ['cockroachdb', 'routes', {}],
  ])('whose data source is of the type %s does not start with %s', async (type, _, options) => {
    await expect(
      create([
        sourceOf({ options: { type }, entityMetadatas: [], getRepository: () => ({}) }),
        AuthModule.forRoot(hostOptions(options)),
      ]),
    ).rejects.toMatchObject({
      name: 'AuthConfigError',
      message: expect.stringContaining(`type "${type}", and @svc/auth needs PostgreSQL`),
    });
  });

  it.each([{ options: { type: 'mysql' } }, {}])(
    'that only verifies starts beside the data source %j',
    async (source) => {
      const auth = AuthModule.forRoot({ routes: false, secret: SECRET, users: { provider: MinimalProvider } });
      const app = await create([sourceOf(source), auth]);
      await app.init();
      await app.close();
    },
  );

  it('that read the environment logs every unknown variable with the nearest known one, and starts', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    jest.replaceProperty(process, 'env', {
      ...process.env,
      SVC_COOKIE_MOD: 'x',
      SVC_ADMIN_ISUER: 'x',
      SVC_ADMIN_ISSUER: '',
    });
    await start(authOptionsFromEnv());
    const lines = warn.mock.calls.map(([text]) => String(text)).filter((text) => text.includes('SVC_'));
    expect(lines).toEqual([
      'SVC_COOKIE_MOD is not a variable of @svc/auth, and has no effect. The nearest known name is SVC_COOKIE_MODE.',
      'SVC_ADMIN_ISUER is not a variable of @svc/auth, and has no effect. The nearest known name is SVC_ADMIN_ISSUER.',
    ]);
  });
});

describe('the ids of passkeys in paths', () => {
  it.each<[string, AdapterOptions, string[]]>([
    ['the defaults of Fastify', { fastify: true, maxParamLength: undefined }, ['100']],
    ['a limit on Fastify that is too low', { fastify: true, maxParamLength: 1363 }, ['1363']],
    ['the limit on Fastify that the ids need', { fastify: true, maxParamLength: 1364 }, []],
    ['Express', { fastify: false }, []],
  ])('are the subject of a warning at boot with %s', async (_, adapter, lengths) => {
    const own = await createDatabase();
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    try {
      await (await startHost(HostModule.with(own.url, PASSKEYS), adapter)).close();
    } finally {
      await own.drop();
    }
    const lines = warn.mock.calls.map(([text]) => String(text)).filter((text) => text.includes('maxParamLength'));
    expect(lines).toEqual(
      lengths.map(
        (length) =>
          `Fastify answers 414 to path parameters of more than ${length} characters, and ids of passkeys may have 1364: ` +
          'such a passkey can be added, but neither renamed nor deleted. ' +
          'Set new FastifyAdapter({ routerOptions: { maxParamLength: 1364 } }).',
      ),
    );
  });
});

describe('a database without all tables and columns', () => {
  it('is refused at boot, with everything that is missing and the migrations that create it', async () => {
    const own = await createDatabase();
    const source = await new DataSource({ type: 'postgres', url: own.url, installExtensions: false }).initialize();
    const startOn = async (options: Partial<AuthModuleOptions> = {}): Promise<void> => {
      const app = await NestFactory.create(HostModule.with(own.url, options), { logger: false, abortOnError: false });
      await app.init().finally(() => app.close());
    };
    try {
      await startOn();
      await source.query('ALTER TABLE svc_sessions DROP COLUMN label');
      await source.query('DROP TABLE svc_lockouts, svc_passkeys');
      await source.query('ALTER TABLE people DROP COLUMN two_factor_secret, DROP COLUMN password_hash');
      await source.query('DROP TABLE operators');
      const error: Error = await startOn().then(
        () => new Error('started'),
        (e) => e,
      );
      expect(error.name).toBe('AuthConfigError');
      expect(error.message.split('\n')).toEqual([
        'The database has not all tables and columns. Run the missing migrations:',
        'the column label of svc_sessions: CreateSvcSessions1763700000000 of authMigrations',
        'the table svc_lockouts: CreateSvcLockouts1763800000000 of authMigrations',
        'the table svc_passkeys: CreateSvcPasskeys1764000000000 of authMigrations',
        'the table operators: a migration of your own',
        "the table operators: addTwoFactorColumns('operators', timestamp)",
        'the column password_hash of people: a migration of your own',
        "the column two_factor_secret of people: addTwoFactorColumns('people', timestamp)",
        expect.stringMatching(
          /^A migration that is recorded as run, but lacks one of these columns, was changed before/,
        ),
      ]);
      const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
      const warnings = (): unknown[] =>
        warn.mock.calls.splice(0).flatMap(([text]) => (String(text).startsWith('The database has not') ? [text] : []));
      // It may have routes of its own, or only verify.
      await startOn({ routes: false });
      expect(warnings()).toEqual([error.message]);
      // It reads no table.
      const users = { provider: MinimalProvider };
      await startOn({ routes: false, users, guards: { admin: { users } } });
      expect(warnings()).toEqual([]);
    } finally {
      await source.destroy();
      await own.drop();
    }
  });

  it('is not refused in an application without an HTTP server, which logs what is missing and runs the migrations', async () => {
    const own = await createDatabase();
    const source = await new DataSource({ type: 'postgres', url: own.url, installExtensions: false }).initialize();
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    try {
      await source.query('DROP TABLE svc_sessions');
      const host = HostModule.with(own.url, {});
      const app = await NestFactory.createApplicationContext(host, { logger: false, abortOnError: false });
      expect(warn.mock.calls.map(([text]) => String(text))).toContainEqual(
        expect.stringContaining('the table svc_sessions: CreateSvcSessions1763700000000 of authMigrations'),
      );
      expect(error).not.toHaveBeenCalled();
      const runner = app.get(DataSource).createQueryRunner();
      await new CreateSvcSessions().up(runner);
      await runner.release();
      await app.close();
      await NestFactory.create(host, { logger: false, abortOnError: false }).then((server) =>
        server.init().finally(() => server.close()),
      );
    } finally {
      await source.destroy();
      await own.drop();
    }
  });

  it('is not refused while the migrations of the host run in onModuleInit', async () => {
    const own = await createDatabase();
    const source = await new DataSource({ type: 'postgres', url: own.url, installExtensions: false }).initialize();
    try {
      await source.query('ALTER TABLE svc_sessions DROP COLUMN label');
      @Module({ imports: [HostModule.with(own.url, {})] })
      class Migrating implements OnModuleInit {
        async onModuleInit(): Promise<void> {
          await source.query('ALTER TABLE svc_sessions ADD label text');
        }
      }
      const app = await NestFactory.create(Migrating, { logger: false, abortOnError: false });
      await app.init();
      await app.close();
    } finally {
      await source.destroy();
      await own.drop();
    }
  });
});
