import type { NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule } from '@nestjs/swagger';
import { apiDocument } from './api-document';
import { prepareConnections } from './connections';
import { createDemoAccounts } from './dev/demo-accounts';
import { DevModule } from './dev/dev.module';
import { isProduction } from './dev/development';
import { openDatabase } from './dev/open-database';
import type { Environment } from './environment';
import { waitForStores } from './stores';

/** Waits for the stores, opens the database and starts the server. @returns a function that stops both */
export async function startApplication(
  environment: Environment,
  options: NestApplicationOptions = {},
): Promise<() => Promise<void>> {
  await waitForStores(environment);
  const database = await openDatabase(environment);
  // Without a mailbox this is `AppModule`.
  const module = DevModule.forEnvironment(environment, database.url);
  const app = await NestFactory.create<NestExpressApplication>(module, options);
  app.disable('x-powered-by');
  // Without a proxy, a client could choose its address for the rate limits.
  app.set('trust proxy', environment.trustProxy);
  if (!isProduction()) SwaggerModule.setup('docs', app, () => apiDocument(app));
  const { host, port, development } = environment;
  if (development.seedDemo) await createDemoAccounts(app, development.mailbox !== undefined);
  const closeConnections = prepareConnections(app.getHttpServer());
  await (host ? app.listen(port, host) : app.listen(port));
  return async () => {
    closeConnections();
    await app.close();
    await database.stop();
  };
}
