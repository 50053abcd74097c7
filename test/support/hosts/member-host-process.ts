// A host with members in its own process, for tests that kill it. It discards its mails.
import { NestFactory } from '@nestjs/core';
import { redisCache } from '../../../apps/sample/src/redis-cache';
import { HostModule } from './host.module';
import { Mailbox, memberOptions } from './members';

async function main(): Promise<void> {
  const { databaseUrl, redisUrl, options } = JSON.parse(process.env.HOST_OPTIONS!);
  const { cache } = await redisCache(redisUrl);
  const all = { ...memberOptions(new Mailbox(), options), cache };
  const app = await NestFactory.create(HostModule.with(databaseUrl, all), { logger: false });
  await app.listen(0, '127.0.0.1');
  process.send!(await app.getUrl());
  process.once('disconnect', () => process.exit());
}

void main();
