import { ApolloDriver } from '@nestjs/apollo';
import type { DynamicModule } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { MercuriusDriver } from '@nestjs/mercurius';
import { type AuthModuleOptions, Authenticated, SecurityStore } from '@svc/auth';
import { Query, Resolver } from '@nestjs/graphql';
import { TestApp } from '../support/app';
import { someone } from '../support/clients';
import { NotesResolver, gated } from '../support/notes.resolver';
import { PASSWORD } from '../support/people';

const ADA = 'ada@example.com';

const apollo = (more: object = {}): DynamicModule =>
  GraphQLModule.forRoot({ driver: ApolloDriver, autoSchemaFile: true, ...more });
const mercurius = (more: object = {}): DynamicModule =>
  GraphQLModule.forRoot({ driver: MercuriusDriver, autoSchemaFile: true, ...more });

/** Sends one operation over HTTP. */
async function ask(t: TestApp, query: string, token?: string, headers: Record<string, string> = {}) {
  const authorization = token && { Authorization: `Bearer ${token}` };
  const { body } = await t.http
    .post('/graphql')
    .set({ ...authorization, ...headers })
    .send({ query });
  return body as { data: Record<string, unknown> | null; errors?: { message: string; extensions: object }[] };
}

describe.each([
  ['Apollo on Express', apollo, false],
  ['Apollo on Fastify', apollo, true],
  ['Mercurius on Fastify', mercurius, true],
])('a resolver of %s', (_, graphql, fastify) => {
  let t: TestApp;

  beforeAll(async () => {
    t = await TestApp.start({
      options: gated(),
      imports: [{ module: class Notes {}, imports: [graphql()], providers: [NotesResolver] }],
      fastify,
      behindProxy: true,
    });
    await t.person(ADA);
    await t.person(ADA, 'admin');
  });
  afterAll(() => t.stop());

  const refused = async (query: string, token?: string) => {
    const { data, errors } = await ask(t, query, token);
    expect(Object.values(data ?? {}).filter(Boolean)).toEqual([]);
    expect(errors).toHaveLength(1);
    return { message: errors![0]!.message, ...errors![0]!.extensions };
  };

  it('is told who calls, by the headers of the request; its fields, too', async () => {
    const { access_token: token } = await t.session();
    expect((await ask(t, '{ me note { text owner } }', token)).data).toEqual({
      me: `api:1:${ADA}`,
      note: { text: 'of ', owner: 'of api:1' },
    });
    const { access_token: staff } = await t.session(ADA, 'admin');
    expect((await ask(t, '{ staff }', staff)).data).toEqual({ staff: 'admin:1' });
  });

  it('is kept from whoever has no token, an unknown one, or one of another guard', async () => {
    const answer = { message: 'Authentication is required.', code: 'UNAUTHENTICATED', status: 401 };
    expect(await refused('{ me }')).toEqual({ ...answer, headers: { 'WWW-Authenticate': 'Bearer' } });
    const invalid = { ...answer, headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } };
    expect(await refused('{ me }', 'no.such.token')).toEqual(invalid);
    expect(await refused('{ staff }', (await t.session()).access_token)).toEqual(invalid);
  });

  it('is kept from a token as soon as it is revoked', async () => {
    const { access_token: token } = await t.session();
    expect((await ask(t, '{ me }', token)).errors).toBeUndefined();
    await t.call('post', '/auth/logout', token).expect(204);
    expect(await refused('{ me }', token)).toMatchObject({ status: 401 });
  });

  it('is kept from a token without the ability', async () => {
    const { access_token: token } = await t.session();
    expect(await refused('mutation { write }', token)).toEqual({
      message: expect.any(String),
      code: 'FORBIDDEN',
      status: 403,
      headers: { 'WWW-Authenticate': expect.stringContaining('scope="notes:write"') },
    });
    const { accessToken } = await t.auth.startSession(1, {}, ['notes:write']);
    expect((await ask(t, 'mutation { write }', accessToken)).data).toEqual({ write: 'api:1' });
  });

  it('is kept from a session that was not confirmed', async () => {
    const { access_token: token } = await t.session();
    expect(await refused('mutation { erase }', token)).toMatchObject({ code: 'LOCKED', status: 423 });
    const { body } = await t.call('post', '/auth/confirm-password', token).send({ password: PASSWORD }).expect(200);
    const { data } = await ask(t, 'mutation { erase }', token, { 'X-Svc-Confirmation': body.confirmation_token });
    expect(data).toEqual({ erase: 'api:1' });
  });

  it('is limited by the client`s address, and by calls rather than requests', async () => {
    const client = { 'X-Forwarded-For': someone() };
    const { data, errors } = await ask(t, '{ a: limited b: limited c: limited }', undefined, client);
    expect(errors).toHaveLength(1);
    expect(errors![0]!.extensions).toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      status: 429,
      headers: { 'Retry-After': expect.any(String) },
    });
    expect(Object.values(data ?? {}).filter(Boolean).length).toBeLessThan(3);
    expect((await ask(t, '{ limited }', undefined, client)).errors).toHaveLength(1);
    const other = { 'X-Forwarded-For': someone() };
    expect((await ask(t, '{ limited }', undefined, other)).data).toEqual({ limited: 'in' });
  });

  it.each([
    ['a store that is gone', Object.assign(new Error('connect 10.0.0.9'), { code: 'ECONNREFUSED' }), 503],
    ['a fault', new Error('connect 10.0.0.9'), 500],
  ])('learns nothing of %s', async (__, error, status) => {
    const { access_token: token } = await t.session();
    const store = jest.spyOn(t.app.get(SecurityStore), 'getMany').mockRejectedValueOnce(error);
    const answer = await refused('{ me }', token);
    expect(store).toHaveBeenCalledTimes(1);
    expect(answer).toMatchObject({ status });
    expect(JSON.stringify(answer)).not.toMatch(/10\.0\.0\.9|\.ts|node_modules/);
  });
});

describe('a GraphQL context that keeps no request where guards look', () => {
  const start = (requestOf?: AuthModuleOptions['requestOf']) =>
    TestApp.start({
      options: { ...gated(), requestOf },
      imports: [
        {
          module: class Notes {},
          imports: [apollo({ context: ({ req }: { req?: object }) => ({ req: {}, mine: req }) })],
          providers: [NotesResolver],
        },
      ],
      fastify: false,
    });

  it('lets nobody in', async () => {
    const t = await start();
    await t.person(ADA);
    const { errors } = await ask(t, '{ me }', (await t.session()).access_token);
    expect(errors).toEqual([expect.objectContaining({ message: 'Something went wrong on our side.' })]);
    await t.stop();
  });

  it('is the option`s to read', async () => {
    const t = await start((context) => context.getArgByIndex(2).mine);
    await t.person(ADA);
    expect((await ask(t, '{ me }', (await t.session()).access_token)).data).toEqual({ me: `api:1:${ADA}` });
    expect((await ask(t, '{ me }')).errors).toHaveLength(1);
    await t.stop();
  });
});

@Resolver()
class Mistyped {
  @Query(() => String)
  @Authenticated('amdin')
  any() {
    return '';
  }
}

describe('a resolver that names a guard nobody declared', () => {
  it('is refused at boot', async () => {
    const imports = [{ module: class Notes {}, imports: [apollo()], providers: [Mistyped] }];
    await expect(TestApp.start({ imports })).rejects.toThrow(/^Mistyped\.any: There is no guard "amdin"/);
  });
});
