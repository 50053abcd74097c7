import type { Type } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants';
import { type ApplicationConfig, type MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { AuthConfigError } from '../../foundation/platform/errors';
import type { RealmScope, Realms } from '../../foundation/realm/realm';
import { RouteGuard } from './route-guard';
import { type GateType, Gates, type RouteGate, gateTypeOf, gatesOf, routePlan } from './route-plan';

/** The metadata of handlers of HTTP, GraphQL and WebSocket. */
const ROUTE_KEYS = [PATH_METADATA, 'graphql:resolver_type', 'websockets:message_mapping'];

/**
 * Reads the plan of every route, resolver and gateway of the application at boot. A contradiction, a mistyped guard name
 * or a requirement that no request can meet is found at boot and not at the first request. Global guards apply to every
 * route, also to those of the library.
 *
 * @throws AuthConfigError naming the route
 */
export function refuseRoutes(
  modules: ModulesContainer,
  scanner: MetadataScanner,
  realms: Realms,
  application: ApplicationConfig,
): void {
  const always = globalGates(application);
  const wrappers = [...modules.values()].flatMap((module) => [
    ...module.controllers.values(),
    ...module.providers.values(),
  ]);
  for (const metatype of new Set(wrappers.map((wrapper) => wrapper.metatype))) {
    // A factory may be an arrow function, which has no prototype.
    if (typeof metatype !== 'function' || !metatype.prototype) continue;
    // A guard class has gates for the routes that name it, but is no route.
    if (metatype.prototype instanceof RouteGuard) continue;
    for (const name of scanner.getAllMethodNames(metatype.prototype)) {
      try {
        refuseRoute(metatype, name, realms, always);
      } catch (error) {
        throw new AuthConfigError(`${metatype.name}.${name}: ${(error as Error).message}`);
      }
    }
  }
}

/** The gates of `useGlobalGuards` and of `APP_GUARD`. Nest has a wrapper of a guard that it creates for each request. */
function globalGates(application: ApplicationConfig): RouteGate[] {
  const perRequest = application
    .getGlobalRequestGuards()
    .flatMap(({ metatype }) => (metatype ? [metatype as Type] : []));
  return [...application.getGlobalGuards(), ...perRequest].flatMap((guard) => gatesOf(guard));
}

function refuseRoute(
  controller: { prototype: object },
  name: string,
  realms: Realms,
  always: readonly RouteGate[],
): void {
  const handler = (controller.prototype as Record<string, object>)[name]!;
  if (Gates.isLost(controller.prototype, name, handler)) {
    throw new AuthConfigError('A route lost its gates: put its guard decorators above those that wrap it.');
  }
  // Other methods, such as those of services, are not called by a request.
  const isRoute = ROUTE_KEYS.some((key) => Reflect.hasMetadata(key, handler));
  const { guard, gates } = routePlan(controller, handler, isRoute ? always : []);
  const named = realms.named(guard);
  // Without a guard name, the default guard authenticates. A route that only Passport authenticates is handled by the
  // guard of the request: one of them must accept it.
  const isAuthenticated = gates.some(({ stage }) => stage === 'authentication');
  const scopes = named ? [named] : isAuthenticated ? [realms.default] : [realms.default, ...realms.all];
  for (const gate of gates) acceptByAny(gateTypeOf(gate), scopes, controller, handler);
}

function acceptByAny(gate: GateType, scopes: readonly RealmScope[], controller: object, handler: object): void {
  const refusals: unknown[] = [];
  for (const scope of scopes) {
    try {
      return scope.get(gate).accept?.(controller, handler);
    } catch (error) {
      refusals.push(error);
    }
  }
  throw refusals[0];
}
