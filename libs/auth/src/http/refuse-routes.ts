import { type MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { AuthConfigError } from '../kernel/auth.exception';
import type { Realms } from '../realm/realm';
import { routePlan } from './route-plan';

/**
 * Reads the plan of every route of the application once, at boot, so that a contradiction, a mistyped
 * guard name or a requirement nobody can meet does not wait for its first request. @throws AuthConfigError naming the route
 */
export function refuseRoutes(modules: ModulesContainer, scanner: MetadataScanner, realms: Realms): void {
  const controllers = [...modules.values()].flatMap((module) => [...module.controllers.values()]);
  for (const { metatype } of controllers) {
    if (typeof metatype !== 'function') continue;
    for (const name of scanner.getAllMethodNames(metatype.prototype)) {
      try {
        const handler = metatype.prototype[name];
        const { guard, gates } = routePlan(metatype, handler);
        const scope = realms.named(guard) ?? realms.default;
        for (const gate of gates) scope.get(gate).accept?.(metatype, handler);
      } catch (error) {
        throw new AuthConfigError(`${metatype.name}.${name}: ${(error as Error).message}`);
      }
    }
  }
}
