import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { join } from 'node:path';
import { AppModule } from './app.module.js';

/** Scripts of this server only, which keeps the scripts of attackers out, and the empty icon (`data:,`). */
const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

async function bootstrap() {
  const app = await NestFactory.create<NestExpressApplication>(AppModule);
  app.use((_: Request, response: Response, next: NextFunction) => {
    response.setHeader('Content-Security-Policy', POLICY);
    next();
  });
  // The page as Vite has built it. `npm run start:page` serves the sources instead, while you write.
  app.useStaticAssets(join(__dirname, '../web'));
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 3000, process.env.HOST ?? 'localhost');
}
void bootstrap();
