import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { describeAuth } from '@svc/auth/openapi';

/** The routes of the API. The web page is not documented. */
const API = /^\/(admin|auth|health|orders|staff|user)(\/|$)/;

/** The routes of the customers are first, those of the other guards and of the operation last. */
const ORDER = [/^\/auth\//, /^\/(user|orders)(\/|$)/, /^\/staff(\/|$)/, /^\/admin\//, /./];
const placeOf = (path: string): number => ORDER.findIndex((one) => one.test(path));

/** The sample's OpenAPI document. */
export function apiDocument(app: INestApplication): OpenAPIObject {
  const about = new DocumentBuilder().setTitle('Orders').setVersion('1').build();
  const document = describeAuth(app, SwaggerModule.createDocument(app, about));
  const paths = Object.entries(document.paths)
    .filter(([path]) => API.test(path))
    .toSorted(([a], [b]) => placeOf(a) - placeOf(b));
  // The tags in the order of their first route.
  const names = new Set(paths.flatMap(([, item]) => Object.values(item as object).flatMap(({ tags = [] }) => tags)));
  const described = new Map(document.tags?.map((tag) => [tag.name, tag]));
  const tags = [...names].map((name: string) => described.get(name) ?? { name });
  return { ...document, tags, paths: Object.fromEntries(paths) };
}
