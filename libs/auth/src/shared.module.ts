import {
  type DynamicModule,
  type FactoryProvider,
  type InjectionToken,
  Logger,
  Module,
  type Provider,
  type Type,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { AUTH_CONFIG, type AuthConfig, needsDatabase } from './foundation/config/auth-config';
import type { AuthModuleOptions, AuthModuleAsyncOptions, AuthStructure } from './foundation/config/auth-options';
import { unknownVariables } from './foundation/config/env';
import { isProduction } from './foundation/config/option-values.policy';
import { FEATURES } from './features';
import { OPTIONS, authEntities, checkedOptions, featureErrors, keyErrors } from './library-options';
import { Texts } from './foundation/languages/texts';
import { MANIFESTS } from './foundation/realm/feature';
import { manifestErrors } from './foundation/realm/manifest.policy';
import { AuthConfigError } from './foundation/platform/errors';
import { BackgroundWork } from './foundation/platform/deadline';
import { AuthEvents } from './foundation/platform/auth-events';
import { Clock } from './foundation/platform/clock';
import { Database } from './foundation/platform/database';
import { Encryption } from './foundation/platform/crypto';
import { optionalPeer } from './foundation/platform/optional-peer';
import {
  POSTGRES_POOL,
  type PostgresPool,
  onPostgres,
  refuseOtherTypes,
  sourceOn,
} from './foundation/platform/postgres-pool';
import { Argon2Hasher } from './identity/password/argon2-hasher';
import { PasswordHasher } from './identity/password/password-hasher';
import { rowsIn } from './identity/users/user-rows';
import { createHashQueue, HashQueue } from './identity/password/hash-queue';
import { SecurityLog } from './foundation/observability/security-log';
import { operationErrors } from './request/gates/library-routes';
import { GateRefusalLog } from './request/gates/request-log';
import { TransportErrors } from './request/gates/transport-errors';
import { Realms } from './foundation/realm/realm';
import { USER_SOURCES, type UserSource, userSources } from './foundation/realm/user-source';
import { SecurityStore } from './foundation/security-store/security-store';
import { OwnRedis } from './foundation/security-store/own-redis';
import { selectStore, withoutStore } from './foundation/security-store/select-store';
import { DenylistMonitor } from './identity/denylist/denylist-monitor';
import { EndedSessions } from './identity/denylist/ended-sessions';
import { StoreContinuity } from './identity/denylist/store-continuity';
import { ProxyWarning } from './request/http/client-info';
import { SharedThrottlerStorage } from './request/throttling/throttler-storage';

interface OptionsFactory {
  inject?: AuthModuleAsyncOptions['inject'];
  useFactory: (...args: never[]) => AuthModuleOptions | Promise<AuthModuleOptions>;
}

/** Provides what all realms share: options, clock, stores, hasher and events. */
@Module({})
export class AuthCoreModule {
  static forOptions(structure: AuthStructure, { inject = [], useFactory }: OptionsFactory): DynamicModule {
    const shared: Provider[] = [
      {
        provide: AUTH_CONFIG,
        inject,
        useFactory: async (...args: unknown[]) => checkedConfig(await useFactory(...(args as never[]))),
      },
      { provide: MANIFESTS, useValue: FEATURES },
      { provide: Texts, useValue: new Texts(FEATURES) },
      poolProvider(structure.pool),
      ...databaseProviders(structure),
      configured(SecurityStore, [Clock, OwnRedis], (config, clock: Clock, redis: OwnRedis) =>
        selectStore(config, clock, isProduction(), redis),
      ),
      OwnRedis,
      configured(
        Encryption,
        [],
        ({ encryption: { key, previousKeys } }) => new Encryption(key === undefined ? [] : [key, ...previousKeys]),
      ),
      // One queue for hashes of every kind and all guards: `hashing.concurrency` limits the hashes of the whole process.
      configured(HashQueue, [], ({ hashing }) => createHashQueue(hashing)),
      configured(PasswordHasher, [HashQueue], ({ hashing }, queue: HashQueue) => new Argon2Hasher(hashing, queue)),
      SecurityLog,
      GateRefusalLog,
      TransportErrors,
      Clock,
      AuthEvents,
      BackgroundWork,
      Realms,
      EndedSessions,
      StoreContinuity,
      DenylistMonitor,
      configured(USER_SOURCES, [Database], checkedSources),
      ProxyWarning,
      SharedThrottlerStorage,
    ];
    const incomplete = [...manifestErrors(FEATURES), ...operationErrors(FEATURES)];
    if (incomplete.length) throw new AuthConfigError(incomplete.join('\n'));
    registerEntities(structure);
    return {
      module: AuthCoreModule,
      imports: structure.imports ?? [],
      providers: shared,
      exports: shared,
    };
  }
}

/** A provider that is made from the configuration, and from what it injects besides. */
const configured = <Rest extends unknown[]>(
  provide: InjectionToken,
  inject: NonNullable<FactoryProvider['inject']>,
  make: (config: AuthConfig, ...rest: Rest) => unknown,
): Provider => ({ provide, inject: [AUTH_CONFIG, ...inject], useFactory: make });

/** What a host gives for a token: a class, or one that its own providers have or make. */
export const hostProvider = (provide: InjectionToken, given: object): Provider =>
  typeof given === 'function' ? { provide, useClass: given as Type } : ({ provide, ...given } as Provider);

/** Provides null where the host has given no pool. */
const poolProvider = (pool: AuthStructure['pool']): Provider =>
  ['useExisting', 'useFactory'].some((way) => way in Object(pool))
    ? hostProvider(POSTGRES_POOL, pool!)
    : { provide: POSTGRES_POOL, useValue: pool || null };

/** Completes the options with defaults. @throws AuthConfigError for unsafe options */
function checkedConfig(options: AuthModuleOptions): AuthConfig {
  const { config, errors } = checkedOptions(options);
  const names = config?.guards.map(({ guard }) => guard) ?? [];
  for (const text of config ? unknownVariables(names, OPTIONS) : []) new Logger('Auth').warn(text);
  const { redis, cache, denylistStore } = options;
  const isStoreMissing = isProduction() && !(redis?.url || cache || denylistStore);
  // All at once: the store and the keys are opened after the options were checked.
  const all = [
    ...errors,
    ...(config ? keyErrors(config, errors) : []),
    ...(isStoreMissing ? [withoutStore(true)] : []),
  ];
  if (all.length || !config) throw new AuthConfigError(all.join('\n'));
  return config;
}

/** The source of users of each guard. @throws AuthConfigError for options that are unsafe with two entities of one table */
function checkedSources(config: AuthConfig, database: Database): ReadonlyMap<string, UserSource> {
  const sources = userSources(config.guards, rowsIn(database));
  const problems = featureErrors(config, sources, isProduction());
  if (problems.length) throw new AuthConfigError(problems.join('\n'));
  return sources;
}

/** The database is that of the option pool, otherwise of the host's data source. A service that only verifies needs none. */
function databaseProviders(structure: AuthStructure): Provider[] {
  const { pool, dataSource } = structure;
  const typeOrm = pool ? undefined : nestTypeOrm();
  const token = typeOrm?.getDataSourceToken(dataSource) as InjectionToken | undefined;
  const inject = [POSTGRES_POOL, ...(token ? [{ token, optional: true }] : [])];
  return [
    configured(Database, inject, async (config, given: PostgresPool | null, source?: DataSource) => {
      const own = pool ? await sourceOn(given!, ...entitiesOf(structure)) : source;
      return new Database(onPostgres(own, needsDatabase(config)), config.storeTimeoutMs, config.preparedStatements);
    }),
    // Nothing waits for it: it must not wait for the data source, nor for what waits for that.
    configured(Symbol('the type of the data source'), [ModulesContainer], (config, modules: ModulesContainer) =>
      token && needsDatabase(config) ? refuseOtherTypes(modules, token) : undefined,
    ),
  ];
}

const nestTypeOrm = () => optionalPeer<typeof import('@nestjs/typeorm')>('@nestjs/typeorm');

/** The entities of the library, and those of the users of all guards. None for a service that only verifies tokens. */
function entitiesOf({ verifyOnly = false, users, guards = {} }: AuthStructure): [library: Type[], users: Type[]] {
  const ofUsers = [users, ...Object.values(guards).map((guard) => guard.users)].flatMap((of) => of?.entity ?? []);
  return !verifyOnly || ofUsers.length ? [authEntities, [...new Set(ofUsers)] as Type[]] : [[], []];
}

/**
 * Registers the entities for data sources with `autoLoadEntities`. The module of Nest is not imported: the library uses no
 * repository of it, and without a data source its error names no correction.
 */
function registerEntities(structure: AuthStructure): void {
  const entities = entitiesOf(structure).flat();
  if (structure.pool || !entities.length) return;
  const typeOrm = nestTypeOrm();
  if (!typeOrm) {
    throw new AuthConfigError(
      'The tables of the library are on PostgreSQL. With TypeORM, run: npm install @nestjs/typeorm typeorm pg. Without ' +
        'TypeORM, set the option pool to a Pool of the package pg. A service that only verifies tokens needs none: set verifyOnly to true.',
    );
  }
  typeOrm.TypeOrmModule.forFeature(entities, structure.dataSource);
}
