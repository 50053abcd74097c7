import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AddressInfo } from 'node:net';
import { countStatements } from './counting';

/** HS256 secret of every application, so that their tokens cost the same to check. */
export const SECRET = 'benchmark-secret-of-every-application-0123456789';

/** What a guarded and an empty route answer, so that they differ in nothing but the guard. */
export const ANSWER = { ok: true };

/** Tokens of one session, as every application hands them out. */
export interface Tokens {
  access_token: string;
  refresh_token: string;
}

/** Serves an application on a free loopback port and reports the port to the parent process. */
export async function serve(module: DynamicModule): Promise<void> {
  countStatements();
  // A killed load generator cannot say goodbye; its channel closes all the same.
  process.once('disconnect', () => process.exit());
  const app = await NestFactory.create<NestExpressApplication>(module, { logger: ['error', 'warn'] });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  process.send?.({ port });
}
