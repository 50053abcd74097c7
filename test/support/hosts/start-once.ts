import type { AuthModuleOptions } from '@svc/auth';
import { NestFactory } from '@nestjs/core';
import { HostModule } from './host.module';

/** Starts an application with these options, and ends it. Rejects with the error of the start. */
export async function startOnce(databaseUrl: string, options: Partial<AuthModuleOptions>): Promise<void> {
  const app = await NestFactory.create(HostModule.with(databaseUrl, options), { logger: false, abortOnError: false });
  await app.init();
  await app.close();
}
