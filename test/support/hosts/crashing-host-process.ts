// A host application that kills itself before the nth statement of a kind. A message sets the kind and the number.
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { redisCache } from '../../../apps/sample/src/redis-cache';
import { HostModule } from './host.module';

async function main(): Promise<void> {
  const { databaseUrl, redisUrl, options } = JSON.parse(process.env.HOST_OPTIONS!);
  const { cache } = await redisCache(redisUrl);
  const app = await NestFactory.create(HostModule.with(databaseUrl, { ...options, cache }), { logger: false });
  await app.listen(0, '127.0.0.1');
  const { logger } = app.get(DataSource);
  let [kind, remaining] = [/^/, Infinity];
  // TypeORM calls this method before it sends a statement.
  logger.logQuery = (text) => {
    if (kind.test(text) && --remaining === 0) process.kill(process.pid, 'SIGKILL');
  };
  process.on('message', (fatal: { kind: string; number: number }) => {
    [kind, remaining] = [new RegExp(fatal.kind), fatal.number];
    process.send!('armed');
  });
  process.send!(await app.getUrl());
  process.once('disconnect', () => process.exit());
}

void main();
