// A host application in its own process, for tests with several applications on the same stores.
import type { INestApplication } from '@nestjs/common';
import { AccountLocked, AccountReleased, AuthEvents, Lockout, PasswordHasher } from '@svc/auth';
import { redisCache } from '../../../apps/sample/src/redis-cache';
import { startHost } from './adapter';
import { HostModule } from './host.module';
import type { ProcessCounts } from './processes';

/** Counts password verifications and events for tests across processes. */
function observe(app: INestApplication): () => ProcessCounts {
  const seen: ProcessCounts = { verified: 0, locked: 0, released: 0, limited: 0 };
  const { library } = app.get(PasswordHasher) as unknown as { library: { verify(...args: unknown[]): unknown } };
  const verify = library.verify.bind(library);
  library.verify = (...args) => {
    seen.verified++;
    return verify(...args);
  };
  const events = app.get(AuthEvents);
  events.on(AccountLocked, () => seen.locked++);
  events.on(AccountReleased, () => seen.released++);
  events.on(Lockout, () => seen.limited++);
  return () => seen;
}

async function main(): Promise<void> {
  const { databaseUrl, redisUrl, behindProxy, options } = JSON.parse(process.env.HOST_OPTIONS!);
  const { cache } = await redisCache(redisUrl);
  const app = await startHost(HostModule.with(databaseUrl, { ...options, cache }), { behindProxy });
  const seen = observe(app);
  process.on('message', (asked) => process.send!(asked === 'memory' ? process.memoryUsage.rss() : seen()));
  process.send!(await app.getUrl());
  process.once('disconnect', () => process.exit());
}

void main();
