import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { NestFactory } from '@nestjs/core';
import { AuthConsoleModule, type OpenApplication } from '@svc/auth/console';
import { AppModule } from './app.module';
import { openDatabase } from './dev/open-database';
import { readEnvironment } from './environment';

/** The application of the server on the same database, without its HTTP server. */
async function openApplication(): Promise<OpenApplication> {
  const environment = readEnvironment();
  const database = await openDatabase(environment);
  const app = await NestFactory.createApplicationContext(AppModule.forEnvironment(environment, database.url), {
    logger: ['fatal'],
    abortOnError: false,
  });
  const close = app.close.bind(app);
  app.close = () => close().finally(() => database.stop());
  return app;
}

/** Runs the command in the arguments of the process, and ends the process. */
export async function main(): Promise<void> {
  // Reads `.env`, but generates no development secret: a command writes only what it is asked to write.
  if (existsSync('.env')) process.loadEnvFile();
  await AuthConsoleModule.run(openApplication);
}

if (require.main === module) void main();
