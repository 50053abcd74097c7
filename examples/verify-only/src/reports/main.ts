import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { ReportsModule } from './reports.module.js';

async function bootstrap() {
  const app = await NestFactory.create(ReportsModule);
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 3001, process.env.HOST ?? 'localhost');
}
void bootstrap();
