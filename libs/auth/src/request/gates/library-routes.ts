import { RequestMethod, type Type } from '@nestjs/common';
import { HOST_METADATA, METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { trimSlashes } from '../../foundation/config/core-options';
import { type Feature, GuardName, Mounted } from '../../foundation/realm/feature';
import { Declared, type RouteDeclaration } from '../../foundation/realm/route';

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
    .flatMap((controller) => routesOf(controller as Type, scanner));
}

/** Lists the routes of one controller, whose path may be that below any guard. */
export const routesOf = (controller: Type, scanner: MetadataScanner): MountedRoute[] =>
  scanner.getAllMethodNames(controller.prototype as object).flatMap((name) => routeOf(controller, name));

/** Lists the routes of all manifests, mounted or not. */
export const statedRoutes = (manifests: readonly Feature[]): MountedRoute[] =>
  manifests
    .flatMap(({ controllers = [], defaultGuardControllers = [] }) => [...controllers, ...defaultGuardControllers])
    .flatMap((controller) => routesOf(controller, new MetadataScanner()));

/** Why the library must not start with two routes of the same operation: the log and the metrics would not separate them. */
export function operationErrors(manifests: readonly Feature[]): string[] {
  const operations = statedRoutes(manifests).map(({ handler }) => {
    const declared = Reflect.getMetadata(Declared.KEY, handler) as RouteDeclaration | undefined;
    return declared?.operation;
  });
  const repeated = operations.filter((operation, index) => operations.indexOf(operation) !== index);
  return repeated.map((operation) => `Two routes have the operation ${operation}. Give each route its own.`);
}

/** Segments of the library's own paths with further routes below them, of all manifests. */
export function segmentsWithRoutesBelow(manifests: readonly Feature[]): string[] {
  const paths = statedRoutes(manifests).map(({ path }) => path);
  return [...new Set(paths.flatMap((path) => (path.includes('/') ? path.split('/', 1) : [])))].toSorted();
}

function routeOf(controller: Type, name: string): MountedRoute[] {
  const handler = controller.prototype[name] as object;
  const method: RequestMethod | undefined = Reflect.getMetadata(METHOD_METADATA, handler);
  if (method === undefined) return [];
  const own = [controller, handler].map((target) => trimSlashes(Reflect.getMetadata(PATH_METADATA, target) as string));
  const guard = Reflect.getMetadata(GuardName.KEY, controller) as string;
  return [{ guard, controller, handler, name, method: RequestMethod[method], path: own.filter(Boolean).join('/') }];
}

/** The parts of a request that select a route. */
export interface Chosen {
  method?: string;
  /** Path and query. */
  url?: string;
  hostname?: string;
}

/** A mounted route of the library. */
export interface LibraryRoute {
  readonly guard: string;
  /** Matches the path of a request, decoded: see {@link pathOf}. */
  readonly pattern: RegExp;
  matches(request: Chosen): boolean;
}

/**
 * Lists every mounted route of the library with a matcher, for errors that occur before routing.
 *
 * @param prefix the application's global prefix
 */
export function libraryRoutes(modules: ModulesContainer, scanner: MetadataScanner, prefix: string): LibraryRoute[] {
  return mountedRoutes(modules, scanner).map(({ guard, controller, method, path }) => {
    const host: string | undefined = Reflect.getMetadata(HOST_METADATA, controller);
    const pattern = patternOf(path, trimSlashes(prefix));
    return {
      guard,
      pattern,
      matches: (request) =>
        request.method === method &&
        pattern.test(pathOf(request.url ?? '')) &&
        (host === undefined || host === request.hostname),
    };
  });
}

/**
 * The path of a request target, decoded as the router of Fastify does it: `/auth/%6cogin` is `/auth/login`. The target
 * may be a whole URL (RFC 9112 §3.2.2). An encoded slash separates no segments. Pure.
 */
export function pathOf(target: string): string {
  const [path = ''] = target.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1);
  return path
    .split('/')
    .map((segment) => decoded(segment).replaceAll('/', '%2F'))
    .join('/');
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The pattern of a path with parameters, such as `:tenant/auth`. */
const partOf = (path: string): string =>
  path
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : literal(segment)))
    .join('/');

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Matches a path or a request target at or below one of `paths`. */
export const belowAny = (paths: readonly string[], prefix: string): RegExp =>
  new RegExp(`^/${prefix && `(?:${partOf(prefix)}/)?`}(?:${paths.map(literal).join('|')})(?:[/?#]|$)`, 'i');

/** A request target that is a path without an encoded character and without a fragment. */
export const isWithoutEncoding = /^\/[^%#]*$/;

/**
 * Matches like a router: without case, with or without a final slash. Hosts can exclude paths from the prefix. The router
 * itself cannot be asked, because it runs after the parsers.
 */
function patternOf(path: string, prefix: string): RegExp {
  return new RegExp(`^/${prefix && `(?:${partOf(prefix)}/)?`}${partOf(path)}/?$`, 'i');
}
