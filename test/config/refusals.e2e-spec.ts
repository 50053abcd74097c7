import { NestFactory } from '@nestjs/core';
import { AuthModule, type AuthModuleOptions } from '@svc/auth';
import { createCache } from 'cache-manager';
import { TypeOrmModule } from '@nestjs/typeorm';
import { generateKeyPairSync } from 'node:crypto';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { createDatabase } from '../support/stores/database';
import { SECRET } from '../support/hosts/host.module';
import { NullStore } from '../support/stores/null-store';
import { startOnce } from '../support/hosts/start-once';
import { Operator, Person } from '../support/hosts/user-entities';
import { RedisServer } from '../support/stores/redis';
import { describeWithOwnRedis } from '../support/stores/with-redis';

const pem = (key: { export(o: object): string | Buffer }, type: string): string =>
  String(key.export({ type, format: 'pem' }));
const pair = (type: 'ec', option: object) => {
  const { publicKey, privateKey } = generateKeyPairSync(type, option as { namedCurve: string });
  return { public: pem(publicKey, 'spki'), private: pem(privateKey, 'pkcs8'), key: privateKey };
};

/** A store that declares itself shared, with what the start uses of it. */
class SharedStore extends NullStore {
  override readonly shared = true;
  private readonly values = new Map<string, string>();

  override getMany = async (keys: readonly string[]) => keys.map((key) => this.values.get(key) ?? null);
  override add = async (key = '', value = '') => !this.values.has(key) && this.values.set(key, value) !== undefined;
  override take = async (key = '') => {
    const value = this.values.get(key) ?? null;
    this.values.delete(key);
    return value;
  };
  override count = async (limits: readonly { key: string }[] = []) => ({
    admitted: await this.add(limits[0]!.key, '1'),
    buckets: [],
  });
}

let database: Awaited<ReturnType<typeof createDatabase>>;

beforeAll(async () => (database = await createDatabase()));
afterAll(() => database.drop());

/** What production needs besides the options of the test host. */
const PRODUCTION = { issuer: 'https://api.acme.test', audience: 'https://api.acme.test' };

const start = (options: Partial<AuthModuleOptions>) => startOnce(database.url, options);

describe('the module refuses to start', () => {
  const ec = pair('ec', { namedCurve: 'P-256' });
  const locked = pem(
    { export: () => ec.key.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'right' }) },
    'pkcs8',
  );

  const asymmetric = (algorithm: 'RS256' | 'ES256', keys: object): Partial<AuthModuleOptions> => ({ algorithm, keys });
  const sound = asymmetric('ES256', { private: ec.private, public: { default: ec.public } });
  const refused: [string, Partial<AuthModuleOptions>, RegExp][] = [
    [
      'with a short secret of an extra guard',
      { guards: { admin: { secret: 'x' } } },
      /^guards\.admin\.secret \(SVC_SECRET\) has 8 bits/,
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
    ['with two guards at one path in different case', { guards: { admin: { path: 'AUTH' } } }, /both mounted at/],
    [
      'with a cookie of two guards',
      { guards: { admin: { cookie: { refreshName: '__Host-refresh' } } } },
      /share the cookie __Host-refresh.*guards\.admin\.cookie\.refreshName/,
    ],
    [
      'with the cookie of devices of another guard',
      { guards: { admin: { cookie: { refreshName: '__Host-refresh.device' } } } },
      /share the cookie __Host-refresh\.device.*guards\.admin\.cookie\.refreshName/,
    ],
    ['with a guard name that is not a valid cookie name', { guard: 'a b;c' }, /guard name "a b;c"/],
    [
      'with several of these, and names all of them',
      { accessTtl: 0, leeway: 1e9, cookieMod: true } as object,
      /^accessTtl .*\nleeway .*\ncookieMod is not an option/,
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

    it('with a null store', async () => {
      await expect(start({ ...PRODUCTION, cache: new NullStore() })).rejects.toThrow(/^cache is not a shared store/);
    });

    it('with a cache in memory', async () => {
      const error = await start({ ...PRODUCTION, cache: createCache() }).catch((e: Error) => e);
      expect(String(error)).toMatch(/cache is not a shared store: .*Set redis\.url/);
    });

    it.each(['Production', 'prod'])('also if NODE_ENV is %s', async (name) => {
      process.env.NODE_ENV = name;
      await expect(start({ ...PRODUCTION })).rejects.toThrow(/^Neither redis\.url/);
      process.env.NODE_ENV = 'production';
    });

    it('unless the store declares itself shared', async () => {
      await start({ ...PRODUCTION, cache: new SharedStore() });
    });
  });

  it.each([
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
