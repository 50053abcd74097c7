import { ApolloDriver } from '@nestjs/apollo';
import type { DynamicModule, Type } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { MercuriusDriver } from '@nestjs/mercurius';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { randomUUID } from 'node:crypto';
import { modulesOf } from '../docs/page-modules';
import { TestApp } from '../support/hosts/app';
import { ADA } from '../support/hosts/user-entities';

const pages = modulesOf('docs/recipes/graphql.md');
const NewsResolver: Type = pages['src/news.resolver.ts'].NewsResolver;
const LimitsModule: Type = pages['src/limits.module.ts'].LimitsModule;
const Nightly: Type<{ run(): Promise<void> }> = modulesOf('docs/operations.md')['src/nightly.ts'].Nightly;

const apollo = (): DynamicModule =>
  GraphQLModule.forRoot({
    driver: ApolloDriver,
    autoSchemaFile: true,
    context: ({ req, res }: { req: object; res: object }) => ({ req, res }),
  });
const mercurius = (): DynamicModule =>
  GraphQLModule.forRoot({
    driver: MercuriusDriver,
    autoSchemaFile: true,
    context: (req: object, res: object) => ({ req, res }),
  });

describe.each([
  ['Apollo on Express', apollo, false],
  ['Mercurius on Fastify', mercurius, true],
])('the throttler of the recipe, with %s', (_, graphql, fastify) => {
  const t = TestApp.forFile(() => ({
    options: { keyPrefix: `${randomUUID()}:` },
    imports: [{ module: class News {}, imports: [graphql(), LimitsModule], providers: [NewsResolver] }],
    fastify,
    behindProxy: true,
  }));

  const news = async (token: string, address: string) => {
    const call = t.http.post('/graphql').set({ Authorization: `Bearer ${token}`, 'X-Forwarded-For': address });
    const { body, status } = await call.send({ query: '{ news }' });
    expect(status).toBeLessThan(500);
    return body.data?.news ?? (body.errors[0].message as string);
  };

  it('limits the calls of a resolver for each client', async () => {
    await t.person(ADA);
    const { access_token: token } = await t.session();
    for (let i = 0; i < 3; i++) expect(await news(token, '203.0.113.1')).toBe('Nothing new.');
    expect(await news(token, '203.0.113.1')).toMatch(/Too Many Requests/);
    expect(await news(token, '203.0.113.2')).toBe('Nothing new.');
  });

  it('limits calls without a token, too', async () => {
    for (let i = 0; i < 3; i++) expect(await news('none', '203.0.113.3')).toBe('Authentication is required.');
    expect(await news('none', '203.0.113.3')).toMatch(/Too Many Requests/);
  });
});

describe('the job of the recipe for pruning', () => {
  const t = TestApp.forFile(() => ({
    imports: [{ module: class Jobs {}, imports: [ScheduleModule.forRoot()], providers: [Nightly] }],
  }));

  it('is scheduled, and deletes the rows of sessions that have expired', async () => {
    expect([...t.app.get(SchedulerRegistry).getCronJobs().keys()]).toEqual(['nightly']);
    await t.person(ADA);
    await t.session();
    const sessions = async () => (await t.database.query('SELECT id FROM svc_sessions')).length;
    await t.app.get(Nightly).run();
    expect(await sessions()).toBe(1);
    t.clock.advance(2_592_000 + 906);
    await t.app.get(Nightly).run();
    expect(await sessions()).toBe(0);
  });
});
