import {
  type DynamicModule,
  type BeforeApplicationShutdown,
  type FactoryProvider,
  Logger,
  Module,
  type NestModule,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, MetadataScanner, ModuleRef, ModulesContainer } from '@nestjs/core';
import { Auth, loadedFlows } from './auth';
import { AuthCoreModule } from './shared.module';
import { AUTH_CONFIG, type AuthConfig } from './foundation/config/auth-config';
import type { AuthModuleAsyncOptions, AuthModuleOptions, AuthStructure } from './foundation/config/auth-options';
import { DEFAULT_GUARD, DEFAULT_PATH } from './foundation/config/core-options';
import { OPTIONS, TABLES } from './library-options';
import { merge } from './foundation/config/merge';
import { structureErrors } from './foundation/config/option-checks';
import { isProduction } from './foundation/config/option-values.policy';
import { combine, readFlags } from './foundation/config/resolve-options';
import { BackgroundWork } from './foundation/platform/deadline';
import { forwardEvents, AuthEvents } from './foundation/platform/auth-events';
import { AccessTokenGuard } from './request/gates/authenticated';
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
import { ResponseProtection } from './request/http/route-answer';
import { SecurityLog } from './foundation/observability/security-log';
import { FEATURES } from './features';
import { loadMembers } from './foundation/realm/feature';
import { observeEvents } from './foundation/realm/log-events';
import { Realms } from './foundation/realm/realm';
import { refuseRequestScope } from './foundation/realm/request-scope';
import { type RealmStructure, RealmModule } from './realm.module';
import { SchemaCheck } from './tools/migrations/missing-schema';
import { PruneSchedule } from './tools/retention/prune-schedule';
import { Pruning } from './tools/retention/pruning';

/** Longest wait for the work of requests when the application shuts down, in milliseconds: before and after the requests end. */
const SHUTDOWN_MS = 10_000;

/**
 * Registers token authentication in a Nest application: routes, guards, stores and events.
 *
 * @example AuthModule.forRoot({ ...authOptionsFromEnv(), users: { entity: User } })
 * @publicApi
 */
@Module({})
export class AuthModule implements NestModule, OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown {
  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly modules: ModulesContainer,
    private readonly application: ApplicationConfig,
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
    this.refuseRequestScope();
    this.moduleRef.get(ResponseProtection).install();
    keepAnswersOfHandlers(this.application);
  }

  /** Nest calls it before that of the modules of the application that are not global. */
  async onModuleInit(): Promise<void> {
    this.refuseRequestScope();
    const config = this.moduleRef.get<AuthConfig>(AUTH_CONFIG, { strict: false });
    const [realms, events] = [this.shared(Realms), this.shared(AuthEvents)];
    refuseRoutes(this.modules, new MetadataScanner(), realms, this.application);
    forwardEvents(events, this.moduleRef);
    observeEvents(events, this.shared(SecurityLog), realms, FEATURES);
    await openStore(this.shared(SecurityStore), config, this.shared(OwnRedis), isProduction());
  }

  /** Running requests may still start work, so the application waits both before and after they end. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.shared(BackgroundWork).settled(SHUTDOWN_MS);
  }

  /** Nest calls it before that of the modules with the connections. */
  async onApplicationShutdown(): Promise<void> {
    if (await this.shared(BackgroundWork).settled(SHUTDOWN_MS)) return;
    new Logger('Auth').warn(`Mails, listeners or other work did not end in ${SHUTDOWN_MS / 1000} s, and is lost.`);
  }

  private refuseRequestScope(): void {
    const isRealm = (type: unknown): boolean => (type as Type).prototype instanceof RealmModule;
    refuseRequestScope(this.modules, (type) => type === AuthCoreModule, isRealm);
  }

  /** Not injected: Nest would not make this module either if the host's providers were made for each request. */
  private shared<T>(type: Type<T> | (abstract new (...args: never[]) => T)): T {
    return this.moduleRef.get<T>(type as Type<T>, { strict: false });
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
    return assemble(readFlags(options, OPTIONS), { useFactory: () => options });
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
    return assemble(readFlags(structure, OPTIONS), {
      inject,
      useFactory: async (...args: unknown[]) => combine(structure, await useFactory(...args)),
    });
  }
}

const HEALTH: FactoryProvider<AuthHealth> = {
  provide: AuthHealth,
  inject: [Database, SecurityStore, Realms, AUTH_CONFIG, Clock],
  useFactory: (database: Database, store: SecurityStore, realms: Realms, config: AuthConfig, clock: Clock) =>
    new AuthHealth(database, store, realms, config, TABLES, clock),
};

const SCHEMA_CHECK: FactoryProvider<SchemaCheck> = {
  provide: SchemaCheck,
  inject: [Database, AUTH_CONFIG, HttpAdapterHost, OwnRedis],
  useFactory: (database: Database, config: AuthConfig, adapterHost: HttpAdapterHost, redis: OwnRedis) =>
    new SchemaCheck(database, config, adapterHost, TABLES, () => redis.onApplicationShutdown()),
};

/** Nest guards that a host can inject. */
const GUARDS: Type[] = [AccessTokenGuard, ...FEATURES.flatMap(({ guards = [] }) => guards)];

type OptionsFactory = Parameters<typeof AuthCoreModule.forOptions>[1];

function assemble(structure: AuthStructure, options: OptionsFactory): DynamicModule {
  const invalid = structureErrors(structure, OPTIONS);
  if (invalid.length) throw new AuthConfigError(invalid.join('\n'));
  const structures = [structure, ...Object.values(structure.guards ?? {})];
  loadMembers(FEATURES, (flag) => structures.some(({ features }) => features?.[flag]));
  const [core, flows] = [AuthCoreModule.forOptions(structure, options), loadedFlows()];
  return {
    module: AuthModule,
    global: true,
    imports: [core, ...realmsOf(structure, core).map((realm) => RealmModule.forGuard(realm))],
    providers: [
      Auth,
      ...flows,
      ...GUARDS,
      Pruning,
      PruneSchedule,
      SCHEMA_CHECK,
      HEALTH,
      UnreadableRequests,
      ResponseProtection,
    ],
    exports: [core, Auth, ...flows, ...GUARDS, Pruning, AuthHealth],
  };
}

/** Lists the extra guards first: a default guard mounted at a shorter path must not answer requests to their paths. */
function realmsOf(structure: AuthStructure, core: DynamicModule): RealmStructure[] {
  const {
    guard = DEFAULT_GUARD,
    path = DEFAULT_PATH,
    verifyOnly = false,
    routes = !verifyOnly,
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
