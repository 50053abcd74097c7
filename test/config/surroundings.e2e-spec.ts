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
import KeyvRedis from '@keyv/redis';
import { createClient, createCluster } from '@redis/client';
import {
  AccessTokenGuard,
  Authenticated,
  AuthModule,
  type AuthModuleOptions,
  authEntities,
  authMigrations,
  authOptionsFromEnv,
} from '@svc/auth';
import { clusterStore } from '@svc/auth/redis-cluster';
import { TypeOrmModule } from '@nestjs/typeorm';
import { createCache } from 'cache-manager';
import { Keyv } from 'keyv';
import {
  createClient as createClient5,
  createClientPool,
  createCluster as createCluster5,
  createSentinel,
} from 'redis-5';
import { createClient as createClient6 } from 'redis-6';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { type AdapterOptions, startHost } from '../support/hosts/adapter';
import { createDatabase } from '../support/stores/database';
import { HostModule, SECRET, hostOptions } from '../support/hosts/host.module';
import { MinimalProvider } from '../support/hosts/incomplete-users';
import { PASSKEYS } from '../support/flows/passkeys';
import { startOnce } from '../support/hosts/start-once';
import { Operator, Person } from '../support/hosts/user-entities';
import { savedVariables } from '../support/runtime/variables';
import { RedisServer } from '../support/stores/redis';
import { describeWithOwnRedis } from '../support/stores/with-redis';

const CreateSvcSessions = authMigrations[0]!;

let database: Awaited<ReturnType<typeof createDatabase>>;

beforeAll(async () => (database = await createDatabase()));
afterAll(() => database.drop());

const start = (options: Partial<AuthModuleOptions>) => startOnce(database.url, options);

describeWithOwnRedis('a cache that connects at its first use, as @keyv/redis does,', () => {
  it('is connected at boot: cache-manager 7 on @keyv/redis, which brings node-redis 5', async () => {
    const redis = await RedisServer.start();
    const adapter = new KeyvRedis(redis.url);
    const cache = createCache({ stores: [new Keyv(adapter)] });
    try {
      await start({ cache });
      expect(adapter.client.isOpen).toBe(true);
      expect(Number(await redis.command('DBSIZE'))).toBeGreaterThan(0);
    } finally {
      await cache.disconnect();
      await redis.stop();
    }
  });

  it.each([
    ['4', createClient],
    ['5', createClient5],
    ['6', createClient6],
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

  it.each([
    ['4', createClient],
    ['5', createClient5],
    ['6', createClient6],
  ] as [string, typeof createClient][])(
    'refuses the start with the cause, also if its client does not try again: node-redis %s',
    async (_, create) => {
      const client = create({ url: 'redis://127.0.0.1:1', socket: { reconnectStrategy: false } });
      await expect(start({ cache: { stores: [{ store: { client } }] } })).rejects.toThrow(
        /^cache has a Redis client that could not be connected .*ECONNREFUSED.*Check its URL/,
      );
    },
  );
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
    ['a URL object', () => new URL(URL_OF_REDIS), /^cache is a URL/],
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
      /^cache has a Redis client that could not be connected within 5 seconds \(.*\)\. Check its URL/,
    ],
    [
      'a cluster object of node-redis 4 that was never connected',
      () => clusterStore(createCluster({ rootNodes: [{ url: URL_OF_REDIS }] })),
      /^cache is a Redis client that is not connected/,
    ],
    [
      'a cluster object of node-redis 5 that was never connected',
      () => clusterStore(createCluster5({ rootNodes: [{ url: URL_OF_REDIS }] })),
      /^cache is a Redis client that is not connected/,
    ],
    [
      'a cluster object without its store',
      () => createCluster5({ rootNodes: [{ url: URL_OF_REDIS }] }),
      /^cache is a cluster object of node-redis\. Set it to clusterStore\(cluster\) of @svc\/auth\/redis-cluster\.$/,
    ],
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
    ['sqlite', 'users in a table', { verifyOnly: true, users: { entity: Person } }],
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
      const auth = AuthModule.forRoot({ verifyOnly: true, secret: SECRET, users: { provider: MinimalProvider } });
      const app = await create([sourceOf(source), auth]);
      await app.init();
      await app.close();
    },
  );

  it('that read the environment logs every unknown variable with the nearest known one, and starts', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const restoreVariables = savedVariables();
    Object.assign(process.env, { SVC_COOKIE_MOD: 'x', SVC_ADMIN_ISUER: 'x', SVC_ADMIN_ISSUER: '' });
    await start(authOptionsFromEnv()).finally(restoreVariables);
    const lines = warn.mock.calls.map(([text]) => String(text)).filter((text) => text.includes('is not a variable'));
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
        'The database has not all tables and columns. Run the missing migrations (with the option pool: svc:migrate or ' +
          'migrateAuth(pool)):',
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
      await expect(startOn({ routes: false })).rejects.toThrow(error.message);
      // They read no table of the library.
      await startOn({ verifyOnly: true });
      const users = { provider: MinimalProvider };
      await startOn({ verifyOnly: true, users, guards: { admin: { users } } });
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
