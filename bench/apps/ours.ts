import { Controller, type DynamicModule, Get, HttpCode, Module, Post, Query, Req } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Auth, AuthModule, type AuthModuleOptions, Authenticated, authEntities } from '@svc/auth';
import { AcceptsKeys } from '@svc/auth/access-keys';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { Person } from '../../test/support/hosts/user-entities';
import { SpentController } from './counting';
import { prune } from './prune';
import { ANSWER, CHEAPEST, CHURN_ACCESS_TTL, PEOPLE, SECRET, type Tokens, serve } from './serve';

type FeatureOptions = NonNullable<AuthModuleOptions['features']>;

@Controller()
class Routes {
  constructor(private readonly auth: Auth) {}

  @Get('guarded')
  @Authenticated()
  guarded() {
    return ANSWER;
  }

  @Get('empty')
  empty() {
    return ANSWER;
  }

  @Post('empty')
  @HttpCode(200)
  emptied() {
    return ANSWER;
  }

  /** Sessions of one user after the other, or all of one user, without a password hash for each. */
  @Get('sessions')
  async sessions(
    @Query('count') count: string,
    @Query('from') from = '0',
    @Query('user') user?: string,
  ): Promise<Tokens[]> {
    const started = await Promise.all(
      Array.from({ length: Number(count) }, (_, i) =>
        this.auth.startSession(user ?? ((Number(from) + i) % PEOPLE) + 1),
      ),
    );
    return started.map(({ accessToken, refreshToken }) => ({ access_token: accessToken, refresh_token: refreshToken }));
  }
}

/** Such a route needs `features.accessKeys`. */
@Controller()
class KeyRoutes {
  constructor(private readonly auth: Auth) {}

  @Get('keyed')
  @AcceptsKeys()
  keyed() {
    return ANSWER;
  }

  /** Access keys of one user after the other. */
  @Get('keys')
  keys(@Query('count') count: string): Promise<{ access_key: string }[]> {
    return Promise.all(
      Array.from({ length: Number(count) }, (_, i) =>
        this.auth.accessKeys.create({ userId: String((i % PEOPLE) + 1) }, { label: 'bench' }),
      ),
    );
  }
}

/** With `BENCH_BOUND`, which is the address of its proofs. */
@Controller()
class BoundRoutes {
  constructor(private readonly auth: Auth) {}

  /** A session of a user, bound to the key that the request proves, without a password hash. */
  @Post('bound')
  async bound(@Req() request: object, @Query('user') user: string): Promise<Pick<Tokens, 'access_token'>> {
    return { access_token: (await this.auth.startSession(user, { request })).accessToken };
  }
}

/** Rate limits far above the load of a benchmark: requests are counted, but no limit is reached. */
const MOST = 1e9;

const flags = (isOn: boolean, names: readonly (keyof FeatureOptions)[]): FeatureOptions =>
  Object.fromEntries(names.map((name) => [name, isOn]));

/** The features of BENCH_FEATURES, except those that a refresh and a guarded request use. */
const FEATURES: Readonly<Record<string, FeatureOptions>> = {
  none: flags(false, ['logoutAll', 'gateAuthRoutes', 'changePassword', 'accountDeletion']),
  audit: flags(true, ['audit']),
  many: flags(true, ['lockout', 'passkeys', 'conditionalCreate', 'passwordReset', 'emailCode', 'knownDevices']),
};

/** A day in minutes: access tokens expire within the run, as all of a day's do. */
const CHURNS = process.env.BENCH_CHURN !== undefined;

const BENCHES_KEYS = process.env.BENCH_KEYS !== undefined;

const BOUND_AT = process.env.BENCH_BOUND;

const BENCHES_MAILS = CHURNS || process.env.BENCH_CODES !== undefined;

@Module({})
class OurApp {
  static with(databaseUrl: string, redisUrl: string): DynamicModule {
    return {
      module: OurApp,
      imports: [
        TypeOrmModule.forRoot({
          type: 'postgres',
          url: databaseUrl,
          entities: [...authEntities, Person],
          installExtensions: false,
        }),
        AuthModule.forRootAsync({
          users: { entity: Person },
          features: {
            emailCode: BENCHES_MAILS,
            passwordReset: BENCHES_MAILS,
            accessKeys: BENCHES_KEYS,
            boundSessions: BOUND_AT !== undefined,
            lockout: CHURNS,
            knownDevices: CHURNS,
            ...FEATURES[process.env.BENCH_FEATURES ?? 'default'],
          },
          useFactory: async () => ({
            secret: SECRET,
            issuer: 'https://bench.test',
            audience: 'https://bench.test',
            ...(process.env.BENCH_HASHING === 'cheapest' && { hashing: CHEAPEST }),
            cache: (await redisCache(redisUrl)).cache,
            rateLimits: {
              login: { maxAttempts: MOST, ipMaxAttempts: MOST, accountMaxAttempts: MOST },
              refresh: { maxAttempts: MOST },
              emailCode: { maxAttempts: MOST },
              passwordReset: { maxAttempts: MOST },
              accessKeys: { maxAttempts: MOST },
            },
            accessKeys: { maxPerUser: 1000 },
            ...(BOUND_AT !== undefined && { boundSessions: { addresses: [BOUND_AT] } }),
            ...(process.env.BENCH_FEATURES === 'many' && {
              passkeys: { rpId: 'bench.test', origins: ['https://bench.test'] },
            }),
            ...(['many', 'audit'].includes(process.env.BENCH_FEATURES!) && {
              encryption: { key: `encryption, ${SECRET}` },
            }),
            passwordReset: { frontendUrl: 'https://bench.test/reset' },
            mail: { mailer: { send: async () => undefined } },
            knownDevices: { frontendUrl: 'https://bench.test/report' },
            ...(CHURNS && { accessTtl: CHURN_ACCESS_TTL }),
          }),
        }),
      ],
      controllers: [Routes, SpentController, ...(BENCHES_KEYS ? [KeyRoutes] : []), ...(BOUND_AT ? [BoundRoutes] : [])],
    };
  }
}

const app = OurApp.with(process.env.DATABASE_URL!, process.env.REDIS_URL!);
void (process.env.BENCH_PRUNE ? prune(app) : serve(app));
