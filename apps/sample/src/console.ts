import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { Module } from '@nestjs/common';
import { AuthConsoleModule } from '@svc/auth/console';
import { CommandFactory } from 'nest-commander';

@Module({ imports: [AuthConsoleModule] })
class ConsoleModule {}

function fail(error: Error): void {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  // The environment that the server has, without its development secret: a command makes only what it is asked for.
  if (existsSync('.env')) process.loadEnvFile();
  await CommandFactory.run(ConsoleModule, { logger: ['warn', 'error'], serviceErrorHandler: fail });
}

main().catch(fail);
