import {
  type DynamicModule,
  type FactoryProvider,
  Inject,
  Module,
  type NestModule,
  type OnModuleInit,
} from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, MetadataScanner, ModuleRef, ModulesContainer } from '@nestjs/core';
import { Auth, FLOWS } from './auth';
import { AuthCoreModule } from './shared.module';
import { AUTH_CONFIG, type AuthConfig } from './foundation/config/auth-config';
import type { AuthModuleAsyncOptions, AuthModuleOptions, AuthStructure } from './foundation/config/auth-options';
import { DEFAULTS } from './foundation/config/defaults';
import { merge } from './foundation/config/merge';
import { structureErrors } from './foundation/config/option-checks';
import { isProduction } from './foundation/config/option-values.policy';
import { combine, readFlags } from './foundation/config/resolve-options';
import { authEntities } from './entities';
import { forwardEvents, AuthEvents } from './foundation/platform/auth-events';
import { AccessTokenGuard } from './request/gates/authenticated';
import { ConfirmationGuard } from './features/step-up/require-confirmation';
import { VerifiedEmailGuard } from './features/email-verification/require-verified-email';
import { AuthHealth } from './tools/health/auth-health';
import { refuseRoutes } from './request/gates/boot-check';
import { AuthConfigError } from './foundation/platform/errors';
import { Clock } from './foundation/platform/clock';
import { Database } from './foundation/platform/database';
import { OwnRedis } from './foundation/security-store/own-redis';
import { SecurityStore } from './foundation/security-store/security-store';
import { openStore } from './foundation/security-store/select-store';
import { UnreadableRequests } from './request/http/parser-errors';
import { keepAnswersOfHandlers } from './request/http/host-interceptors';
import { ResponseProtection } from './request/http/route.interceptor';
import { SecurityLog } from './foundation/observability/security-log';
import { observeEvents } from './log-events';
import { Realms } from './foundation/realm/realm';
import { type RealmStructure, RealmModule } from './realm.module';
import { SchemaCheck } from './tools/migrations/missing-schema';
import { PruneSchedule } from './tools/retention/prune-schedule';
import { Pruning } from './tools/retention/pruning';

/**
 * Registers token authentication in a Nest application: routes, guards, stores and events.
 *
 * @example AuthModule.forRoot({ ...authOptionsFromEnv(), users: { entity: User } })
 * @publicApi
 */
@Module({})
export class AuthModule implements NestModule, OnModuleInit {
  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly events: AuthEvents,
    private readonly modules: ModulesContainer,
    private readonly realms: Realms,
    private readonly application: ApplicationConfig,
    private readonly securityLog: SecurityLog,
    private readonly store: SecurityStore,
    private readonly redis: OwnRedis,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {
    if ([...modules.values()].filter(({ metatype }) => metatype === AuthModule).length > 1) {
      throw new AuthConfigError(
        'AuthModule is imported more than once, so routes and stores would exist twice. Import it once, in the root ' +
          'module: it is global. Further user tables are entries of its option guards.',
      );
    }
  }

  /** Nest calls this method before it mounts routes, and only in an application with an HTTP server. */
  configure(): void {
    this.moduleRef.get(ResponseProtection).install();
    keepAnswersOfHandlers(this.application);
  }

  /** Nest calls it before that of the modules of the application that are not global. */
  async onModuleInit(): Promise<void> {
    refuseRoutes(this.modules, new MetadataScanner(), this.realms, this.application);
    forwardEvents(this.events, this.moduleRef);
    observeEvents(this.events, this.securityLog, this.realms);
    await openStore(this.store, this.config, this.redis, isProduction());
  }

  /**
   * Declares the module with fixed options.
   *
   * @throws AuthConfigError at boot for every unsafe or contradictory option; the message says how to correct it
   */
  static forRoot(options: AuthModuleOptions): DynamicModule {
    if (typeof options !== 'object' || options === null) {
      throw new AuthConfigError(
        `AuthModule.forRoot got ${typeof options === 'function' ? 'a function' : String(options)}. Give it an object with ` +
          'the options: AuthModule.forRoot({ ...authOptionsFromEnv(), users: { entity: User } }).',
      );
    }
    return assemble(readFlags(options), { useFactory: () => options });
  }

  /**
   * Declares the module with options from a factory. The options that decide which routes exist (features, routes,
   * path, domain, guards, users) are given beside the factory, because Nest mounts routes before the factory runs.
   */
  static forRootAsync({ useFactory, inject, ...structure }: AuthModuleAsyncOptions): DynamicModule {
    if (typeof useFactory !== 'function') {
      throw new AuthConfigError(
        'AuthModule.forRootAsync got no useFactory. Give it a function that returns the options, or call AuthModule.forRoot.',
      );
    }
    return assemble(readFlags(structure), {
      inject,
      useFactory: async (...args: unknown[]) => combine(structure, await useFactory(...args)),
    });
  }
}

const HEALTH: FactoryProvider<AuthHealth> = {
  provide: AuthHealth,
  inject: [Database, SecurityStore, Realms, AUTH_CONFIG, Clock],
  useFactory: (database: Database, store: SecurityStore, realms: Realms, config: AuthConfig, clock: Clock) =>
    new AuthHealth(database, store, realms, config, authEntities, clock),
};

const SCHEMA_CHECK: FactoryProvider<SchemaCheck> = {
  provide: SchemaCheck,
  inject: [Database, Realms, AUTH_CONFIG, HttpAdapterHost, OwnRedis],
  useFactory: (database: Database, realms: Realms, config: AuthConfig, adapterHost: HttpAdapterHost, redis: OwnRedis) =>
    new SchemaCheck(database, realms, config, adapterHost, authEntities, () => redis.onApplicationShutdown()),
};

/** Nest guards that a host can inject. */
const GUARDS = [AccessTokenGuard, ConfirmationGuard, VerifiedEmailGuard];

type OptionsFactory = Parameters<typeof AuthCoreModule.forOptions>[1];

function assemble(structure: AuthStructure, options: OptionsFactory): DynamicModule {
  const invalid = structureErrors(structure);
  if (invalid.length) throw new AuthConfigError(invalid.join('\n'));
  const core = AuthCoreModule.forOptions(structure, options);
  return {
    module: AuthModule,
    global: true,
    imports: [core, ...realmsOf(structure, core).map((realm) => RealmModule.forGuard(realm))],
    providers: [
      Auth,
      ...FLOWS,
      ...GUARDS,
      Pruning,
      PruneSchedule,
      SCHEMA_CHECK,
      HEALTH,
      UnreadableRequests,
      ResponseProtection,
    ],
    exports: [core, Auth, ...FLOWS, ...GUARDS, Pruning, AuthHealth],
  };
}

/** Lists the extra guards first: a default guard mounted at a shorter path must not answer requests to their paths. */
function realmsOf(structure: AuthStructure, core: DynamicModule): RealmStructure[] {
  const {
    guard = DEFAULTS.guard,
    path = DEFAULTS.path,
    routes = true,
    domain,
    features,
    users,
    presenter,
    guards = {},
  } = structure;
  const imports = [core, ...(structure.imports ?? [])];
  const extra = Object.entries(guards).map(([name, own]) => ({
    guard: name,
    isDefault: false,
    path: own.path ?? path,
    domain: own.domain === undefined ? domain : own.domain,
    features: merge(features, own.features),
    users: own.users,
    presenter: own.presenter ?? presenter,
    routes,
    imports,
  }));
  return [...extra, { guard, isDefault: true, path, domain, features, users, presenter, routes, imports }];
}
