import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { NestFactory } from '@nestjs/core';
import { AuthConsoleModule, type OpenApplication } from '@svc/auth/console';
import { CommandFactory } from 'nest-commander';
import { AppModule } from './app.module';
import { openDatabase } from './database';
import { readEnvironment } from './environment';

/** The application that the server runs, on the same data. */
async function openApplication(): Promise<OpenApplication> {
  const environment = readEnvironment();
  const database = await openDatabase(environment);
  const app = await NestFactory.createApplicationContext(AppModule.forEnvironment(environment, database.url, 0), {
    logger: ['fatal'],
    abortOnError: false,
  });
  const close = app.close.bind(app);
  app.close = () => close().finally(() => database.stop());
  return app;
}

function fail(error: Error): void {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

/** Runs the command that the arguments of the process name. */
export async function main(): Promise<void> {
  try {
    // The environment that the server has, without its development secret: a command makes only what it is asked for.
    if (existsSync('.env')) process.loadEnvFile();
    await CommandFactory.run(AuthConsoleModule.forApplication(openApplication), {
      logger: ['warn', 'error'],
      serviceErrorHandler: fail,
    });
  } catch (error) {
    fail(error as Error);
  }
}

if (require.main === module) void main();
