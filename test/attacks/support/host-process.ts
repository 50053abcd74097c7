// The host application under attack. It is compiled beside the unpacked package and runs in its own process.
import 'reflect-metadata';
import type { INestApplication } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Auth, type Mail, Mailer, PasswordHasher } from '@svc/auth';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { redisCache } from '../../../apps/sample/src/redis-cache';
import { httpAdapter, routesOfRouter } from '../../support/adapter';
import { HostModule } from '../../support/host.module';
import { Member, Operator, PASSWORD } from '../../support/user-entities';
import type { HostQuestions, Visitor } from './attacked-host';

const mails: Mail[] = [];
const work = { hashes: 0, queries: 0 };

class Outbox extends Mailer {
  async send(mail: Mail): Promise<void> {
    mails.push(mail);
  }
}

/** Distinguishes work for requests from background work of the library, such as checks of the denylist. */
const requestScope = new AsyncLocalStorage<true>();

/** Counts the hashes and statements of requests. */
function observe(app: INestApplication): void {
  app.getHttpServer().prependListener('request', () => requestScope.enterWith(true));
  const { library } = app.get(PasswordHasher) as unknown as {
    library: Record<'hash' | 'verify', (...args: unknown[]) => unknown>;
  };
  for (const name of ['hash', 'verify'] as const) {
    const inner = library[name].bind(library);
    library[name] = (...args) => {
      work.hashes++;
      return inner(...args);
    };
  }
  const prototype = Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const { query } = prototype;
  prototype.query = function (...args) {
    if (requestScope.getStore()) work.queries++;
    return query.apply(this, args);
  };
}

/** Waits until background work after responses has left the database: two event loop ticks without a statement. */
async function untilIdle(app: INestApplication): Promise<void> {
  const pool = (app.get(DataSource).driver as unknown as { master: { idleCount: number; totalCount: number } }).master;
  for (let turns = 0; turns < 2; turns = pool.idleCount === pool.totalCount ? turns + 1 : 0) await nextTurn();
}

function answersOf(app: INestApplication): HostQuestions {
  const digest = app.get(PasswordHasher).hash(PASSWORD);
  let count = 0;

  async function visitor(guard: string, abilities?: string[]): Promise<Visitor> {
    const email = `visitor-${guard}-${process.pid}-${count++}@example.com`;
    const [entity, more] = guard === 'api' ? [Member, { name: 'Visitor' }] : [Operator, {}];
    const people = app.get(DataSource).getRepository<object>(entity);
    const passwordHash = await digest;
    const id = String(people.getId(await people.save({ email, passwordHash, ...more })));
    const { accessToken, refreshToken } = await app
      .get(Auth)
      .guard(guard)
      .startSession(id, {}, abilities ?? undefined);
    return { id, email, guard, access: accessToken, refresh: refreshToken, passwordHash };
  }

  return {
    routes: async () => routesOfRouter(app.getHttpAdapter() as AbstractHttpAdapter),
    visitors: async (number, guard, abilities) =>
      Promise.all(Array.from({ length: number }, () => visitor(guard, abilities))),
    mails: async () => mails,
    work: async () => {
      await untilIdle(app);
      return { ...work };
    },
    inherited: async () => {
      const names: string[] = [];
      for (const name in {}) names.push(name);
      return names;
    },
  };
}

async function main(): Promise<void> {
  const { databaseUrl, redisUrl, options, bodyLimit, fastify } = JSON.parse(process.env.HOST_OPTIONS!);
  const { cache } = await redisCache(redisUrl);
  const host = HostModule.with(databaseUrl, {
    ...options,
    cache,
    users: { entity: Member },
    mail: { mailer: new Outbox() },
  });
  const app = await NestFactory.create<NestExpressApplication>(host, httpAdapter({ fastify }));
  if (bodyLimit && fastify) app.useBodyParser('application/json' as 'json', { bodyLimit } as object);
  else if (bodyLimit) app.useBodyParser('json', { limit: bodyLimit });
  // A server that closes an idle connection while the client sends on it would decide a test.
  app.getHttpServer().keepAliveTimeout = 0;
  await app.listen(0, '127.0.0.1');
  observe(app);
  const answers = answersOf(app) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  process.on('message', ({ id, ask, args }: { id: number; ask: string; args: unknown[] }) => {
    void answers[ask]!(...args).then(
      (answer) => process.send!({ id, answer }),
      (error: Error) => process.send!({ id, error: String(error.stack) }),
    );
  });
  process.send!({ url: await app.getUrl() });
  process.once('disconnect', () => process.exit());
}

void main();
