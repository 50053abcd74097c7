import { RequestMethod, type Type } from '@nestjs/common';
import { HOST_METADATA, METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import type { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { trimSlashes } from '../config/trim-slashes';
import { GuardName, Mounted } from '../realm/route-metadata';

/** A request, as far as it chooses a route. */
export interface Chosen {
  method?: string;
  /** Path and query. */
  url?: string;
  hostname?: string;
}

/** A mounted route of the library. */
export interface OwnRoute {
  readonly guard: string;
  matches(request: Chosen): boolean;
}

/**
 * Every mounted route of the library, for what happens before one is chosen.
 *
 * @param prefix the application's global prefix
 */
export function ownRoutes(modules: ModulesContainer, scanner: MetadataScanner, prefix: string): OwnRoute[] {
  const controllers = [...modules.values()].flatMap((module) => [...module.controllers.values()]);
  return controllers
    .flatMap(({ metatype }) => (typeof metatype === 'function' ? metatype : []))
    .filter((controller) => Reflect.getMetadata(Mounted.KEY, controller))
    .flatMap((controller) =>
      scanner.getAllMethodNames(controller.prototype).flatMap((name) => routeOf(controller as Type, name, prefix)),
    );
}

function routeOf(controller: Type, name: string, prefix: string): OwnRoute[] {
  const handler = controller.prototype[name] as object;
  const method: RequestMethod | undefined = Reflect.getMetadata(METHOD_METADATA, handler);
  if (method === undefined) return [];
  const host: string | undefined = Reflect.getMetadata(HOST_METADATA, controller);
  const own = [controller, handler].map((target) => trimSlashes(Reflect.getMetadata(PATH_METADATA, target) as string));
  const pattern = patternOf(own.filter(Boolean).join('/'), trimSlashes(prefix));
  return [
    {
      guard: Reflect.getMetadata(GuardName.KEY, controller) as string,
      matches: (request) =>
        request.method === RequestMethod[method] &&
        pattern.test(request.url?.split('?')[0] ?? '') &&
        (host === undefined || host === request.hostname),
    },
  ];
}

/** As routers match: in any case, with a slash at the end or none. A host may exempt paths from its prefix. */
function patternOf(path: string, prefix: string): RegExp {
  const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const segments = path.split('/').map((segment) => (segment.startsWith(':') ? '[^/]+' : literal(segment)));
  return new RegExp(`^/${prefix && `(?:${literal(prefix)}/)?`}${segments.join('/')}/?$`, 'i');
}
