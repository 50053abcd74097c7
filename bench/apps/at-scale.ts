import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Auth, AuthModule, Pruning, SecurityStore, authEntities } from '@svc/auth';
import { Client } from 'pg';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { COMPLETE, FAMILY_KEYS } from '../../libs/auth/src/identity/denylist/denylist';
import { DenylistMonitor, LEASE } from '../../libs/auth/src/identity/denylist/denylist-monitor';
import { Person } from '../../test/support/hosts/user-entities';
import { APART } from '../growth/fill';
import type { Step, Work, Worked } from '../scale/work';
import { SECRET } from './serve';

/** The statement of a page. */
const PAGES: Record<Work, RegExp> = {
  prune: /DELETE FROM \S*svc_sessions/,
  rebuild: /SELECT id, revoked_at::text/,
  revoke: /SET revoked_at/,
};

const nothing = (): Worked => ({ statement: [], denials: [], commit: [], lease: [], rows: 0, seconds: 0, rss: 0 });
let worked = nothing();
let denied = 0;
let page = PAGES.rebuild;

async function timed<T>(step: Step, pending: Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await pending;
  worked[step].push(performance.now() - start);
  return result;
}

/** Times the pages and commits of this process, below TypeORM and the pool. */
function timeStatements(): void {
  const { prototype } = Client as unknown as { prototype: { query(...args: unknown[]): unknown } };
  const { query } = prototype;
  prototype.query = function timedQuery(...args) {
    const answer = query.apply(this, args);
    const text = String((args[0] as { text?: string } | null)?.text ?? args[0]);
    const step = text === 'COMMIT' ? 'commit' : page.test(text) ? 'statement' : null;
    return step && answer instanceof Promise ? timed(step, answer) : answer;
  };
}

/** Times what the library writes to Redis. */
function timeWrites(store: SecurityStore): void {
  const setMany = store.setMany.bind(store);
  store.setMany = (keys, ...rest) => {
    const [first] = keys;
    const step = first === LEASE ? 'lease' : first?.startsWith(FAMILY_KEYS) ? 'denials' : null;
    if (step === 'denials') denied += keys.length;
    return step ? timed(step, setMany(keys, ...rest)) : setMany(keys, ...rest);
  };
}

/** An issuer with the guard {@link APART} and without routes of its own. */
@Module({})
class AtScale {
  static with(url: string, redisUrl: string): DynamicModule {
    return {
      module: AtScale,
      imports: [
        TypeOrmModule.forRoot({ type: 'postgres', url, entities: [...authEntities, Person], installExtensions: false }),
        AuthModule.forRootAsync({
          users: { entity: Person },
          guard: APART,
          useFactory: async () => ({
            secret: SECRET,
            issuer: 'https://bench.test',
            audience: 'https://bench.test',
            cache: (await redisCache(redisUrl)).cache,
          }),
        }),
      ],
    };
  }
}

/** Works as the parent process asks, and reports each {@link Worked}. */
async function work(): Promise<void> {
  process.once('disconnect', () => process.exit());
  timeStatements();
  const module = AtScale.with(process.env.DATABASE_URL!, process.env.REDIS_URL!);
  const app = await NestFactory.createApplicationContext(module, { logger: ['error'] });
  const get = <T>(type: abstract new (...args: never[]) => T): T => app.get(type, { strict: false });
  const store = get(SecurityStore);
  timeWrites(store);
  const works: Record<Work, () => Promise<number>> = {
    prune: async () => (await get(Pruning).run()).sessions,
    rebuild: async () => {
      // A check that has begun before the loss may find nothing.
      while ((await store.getMany([COMPLETE]))[0] === null) await get(DenylistMonitor).look();
      return denied;
    },
    revoke: () => get(Auth).revokeEverything(),
  };
  process.on('message', (asked: Work) => {
    void (async () => {
      [worked, denied, page] = [nothing(), 0, PAGES[asked]];
      const start = performance.now();
      const rows = await works[asked]();
      const seconds = (performance.now() - start) / 1000;
      process.send?.({ ...worked, rows, seconds, rss: process.memoryUsage.rss() / 2 ** 20 });
    })();
  });
  process.send?.('ready');
}

void work();
