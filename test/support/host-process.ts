// A host application as a process of its own, for tests that need several on the same stores.
import { NestFactory } from '@nestjs/core';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { HostModule } from './host.module';

async function main(): Promise<void> {
  const { databaseUrl, redisUrl, options } = JSON.parse(process.env.HOST_OPTIONS!);
  const { cache } = await redisCache(redisUrl);
  const app = await NestFactory.create(HostModule.with(databaseUrl, { ...options, cache }), { logger: false });
  await app.listen(0, '127.0.0.1');
  process.send!(await app.getUrl());
  process.once('disconnect', () => process.exit());
}

void main();
