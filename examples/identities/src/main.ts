import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { dirname, join } from 'node:path';
import { AppModule } from './app.module.js';

async function bootstrap() {
  const app = await NestFactory.create<NestExpressApplication>(AppModule);
  app.useStaticAssets(join(__dirname, '../public'), { index: false });
  // Two files, without a bundler: a page with a bundler imports '@svc/auth-client' and '@svc/auth-client/identities' instead.
  app.useStaticAssets(dirname(require.resolve('@svc/auth-client/auth-client.min.js')), { prefix: '/client' });
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 3000, process.env.HOST ?? 'localhost');
}
void bootstrap();
