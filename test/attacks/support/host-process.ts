// The host applications under attack. They run in their own process.
import 'reflect-metadata';
import type { INestApplication } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Auth, type Mail, Mailer, PasswordHasher } from '@svc/auth';
import { github } from '@svc/auth/identities';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { redisCache } from '../../../apps/sample/src/redis-cache';
import { httpAdapter, routesOfRouter } from '../../support/hosts/adapter';
import { HostModule } from '../../support/hosts/host.module';
import { Member, Operator, PASSWORD } from '../../support/hosts/user-entities';
import type { HostQuestions, StartQuestion, Visitor } from './attacked-host';

interface Work {
  hashes: number;
  queries: number;
}

class Outbox extends Mailer {
  readonly mails: Mail[] = [];

  async send(mail: Mail): Promise<void> {
    this.mails.push(mail);
  }
}

/**
 * The counts of the host whose request is served. Distinguishes work for requests from background work of the library, such
 * as checks of the denylist.
 */
const requestScope = new AsyncLocalStorage<Work>();

const prototype = Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
const { query } = prototype;
prototype.query = function (...args) {
  const work = requestScope.getStore();
  // The question to a connection that was silent for some seconds: the speed of the machine decides whether it is sent.
  if (work && args[0] !== 'SELECT 1') work.queries++;
  return query.apply(this, args);
};

/** Counts the hashes and statements of requests. */
function observe(app: INestApplication): Work {
  const work: Work = { hashes: 0, queries: 0 };
  app.getHttpServer().prependListener('request', () => requestScope.enterWith(work));
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
  return work;
}

/** Waits until background work after responses has left the database: two event loop ticks without a statement. */
async function untilIdle(app: INestApplication): Promise<void> {
  const pool = (app.get(DataSource).driver as unknown as { master: { idleCount: number; totalCount: number } }).master;
  for (let turns = 0; turns < 2; turns = pool.idleCount === pool.totalCount ? turns + 1 : 0) await nextTurn();
}

function answersOf(app: INestApplication, { mails }: Outbox): HostQuestions {
  const work = observe(app);
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

/** A provider that is not there. It is asked only with the answer to an attempt. */
const hub = github({
  clientId: 'app',
  clientSecret: 'secret',
  redirectUris: ['https://app.example.test/hub'],
  url: 'http://127.0.0.1:1',
});

const hosts: HostQuestions[] = [];

const start: StartQuestion = async ({ databaseUrl, redisUrl, options, bodyLimit, fastify }) => {
  const { cache } = await redisCache(redisUrl);
  const mailer = new Outbox();
  const host = HostModule.with(databaseUrl, {
    ...options,
    cache,
    users: { entity: Member },
    mail: { mailer },
    identities: { providers: { hub } },
  });
  const app = await NestFactory.create<NestExpressApplication>(host, httpAdapter({ fastify }));
  if (bodyLimit && fastify) app.useBodyParser('application/json' as 'json', { bodyLimit } as object);
  else if (bodyLimit) app.useBodyParser('json', { limit: bodyLimit });
  // A server that closes an idle connection while the client sends on it would decide a test.
  app.getHttpServer().keepAliveTimeout = 0;
  await app.listen(0, '127.0.0.1');
  return { host: hosts.push(answersOf(app, mailer)) - 1, url: await app.getUrl() };
};

process.on('message', ({ id, host, ask, args }: { id: number; host?: number; ask: string; args: unknown[] }) => {
  const questions = (host === undefined ? { start } : hosts[host]) as unknown as Record<
    string,
    (...args: unknown[]) => Promise<unknown>
  >;
  void questions[ask]!(...args).then(
    (answer) => process.send!({ id, answer }),
    (error: Error) => process.send!({ id, error: String(error.stack) }),
  );
});
process.once('disconnect', () => process.exit());
