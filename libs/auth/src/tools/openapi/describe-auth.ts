import type { INestApplicationContext } from '@nestjs/common';
import { ApplicationConfig, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { trimSlashes } from '../../foundation/config/resolve-options';
import { type MountedRoute, mountedRoutes } from '../../request/gates/library-routes';
import { Realms } from '../../foundation/realm/realm';
import { BODIES } from './bodies';
import { operationObject, tagOf, schemesOf } from './operation';
import { Failures } from './failures';
import { inVersion } from './schema';

/** An OpenAPI document, as far as the library writes in it: 3.0 or 3.1, as `SwaggerModule.createDocument` makes it. */
export interface ApiDocument {
  openapi: string;
  paths: Record<string, object>;
  components?: object;
  tags?: { name: string }[];
}

/**
 * Describes the library's mounted routes in a host's OpenAPI document: bodies, answers, failures, headers and what
 * opens them. Those of the host stay as they are. Needs no package: the document may come from `@nestjs/swagger` or
 * from anywhere else.
 *
 * Every guard brings security schemes for the host's own routes: `{guard}_access_token` and `{guard}_confirmation`.
 * Guards that share a path and differ in their `domain` alone share a place in the document, too.
 *
 * @param app the application, created; it need not listen
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
  const described = (route: MountedRoute) =>
    inVersion(operationObject(route, realms.get(route.guard), failures), document.openapi);
  const paths = { ...document.paths };
  for (const route of routes) {
    const path = placeOf(route, prefix, paths);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: described(route) };
  }
  const { schemas, responses, securitySchemes, ...components } = (document.components ?? {}) as Record<string, object>;
  return {
    ...document,
    tags: [...(document.tags ?? []), ...tags.map((name) => ({ name }))],
    paths,
    components: {
      ...components,
      schemas: { ...schemas, ...(routes.length && inVersion(BODIES, document.openapi)) },
      responses: { ...responses, ...failures.shared },
      securitySchemes: Object.assign({}, securitySchemes, ...guards.map(schemesOf)),
    },
  };
}

/** Where the document has a route, or would: a host may exempt paths from its prefix. */
function placeOf({ path }: MountedRoute, prefix: string, paths: Readonly<Record<string, object>>): string {
  const bare = `/${path.replaceAll(/:(\w+)/g, '{$1}')}`;
  const prefixed = prefix ? `/${prefix}${bare}` : bare;
  return prefixed in paths || !(bare in paths) ? prefixed : bare;
}
