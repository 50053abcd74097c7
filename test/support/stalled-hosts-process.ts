// Host applications in one process, each of which stops before a statement of its own. Killed when all of them have
// stopped, the process dies at each of these statements.
import { NestFactory } from '@nestjs/core';
import { Client } from 'pg';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { HostModule } from './host.module';

/** How many statements a host sends yet, the one it stops at included; by the name of its connections. */
const left = new Map<string, number>();

function freezeClients(): void {
  const query = Client.prototype.query as (...args: unknown[]) => unknown;
  const counted = function (this: { connectionParameters: { application_name: string } }, ...args: unknown[]) {
    const name = this.connectionParameters.application_name;
    const statements = left.get(name) ?? Infinity;
    left.set(name, statements - 1);
    if (statements > 1) return query.apply(this, args);
    if (statements === 1) process.send!(Number(name));
    return new Promise(() => undefined);
  };
  Client.prototype.query = counted as typeof Client.prototype.query;
}

async function main(): Promise<void> {
  const { databaseUrl, redisUrl, hosts } = JSON.parse(process.env.HOST_OPTIONS!);
  freezeClients();
  const { cache, client } = await redisCache(redisUrl);
  client.setMaxListeners(0);
  const urls: string[] = [];
  for (let statement = 1; statement <= hosts; statement++) {
    const pool = { max: 3, application_name: String(statement) };
    // None of them gives up a statement before the process is killed.
    const host = HostModule.with(databaseUrl, { cache, storeTimeoutMs: 30_000 }, undefined, undefined, pool);
    const app = await NestFactory.create(host, { logger: false });
    await app.listen(0, '127.0.0.1');
    urls.push(await app.getUrl());
  }
  urls.forEach((_, i) => left.set(String(i + 1), i + 1));
  process.send!(urls);
  process.once('disconnect', () => process.exit());
}

void main();
