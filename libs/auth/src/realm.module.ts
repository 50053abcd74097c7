import { type DynamicModule, Inject, Logger, Module, type NestModule, type Provider, type Type } from '@nestjs/common';
import { HttpAdapterHost, ModuleRef } from '@nestjs/core';
import { AUTH_CONFIG, type AuthConfig } from './foundation/config/auth-config';
import type { FeatureOptions, GuardStructure, UsersOptions } from './foundation/config/auth-options';
import { sharedPath } from './foundation/config/guard-isolation.policy';
import { FEATURES } from './features';
import { OPTIONS } from './library-options';
import { hostProvider } from './shared.module';
import type { Feature } from './foundation/realm/feature';
import { segmentsWithRoutesBelow } from './request/gates/library-routes';
import { mount } from './request/http/mount';
import { AuthConfigError } from './foundation/platform/errors';
import { Database } from './foundation/platform/database';
import { Texts } from './foundation/languages/texts';
import { Realm, RealmScope, Realms } from './foundation/realm/realm';
import { USER_SOURCES, type UserSource } from './foundation/realm/user-source';
import { accessTokenStrategy } from './identity/tokens/passport.strategy';
import { TypeormUserProvider } from './identity/users/typeorm-user-provider';
import { Presenter } from './foundation/ports/presenter';
import { UserProvider } from './foundation/ports/user-provider';
import { TimedUserProvider } from './identity/users/timed-user-provider';
import { userProviderErrors, userProviderWarnings } from './identity/users/provider-checks';

/** The part of the module structure that concerns one realm. */
export interface RealmStructure extends GuardStructure {
  guard: string;
  isDefault: boolean;
  routes: boolean;
  imports: DynamicModule['imports'];
}

/**
 * Contains the providers and routes of one guard: a separate module instance with the enabled features. Services get
 * the `Realm` of their guard by injection, so a service of one guard cannot act for another guard.
 */
@Module({})
export class RealmModule implements NestModule {
  constructor(
    @Inject(Realms) realms: Realms,
    scope: RealmScope,
    users: UserProvider,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
    private readonly adapterHost: HttpAdapterHost,
  ) {
    const { options } = scope.realm;
    // A service that only verifies may have the environment of an issuer.
    if (!config.verifyOnly) {
      // The features of an extra guard are checked at their first server call.
      const problems = options.isDefault ? userProviderErrors(users, options, FEATURES) : [];
      if (problems.length) throw new AuthConfigError(problems.join('\n'));
      for (const text of userProviderWarnings(users, options, FEATURES)) new Logger('Auth').warn(text);
    }
    realms.add(scope);
  }

  /**
   * Nest calls this method before it mounts routes.
   *
   * @throws AuthConfigError when two guards share a path on Fastify, which accepts only one route for each path
   */
  configure(): void {
    const shared = sharedPath(this.config.guards, segmentsWithRoutesBelow(FEATURES));
    if (!this.config.routes || !shared || this.adapterHost.httpAdapter.getType() !== 'fastify') return;
    throw new AuthConfigError(
      `The guards "${shared.join('" and "')}" share a path. On Fastify, a domain does not separate them: give each guard its own path.`,
    );
  }

  static forGuard(structure: RealmStructure): DynamicModule {
    const { guard, isDefault, routes, users, presenter, imports } = structure;
    const has = (flag: keyof FeatureOptions): boolean => {
      const { default: isOnByDefault, defaultGuardOnly } = OPTIONS.byName.get(`features.${flag}`)!;
      return (isDefault || !defaultGuardOnly) && Boolean(structure.features?.[flag] ?? isOnByDefault);
    };
    const isOn = ({ flags, needs = [] }: Feature): boolean =>
      (flags === undefined || flags.some(has)) && needs.every(has);
    const mounted = ({ controllers = [], defaultGuardControllers = [] }: Feature): readonly Type[] =>
      isDefault ? [...controllers, ...defaultGuardControllers] : controllers;
    const on = FEATURES.filter(isOn);
    const controllers = routes ? on.flatMap(mounted) : [];
    return {
      // Nest identifies modules by class, so each realm needs its own class.
      module: { [`RealmModule(${guard})`]: class extends RealmModule {} }[`RealmModule(${guard})`] as Type,
      imports,
      controllers: controllers.map((controller) => mount(controller, guard, structure)),
      providers: [
        {
          provide: Realm,
          useFactory: (config: AuthConfig, sources: ReadonlyMap<string, UserSource>, texts: Texts) =>
            new Realm(configOf(config, guard), sources.get(guard), texts),
          inject: [AUTH_CONFIG, USER_SOURCES, Texts],
        },
        {
          provide: RealmScope,
          useFactory: (realm: Realm, moduleRef: ModuleRef) => new RealmScope(realm, moduleRef, on),
          inject: [Realm, ModuleRef],
        },
        userProvider(users),
        presenter ? hostProvider(Presenter, presenter) : Presenter,
        TimedUserProvider,
        accessTokenStrategy(guard),
        ...FEATURES.flatMap(({ data }) => data?.stores ?? []),
        ...on.flatMap((feature) => feature.providers ?? []),
      ],
    };
  }
}

const SECOND_FACTORS = FEATURES.find(({ userColumns }) => userColumns)?.userColumns;

const configOf = ({ guards }: AuthConfig, name: string) => guards.find(({ guard }) => guard === name)!;

function userProvider({ entity, provider }: UsersOptions = {}): Provider {
  if (provider) return hostProvider(UserProvider, provider);
  const fromEntity = (database: Database, { options }: Realm): UserProvider => {
    if (!entity) throw new AuthConfigError(`The guard "${options.guard}" has no users.`);
    return new TypeormUserProvider(database, entity as new () => object, options.username, SECOND_FACTORS?.table);
  };
  return { provide: UserProvider, useFactory: fromEntity, inject: [Database, Realm] };
}
