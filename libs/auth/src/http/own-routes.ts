import { HOST_METADATA } from '@nestjs/common/constants';
import type { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { trimSlashes } from '../config/trim-slashes';
import { mountedRoutes } from './mounted-routes';

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
  return mountedRoutes(modules, scanner).map(({ guard, controller, method, path }) => {
    const host: string | undefined = Reflect.getMetadata(HOST_METADATA, controller);
    const pattern = patternOf(path, trimSlashes(prefix));
    return {
      guard,
      matches: (request) =>
        request.method === method &&
        pattern.test(request.url?.split('?')[0] ?? '') &&
        (host === undefined || host === request.hostname),
    };
  });
}

/** As routers match: in any case, with a slash at the end or none. A host may exempt paths from its prefix. */
function patternOf(path: string, prefix: string): RegExp {
  const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const segments = path.split('/').map((segment) => (segment.startsWith(':') ? '[^/]+' : literal(segment)));
  return new RegExp(`^/${prefix && `(?:${literal(prefix)}/)?`}${segments.join('/')}/?$`, 'i');
}
