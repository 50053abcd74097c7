import { type DynamicModule, Logger, Module, type Provider, type Type } from '@nestjs/common';
import { TypeOrmModule, getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { AUTH_CONFIG, type AuthConfig, needsDatabase } from './foundation/config/auth-config';
import type { AuthModuleOptions, AuthModuleAsyncOptions, AuthStructure } from './foundation/config/auth-options';
import { unknownVariables } from './foundation/config/env';
import { guardErrors } from './foundation/config/guard-isolation.policy';
import { redisErrors } from './foundation/config/url-checks';
import { optionErrors } from './foundation/config/option-checks';
import { isProduction } from './foundation/config/option-values.policy';
import { unsafeValueErrors } from './foundation/config/unsafe-values';
import { FEATURES } from './features';
import { resolveOptions } from './foundation/config/resolve-options';
import { authEntities } from './entities';
import { AuthConfigError } from './foundation/platform/errors';
import { AuthEvents } from './foundation/platform/auth-events';
import { Clock } from './foundation/platform/clock';
import { Database, onPostgres } from './foundation/platform/database';
import { Encryption } from './foundation/platform/crypto';
import { Argon2Hasher } from './identity/password/argon2-hasher';
import { PasswordHasher } from './identity/password/password-hasher';
import { createHashQueue, HashQueue } from './identity/password/hash-queue';
import { SecurityLog } from './foundation/observability/security-log';
import { GateRefusalLog } from './request/gates/request-log';
import { TransportErrors } from './request/gates/transport-errors';
import { Realms } from './foundation/realm/realm';
import { SecurityStore } from './foundation/security-store/security-store';
import { OwnRedis } from './foundation/security-store/own-redis';
import { selectStore } from './foundation/security-store/select-store';
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
      {
        provide: Database,
        inject: [AUTH_CONFIG, { token: getDataSourceToken(structure.dataSource), optional: true }],
        useFactory: (config: AuthConfig, source?: DataSource) =>
          new Database(onPostgres(source, needsDatabase(config)), config.storeTimeoutMs, config.preparedStatements),
      },
      {
        provide: SecurityStore,
        inject: [AUTH_CONFIG, Clock, OwnRedis],
        useFactory: (config: AuthConfig, clock: Clock, redis: OwnRedis) =>
          selectStore(config, clock, isProduction(), redis),
      },
      OwnRedis,
      {
        provide: Encryption,
        inject: [AUTH_CONFIG],
        useFactory: ({ encryption: { key, previousKeys } }: AuthConfig) =>
          new Encryption(key === undefined ? [] : [key, ...previousKeys]),
      },
      // One queue for hashes of every kind and all guards: `hashing.concurrency` limits the hashes of the whole process.
      {
        provide: HashQueue,
        inject: [AUTH_CONFIG],
        useFactory: ({ hashing }: AuthConfig) => createHashQueue(hashing),
      },
      {
        provide: PasswordHasher,
        inject: [AUTH_CONFIG, HashQueue],
        useFactory: ({ hashing }: AuthConfig, queue: HashQueue) => new Argon2Hasher(hashing, queue),
      },
      SecurityLog,
      GateRefusalLog,
      TransportErrors,
      Clock,
      AuthEvents,
      Realms,
      EndedSessions,
      StoreContinuity,
      DenylistMonitor,
      ProxyWarning,
      SharedThrottlerStorage,
    ];
    return {
      module: AuthCoreModule,
      imports: [...(structure.imports ?? []), ...entityModule(structure)],
      providers: shared,
      exports: shared,
    };
  }
}

/** Completes the options with defaults. @throws AuthConfigError for unsafe options */
function checkedConfig(options: AuthModuleOptions): AuthConfig {
  const invalid = optionErrors(options);
  if (invalid.length) throw new AuthConfigError(invalid.join('\n'));
  const config = resolveOptions(options);
  for (const text of unknownVariables(config.guards.map(({ guard }) => guard))) new Logger('Auth').warn(text);
  const names = [...Object.keys(options.guards ?? {}), config.guards.at(-1)!.guard];
  const problems = [
    ...guardErrors(config, names),
    ...FEATURES.flatMap((feature) => feature.configErrors?.(config, isProduction()) ?? []),
    ...redisErrors(config),
    ...unsafeValueErrors(config, isProduction()),
  ];
  if (problems.length) throw new AuthConfigError(problems.join('\n'));
  return config;
}

/**
 * Registers the entities for data sources with `autoLoadEntities`. The module of Nest is not imported: the library uses no
 * repository of it, and without a data source its error names no correction. A service that only verifies tokens needs none.
 */
function entityModule({ routes = true, users, guards = {}, dataSource }: AuthStructure): DynamicModule[] {
  const userEntities = [users, ...Object.values(guards).map((guard) => guard.users)].flatMap((of) => of?.entity ?? []);
  if (!routes && !userEntities.length) return [];
  TypeOrmModule.forFeature([...authEntities, ...(new Set(userEntities) as Set<Type>)], dataSource);
  return [];
}
