// Host applications in one process. Each of them stops before a different statement; the last one does not stop. Killing
// the process then simulates a crash at each of these statements.
import { NestFactory } from '@nestjs/core';
import { Client } from 'pg';
import { redisCache } from '../../../apps/sample/src/redis-cache';
import { HostModule } from './host.module';

/** The remaining statements of a host, including the one at which it stops, by the name of its connections. */
const remaining = new Map<string, number>();

function freezeClients(): void {
  const query = Client.prototype.query as (...args: unknown[]) => unknown;
  const counted = function (this: { connectionParameters: { application_name: string } }, ...args: unknown[]) {
    const name = this.connectionParameters.application_name;
    const statements = remaining.get(name) ?? Infinity;
    remaining.set(name, statements - 1);
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
    // Statements must not time out before the process is killed.
    const host = HostModule.with(databaseUrl, { cache, storeTimeoutMs: 30_000 }, undefined, undefined, pool);
    const app = await NestFactory.create(host, { logger: false });
    await app.listen(0, '127.0.0.1');
    urls.push(await app.getUrl());
  }
  urls.slice(0, -1).forEach((_, i) => remaining.set(String(i + 1), i + 1));
  process.send!(urls);
  process.once('disconnect', () => process.exit());
}

void main();
