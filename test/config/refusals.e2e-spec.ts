import { NestFactory } from '@nestjs/core';
import { AuthModule, type AuthModuleOptions, SecurityStore } from '@svc/auth';
import { TypeOrmModule } from '@nestjs/typeorm';
import { generateKeyPairSync } from 'node:crypto';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { createDatabase } from '../support/database';
import { HostModule, SECRET } from '../support/host.module';
import { Operator, Person } from '../support/user-entities';
import { RedisServer } from '../support/redis';
import { describeWithOwnRedis } from '../support/with-redis';

const pem = (key: { export(o: object): string | Buffer }, type: string): string =>
  String(key.export({ type, format: 'pem' }));
const pair = (type: 'rsa' | 'ec', option: object) => {
  const { publicKey, privateKey } = generateKeyPairSync(type as 'rsa', option as { modulusLength: number });
  return { public: pem(publicKey, 'spki'), private: pem(privateKey, 'pkcs8'), key: privateKey };
};

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
