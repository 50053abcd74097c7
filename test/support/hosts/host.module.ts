import { Controller, type DynamicModule, Get, Module, type Type, UseGuards } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AuthModule,
  type AuthModuleOptions,
  Authenticated,
  type Caller,
  CurrentCaller,
  CurrentUser,
  Public,
  authEntities,
} from '@svc/auth';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import type { Database as LibraryDatabase } from '../../../libs/auth/src/foundation/platform/database';
import { Member, Operator, Person } from './user-entities';

const seen = ({ guard, userId, familyId, claims }: Caller) => ({ guard, userId, familyId, claims });

@Controller()
export class HostController {
  @Get('private')
  @Authenticated()
  own(@CurrentCaller() caller: Caller, @CurrentUser() user: Person) {
    return { ...seen(caller), user };
  }

  @Get('staff')
  @Authenticated('admin')
  staff(@CurrentCaller() caller: Caller) {
    return seen(caller);
  }

  @Get('passport')
  @UseGuards(AuthGuard('api'))
  passport(@CurrentCaller() caller: Caller) {
    return seen(caller);
  }

  @Get('passport-staff')
  @UseGuards(AuthGuard('admin'))
  passportStaff(@CurrentCaller() caller: Caller) {
    return seen(caller);
  }

  @Get('open')
  open() {
    return {};
  }
}

@Controller('mixed')
@Authenticated()
export class MixedController {
  @Get('open')
  @Public()
  open() {
    return {};
  }

  @Get('closed')
  closed() {
    return {};
  }
}

export const SECRET = 'test-secret-of-the-default-guard-0123456789';
export const ENCRYPTION_KEY = 'test-key-of-encryption-at-rest-0123456789';
export const API_AUDIENCE = 'https://api.example.com';
export const ADMIN_AUDIENCE = 'https://admin.example.com';

/** Cheap parameters, because no test depends on the cost of a hash. */
const HASHING = { memoryCost: 64, timeCost: 1 };

const NO_LIMIT = { maxAttempts: 1e9 };

/** Rate limits that no test reaches. Tests of rate limits set their own. */
export const UNLIMITED: NonNullable<AuthModuleOptions['rateLimits']> = {
  login: { ...NO_LIMIT, ipMaxAttempts: 1e9, accountMaxAttempts: 1e9 },
  refresh: NO_LIMIT,
  confirm: NO_LIMIT,
  twoFactor: NO_LIMIT,
  passkeys: NO_LIMIT,
  registration: NO_LIMIT,
  passwordReset: NO_LIMIT,
  emailVerification: NO_LIMIT,
  emailChange: NO_LIMIT,
  usernameChange: NO_LIMIT,
  mailedLinks: NO_LIMIT,
  emailCode: NO_LIMIT,
  identities: NO_LIMIT,
  accessKeys: NO_LIMIT,
};

/** Options of the test host: two guards on two tables with colliding ids, one secret, one store. */
export const hostOptions = ({ guards = {}, ...options }: Partial<AuthModuleOptions>): AuthModuleOptions => ({
  secret: SECRET,
  encryption: { key: ENCRYPTION_KEY },
  hashing: HASHING,
  // Longer than the default of 800: a busy machine must not decide a test. Tests of silent stores set their own.
  storeTimeoutMs: 20_000,
  users: { entity: Person },
  rateLimits: UNLIMITED,
  // A test that runs at the time of the schedule must not lose its rows. Tests of the schedule set their own.
  retention: { schedule: false },
  ...options,
  guards: {
    admin: {
      path: 'admin/auth',
      audience: ADMIN_AUDIENCE,
      users: { entity: Operator },
      ...guards.admin,
    },
  },
});

/** Whether hosts give the library a pool of node-postgres, and have no data source of TypeORM. Set by `TEST_POOL`. */
const onPool = process.env.TEST_POOL === '1';

/** A minimal application that imports the library as a host does. */
@Module({})
export class HostModule {
  static with(
    databaseUrl: string,
    options: Partial<AuthModuleOptions>,
    controllers: Type[] = [HostController, MixedController],
    entities: Type[] = [],
    pool: object = {},
    replicaUrl?: string,
  ): DynamicModule {
    if (onPool && !replicaUrl) return onPoolOf(databaseUrl, options, controllers, pool);
    return {
      module: HostModule,
      imports: [
        TypeOrmModule.forRoot({
          type: 'postgres',
          ...(replicaUrl
            ? { replication: { master: { url: databaseUrl }, slaves: [{ url: replicaUrl }] } }
            : { url: databaseUrl }),
          entities: [...authEntities, Person, Operator, Member, ...entities],
          installExtensions: false,
          extra: { max: 20, ...pool },
          retryAttempts: 0,
        }),
        AuthModule.forRoot(hostOptions(options)),
      ],
      controllers,
    };
  }
}

/** Loaded when it is used, because the hosts with the packed library have no sources of it. */
export const libraryDatabase = (): typeof LibraryDatabase =>
  (require('../../../libs/auth/src/foundation/platform/database') as { Database: typeof LibraryDatabase }).Database;

/** The same application on a pool. `DataSource` is the one that the library makes on it, for the statements of tests. */
function onPoolOf(
  connectionString: string,
  options: Partial<AuthModuleOptions>,
  controllers: Type[],
  size: object,
): DynamicModule {
  const pool = new Pool({ connectionString, max: 20, ...size });
  const Database = libraryDatabase();
  return {
    module: HostModule,
    imports: [AuthModule.forRoot({ ...hostOptions(options), pool })],
    controllers,
    providers: [
      { provide: DataSource, inject: [Database], useFactory: ({ source }: LibraryDatabase) => source },
      { provide: 'END_OF_POOL', useValue: { onApplicationShutdown: () => pool.end() } },
    ],
    exports: [DataSource],
  };
}
