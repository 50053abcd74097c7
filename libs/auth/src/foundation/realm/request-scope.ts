import { Scope, type InjectionToken } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { AUTH_CONFIG } from '../config/auth-config';
import { Database } from '../platform/database';
import { AuthConfigError } from '../platform/errors';
import { POSTGRES_POOL } from '../platform/postgres-pool';
import { Presenter } from '../ports/presenter';
import { UserProvider } from '../ports/user-provider';

type Module = ModulesContainer extends ReadonlyMap<string, infer M> ? M : never;
type Wrapper = Module['providers'] extends ReadonlyMap<unknown, infer W> ? W : never;

/** What the host gives to every guard, and to one guard, as a provider of Nest. */
const OF_ALL: readonly [InjectionToken, string][] = [
  [AUTH_CONFIG, 'useFactory of AuthModule.forRootAsync'],
  [POSTGRES_POOL, 'The option pool'],
  [Database, 'The data source'],
];
const OF_GUARD: readonly [InjectionToken, string][] = [
  [UserProvider, 'The option users.provider'],
  [Presenter, 'The option presenter'],
];

/**
 * Refuses providers of the host that Nest makes for each request. A provider that reaches one is itself made for each request,
 * and so would be every service of the library: none exists when the application starts.
 *
 * @param modules the modules of the application
 * @param isShared whether a module is the one with what all guards share
 * @param isRealm whether a module is that of a guard
 * @throws AuthConfigError with the path to the provider, and the cure
 */
export function refuseRequestScope(
  modules: ReadonlyMap<string, Module>,
  isShared: (type: Module['metatype']) => boolean,
  isRealm: (type: Module['metatype']) => boolean,
): void {
  const ofKind = (isWanted: (type: Module['metatype']) => boolean): Module[] =>
    [...modules.values()].filter(({ metatype }) => isWanted(metatype));
  for (const [token, option] of OF_ALL) for (const module of ofKind(isShared)) refuse(module, token, option);
  // Every provider of a guard reaches the shared ones.
  for (const [token, option] of OF_GUARD) for (const module of ofKind(isRealm)) refuse(module, token, option);
}

function refuse(module: Module, token: InjectionToken, option: string): void {
  const wrapper = module.providers.get(token);
  if (!wrapper || (wrapper.isDependencyTreeStatic() && !wrapper.isTransient)) return;
  const path = pathFrom(wrapper);
  const names = (wrapper.inject ? path.slice(1) : path).map(nameOf).join(' → ');
  const is = wrapper.isTransient ? 'transient' : 'request-scoped';
  throw new AuthConfigError(
    `${option} (${module.name}) is ${is}: ${names || 'the factory'}. @svc/auth makes its services once, when the ` +
      'application starts, and they serve all requests. Remove the scope, and read what belongs to a request where it is ' +
      'used: from an AsyncLocalStorage (package nestjs-cls), or with ModuleRef.resolve().',
  );
}

/** The way from a provider to the one with the scope. */
function pathFrom(wrapper: Wrapper): Wrapper[] {
  if (wrapper.scope === Scope.REQUEST || wrapper.isTransient) return [wrapper];
  const properties = wrapper.getPropertiesMetadata()?.map((property) => property.wrapper as Wrapper);
  const needed = [...(wrapper.getCtorMetadata() ?? []), ...(properties ?? [])] as Wrapper[];
  const next = needed.find((one) => !one.isDependencyTreeStatic());
  return next ? [wrapper, ...pathFrom(next)] : [wrapper];
}

const nameOf = ({ metatype, name, inject }: Wrapper): string =>
  (inject ? undefined : metatype?.name) || String(name?.toString());
