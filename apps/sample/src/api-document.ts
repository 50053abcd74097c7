import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { describeAuth } from '@svc/auth/openapi';

/** The routes of the API. The web page is not documented. */
const API = /^\/(admin|auth|health|orders|user)(\/|$)/;

/** The sample's OpenAPI document. */
export function apiDocument(app: INestApplication): OpenAPIObject {
  const about = new DocumentBuilder().setTitle('Orders').setVersion('1').build();
  const document = describeAuth(app, SwaggerModule.createDocument(app, about));
  return { ...document, paths: Object.fromEntries(Object.entries(document.paths).filter(([path]) => API.test(path))) };
}
