import type { NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule } from '@nestjs/swagger';
import { apiDocument } from './api-document';
import { AppModule } from './app.module';
import { openDatabase } from './database';
import type { Environment } from './environment';
import { Seed } from './users/seed';

/** Starts the server on its database. @returns what stops both */
export async function startApplication(
  environment: Environment,
  options: NestApplicationOptions = {},
): Promise<() => Promise<void>> {
  const database = await openDatabase(environment);
  const module = AppModule.forEnvironment(environment, database.url);
  const app = await NestFactory.create<NestExpressApplication>(module, options);
  app.disable('x-powered-by');
  if (process.env.NODE_ENV !== 'production') SwaggerModule.setup('docs', app, () => apiDocument(app));
  const { host, port, seedDemo } = environment;
  if (seedDemo) await app.get(Seed).run();
  await (host ? app.listen(port, host) : app.listen(port));
  return async () => {
    await app.close();
    await database.stop();
  };
}
