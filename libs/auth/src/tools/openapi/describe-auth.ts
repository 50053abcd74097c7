/**
 * The routes of the library in the OpenAPI document of an application.
 *
 * ```ts
 * import { describeAuth } from '@svc/auth/openapi';
 * ```
 *
 * @module @svc/auth/openapi
 */

import type { INestApplicationContext } from '@nestjs/common';
import { ApplicationConfig, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { trimSlashes } from '../../foundation/config/core-options';
import { type MountedRoute, mountedRoutes } from '../../request/gates/library-routes';
import { type Schema, definitionsIn } from '../../foundation/platform/schema';
import { type Feature, MANIFESTS } from '../../foundation/realm/feature';
import { Realms } from '../../foundation/realm/realm';
import { operationObject, tagOf, schemesOf } from './operation';
import { Failures } from './failures';

/** The parts of an OpenAPI document (3.0 or 3.1) that the library changes. `SwaggerModule.createDocument` returns one. */
export interface ApiDocument {
  openapi: string;
  paths: Record<string, object>;
  components?: object;
  tags?: { name: string }[];
}

/**
 * Adds the library's mounted routes to a host's OpenAPI document: request bodies, responses, errors, headers and
 * security requirements. Routes of the host stay unchanged. Needs no package: the document may come from
 * `@nestjs/swagger` or any other source.
 *
 * Every guard adds security schemes for the host's routes: `{guard}_access_token` and `{guard}_confirmation`, and
 * `{guard}_access_key` where it has access keys. Guards with the same path and different `domain`s share one path item.
 *
 * @param app the created application; it does not need to listen
 * @returns a new document
 * @example
 * const document = describeAuth(app, SwaggerModule.createDocument(app, new DocumentBuilder().build()));
 * SwaggerModule.setup('docs', app, document);
 * @publicApi
 */
export function describeAuth<D extends ApiDocument>(app: INestApplicationContext, document: D): D {
  const realms = app.get(Realms, { strict: false });
  const prefix = trimSlashes(app.get(ApplicationConfig).getGlobalPrefix());
  const routes = mountedRoutes(app.get(ModulesContainer), new MetadataScanner());
  const guards = realms.all.map(({ realm }) => realm.options);
  const tags = guards.filter(({ guard }) => routes.some((route) => route.guard === guard)).map(tagOf);
  const failures = new Failures();
  const manifests = app.get<readonly Feature[]>(MANIFESTS, { strict: false });
  const definitions: Record<string, Schema> = {};
  const paths = { ...document.paths };
  for (const route of routes) {
    const path = placeOf(route, prefix, paths);
    const operation = operationObject(route, realms.get(route.guard), failures, manifests);
    Object.assign(definitions, definitionsIn(operation));
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: inVersion(operation, document.openapi) };
  }
  Object.assign(definitions, definitionsIn(failures.shared));
  const ownSchemas = Object.fromEntries(Object.entries(definitions).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const { schemas, responses, securitySchemes, ...components } = (document.components ?? {}) as Record<string, object>;
  return {
    ...document,
    tags: [...(document.tags ?? []), ...tags.map((name) => ({ name }))],
    paths,
    components: {
      ...components,
      schemas: { ...schemas, ...inVersion(ownSchemas, document.openapi) },
      responses: { ...responses, ...failures.shared },
      securitySchemes: Object.assign({}, securitySchemes, ...guards.map(schemesOf)),
    },
  };
}

/** The path of a route in the document. The path has no prefix if the host exempts it from the global prefix. */
function placeOf({ path }: MountedRoute, prefix: string, paths: Readonly<Record<string, object>>): string {
  const bare = `/${path.replaceAll(/:(\w+)/g, '{$1}')}`;
  const prefixed = prefix ? `/${prefix}${bare}` : bare;
  return prefixed in paths || !(bare in paths) ? prefixed : bare;
}

/** Converts part of a document to a version: from 3.1 on `nullable` becomes a type list with `null`. */
function inVersion<T>(part: T, version: string): T {
  if (version.startsWith('3.0')) return part;
  return JSON.parse(JSON.stringify(part), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('nullable' in value)) return value;
    const { nullable: _nullable, type, ...rest } = value as { nullable: true; type: string };
    return { type: [type, 'null'], ...rest };
  }) as T;
}
