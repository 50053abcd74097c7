import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import type { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { trimSlashes } from '../../foundation/config/resolve-options';
import { GuardName, Mounted } from '../../foundation/realm/feature';

/** A mounted route of the library. */
export interface MountedRoute {
  readonly guard: string;
  readonly controller: Type;
  /** The handler function. */
  readonly handler: object;
  /** Name of the handler in the controller. */
  readonly name: string;
  /** HTTP method in capitals. */
  readonly method: string;
  /** Path without leading and trailing slash and without the application's global prefix; parameters as `:name`. */
  readonly path: string;
}

/** Lists every mounted route of the library. */
export function mountedRoutes(modules: ModulesContainer, scanner: MetadataScanner): MountedRoute[] {
  const controllers = [...modules.values()].flatMap((module) => [...module.controllers.values()]);
  return controllers
    .flatMap(({ metatype }) => (typeof metatype === 'function' ? metatype : []))
    .filter((controller) => Reflect.getMetadata(Mounted.KEY, controller))
    .flatMap((controller) =>
      scanner.getAllMethodNames(controller.prototype).flatMap((name) => routeOf(controller as Type, name)),
    );
}

function routeOf(controller: Type, name: string): MountedRoute[] {
  const handler = controller.prototype[name] as object;
  const method: RequestMethod | undefined = Reflect.getMetadata(METHOD_METADATA, handler);
  if (method === undefined) return [];
  const own = [controller, handler].map((target) => trimSlashes(Reflect.getMetadata(PATH_METADATA, target) as string));
  const guard = Reflect.getMetadata(GuardName.KEY, controller) as string;
  return [{ guard, controller, handler, name, method: RequestMethod[method], path: own.filter(Boolean).join('/') }];
}
