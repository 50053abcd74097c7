import { ApolloDriver } from '@nestjs/apollo';
import { type DynamicModule, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { type GqlModuleOptions, GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { MercuriusDriver } from '@nestjs/mercurius';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { AccessTokenGuard, type AuthModuleOptions, Authenticated, Public, SecurityStore } from '@svc/auth';
import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { TestApp } from '../support/hosts/app';
import { newAddress } from '../support/hosts/rate-limited-host';
import { textWith } from '../support/clients/raw-headers';
import { NotesResolver, gateOptions } from '../support/hosts/notes.resolver';
import { ADA, PASSWORD } from '../support/hosts/user-entities';
import { openWs } from './socket-clients';

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
  const t = TestApp.forFile(() => ({
    options: gateOptions(),
    imports: [{ module: class Notes {}, imports: [graphql()], providers: [NotesResolver] }],
    fastify,
    behindProxy: true,
  }));
  beforeEach(async () => {
    await t.person(ADA);
    await t.person(ADA, 'admin');
  });

  const refused = async (query: string, token?: string) => {
    const { data, errors } = await ask(t, query, token);
    expect(Object.values(data ?? {}).filter(Boolean)).toEqual([]);
    expect(errors).toHaveLength(1);
    return { message: errors![0]!.message, ...errors![0]!.extensions };
  };

  it('and its fields get the caller from the headers of the request', async () => {
    const { access_token: token } = await t.session();
    expect((await ask(t, '{ me note { text owner } }', token)).data).toEqual({
      me: `api:1:${ADA}`,
      note: { text: 'of ', owner: 'of api:1' },
    });
    const { access_token: staff } = await t.session(ADA, 'admin');
    expect((await ask(t, '{ staff }', staff)).data).toEqual({ staff: 'admin:1' });
    expect((await ask(t, '{ visitor }', token)).data).toEqual({ visitor: ADA });
    expect((await ask(t, '{ visitor }')).data).toEqual({ visitor: 'none' });
  });

  it('refuses a missing token, an invalid one and one of another guard', async () => {
    const answer = { message: 'Authentication is required.', code: 'UNAUTHENTICATED', status: 401 };
    expect(await refused('{ me }')).toEqual({ ...answer, headers: { 'WWW-Authenticate': 'Bearer' } });
    const invalid = { ...answer, headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } };
    expect(await refused('{ me }', 'no.such.token')).toEqual(invalid);
    expect(await refused('{ staff }', (await t.session()).access_token)).toEqual(invalid);
    expect(await refused('{ visitor }', 'no.such.token')).toEqual(invalid);
  });

  it('gets no text for its developer into an answer', async () => {
    expect(await refused('{ enrol }')).toEqual({
      message: 'Something went wrong on our side.',
      code: 'INTERNAL_SERVER_ERROR',
      status: 500,
    });
  });

  it('reads neither of two Authorization headers', async () => {
    const bearer = `Bearer ${(await t.session()).access_token}`;
    const query = `${await t.app.getUrl()}/graphql?query=${encodeURIComponent('{ me }')}`;
    const me = async (...values: string[]): Promise<unknown> => {
      const headers = ['Apollo-Require-Preflight', 'true', ...values.flatMap((value) => ['Authorization', value])];
      return JSON.parse(await textWith(query, headers));
    };
    expect(await me(bearer)).toEqual({ data: { me: expect.any(String) } });
    expect(await me(bearer, bearer)).toMatchObject({ errors: [{ extensions: { status: 401 } }] });
  });

  it('refuses a token as soon as it is revoked', async () => {
    const { access_token: token } = await t.session();
    expect((await ask(t, '{ me }', token)).errors).toBeUndefined();
    await t.call('post', '/auth/logout', token).expect(204);
    expect(await refused('{ me }', token)).toMatchObject({ status: 401 });
  });

  it.each(['write', 'writeByGuard'])('refuses a token without the ability: %s', async (field) => {
    const { access_token: token } = await t.session();
    expect(await refused(`mutation { ${field} }`, token)).toEqual({
      message: expect.any(String),
      code: 'FORBIDDEN',
      status: 403,
      headers: { 'WWW-Authenticate': expect.stringContaining('scope="notes:write"') },
    });
    const { accessToken } = await t.auth.startSession(1, {}, ['notes:write']);
    expect((await ask(t, `mutation { ${field} }`, accessToken)).data).toEqual({ [field]: 'api:1' });
  });

  it('refuses a pinned session without the ability, and accepts a session with derived abilities', async () => {
    const { accessToken: pinned } = await t.auth.startSession(1, {}, ['notes:write']);
    expect(await refused('mutation { publish }', pinned)).toMatchObject({ code: 'FORBIDDEN', status: 403 });
    const { accessToken: allowed } = await t.auth.startSession(1, {}, ['notes:publish']);
    for (const token of [allowed, (await t.session()).access_token])
      expect((await ask(t, 'mutation { publish }', token)).data).toEqual({ publish: 'api:1' });
  });

  it('knows what the user of the call may do', async () => {
    const { accessToken } = await t.auth.startSession(1, {}, ['notes:write']);
    expect((await ask(t, '{ may }', accessToken)).data).toEqual({ may: [false, true] });
    expect((await ask(t, '{ a: may b: may }', (await t.session()).access_token)).data).toEqual({
      a: [true, false],
      b: [true, false],
    });
  });

  it.each(['erase', 'eraseByGuard'])('refuses an unconfirmed session: %s', async (field) => {
    const { access_token: token } = await t.session();
    expect(await refused(`mutation { ${field} }`, token)).toMatchObject({ code: 'LOCKED', status: 423 });
    const { body } = await t.call('post', '/auth/confirm-password', token).send({ password: PASSWORD }).expect(200);
    const { data } = await ask(t, `mutation { ${field} }`, token, { 'X-Svc-Confirmation': body.confirmation_token });
    expect(data).toEqual({ [field]: 'api:1' });
  });

  it.each(['burn', 'burnByGuard'])('refuses a session whose sign-in is too long ago: %s', async (field) => {
    const { access_token: token } = await t.session();
    expect((await ask(t, `mutation { ${field} }`, token)).data).toEqual({ [field]: 'api:1' });
    t.clock.advance(610);
    expect(await refused(`mutation { ${field} }`, token)).toMatchObject({
      code: 'UNAUTHENTICATED',
      status: 401,
      reason: 'recent_login_required',
      headers: { 'WWW-Authenticate': 'Bearer error="insufficient_user_authentication", max_age=600' },
    });
  });

  it('is rate-limited by the client`s address, and per call instead of per request', async () => {
    const client = { 'X-Forwarded-For': newAddress() };
    const { data, errors } = await ask(t, '{ a: limited b: limited c: limited }', undefined, client);
    expect(errors).toHaveLength(1);
    expect(errors![0]!.extensions).toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      status: 429,
      headers: { 'Retry-After': expect.any(String) },
    });
    expect(Object.values(data ?? {}).filter(Boolean).length).toBeLessThan(3);
    expect((await ask(t, '{ limited }', undefined, client)).errors).toHaveLength(1);
    const other = { 'X-Forwarded-For': newAddress() };
    expect((await ask(t, '{ limited }', undefined, other)).data).toEqual({ limited: 'in' });
  });

  it.each([
    ['an unavailable store', Object.assign(new Error('connect 10.0.0.9'), { code: 'ECONNREFUSED' }), 503],
    ['a fault', new Error('connect 10.0.0.9'), 500],
  ])('exposes nothing of %s', async (__, error, status) => {
    const { access_token: token } = await t.session();
    // Not only once: the monitor of the denylist reads the store, too.
    const store = jest.spyOn(t.app.get(SecurityStore), 'getMany').mockRejectedValue(error);
    const answer = await refused('{ me }', token);
    store.mockRestore();
    expect(answer).toMatchObject({ status });
    expect(JSON.stringify(answer)).not.toMatch(/10\.0\.0\.9|\.ts|node_modules/);
  });
});

describe('a GraphQL context without a request in the usual place', () => {
  const start = (requestOf?: AuthModuleOptions['requestOf']) =>
    TestApp.start({
      options: { ...gateOptions(), requestOf },
      imports: [
        {
          module: class Notes {},
          imports: [apollo({ context: ({ req }: { req?: object }) => ({ req: {}, mine: req }) })],
          providers: [NotesResolver],
        },
      ],
      fastify: false,
    });

  it('admits no client', async () => {
    const t = await start();
    await t.person(ADA);
    const { errors } = await ask(t, '{ me }', (await t.session()).access_token);
    expect(errors).toEqual([expect.objectContaining({ message: 'Something went wrong on our side.' })]);
    await t.stop();
  });

  it('works with the option that reads the request', async () => {
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

describe('a resolver with an undeclared guard', () => {
  it('is refused at boot', async () => {
    const imports = [{ module: class Notes {}, imports: [apollo()], providers: [Mistyped] }];
    await expect(TestApp.start({ imports })).rejects.toThrow(/^Mistyped\.any: There is no guard "amdin"/);
  });
});

describe.each<[string, object, boolean]>([
  ['Apollo', { driver: ApolloDriver, subscriptions: { 'graphql-ws': true } }, false],
  ['Mercurius', { driver: MercuriusDriver, subscription: true }, true],
])('a GraphQL socket of %s', (_, driver, fastify) => {
  const t = TestApp.forFile(() => ({
    imports: [
      {
        module: class Notes {},
        imports: [GraphQLModule.forRoot({ autoSchemaFile: true, ...driver } as GqlModuleOptions)],
        providers: [NotesResolver],
      },
    ],
    options: gateOptions(),
    fastify,
  }));
  const clients: Client[] = [];

  beforeEach(() => t.person(ADA));
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.dispose())));

  /** Opens a socket with these headers in its handshake. */
  async function open(headers: Record<string, string>): Promise<Client> {
    class WithHeaders extends WebSocket {
      constructor(url: string, protocols?: string | string[]) {
        super(url, protocols, { headers });
      }
    }
    const url = `${(await t.app.getUrl()).replace('http', 'ws')}/graphql`;
    const client = createClient({ url, webSocketImpl: WithHeaders, lazy: false, retryAttempts: 0 });
    clients.push(client);
    return client;
  }

  /** The first response to an operation: its data, or the first error. */
  function first(client: Client, query: string): Promise<unknown> {
    return new Promise((resolve) => {
      const stop = client.subscribe(
        { query },
        {
          next: ({ data, errors }) => {
            resolve(errors?.[0] ?? data);
            stop();
          },
          error: (errors) => resolve(Array.isArray(errors) ? errors[0] : errors),
          complete: () => undefined,
        },
      );
    });
  }

  it('gets the subscriber from the headers of its handshake', async () => {
    const { access_token: token } = await t.session();
    const client = await open({ Authorization: `Bearer ${token}` });
    expect(await first(client, 'subscription { ticks }')).toEqual({ ticks: 'api:1' });
  });

  it('refuses a subscription without a token', async () => {
    expect(await first(await open({}), 'subscription { ticks }')).toMatchObject({
      message: 'Authentication is required.',
      extensions: { code: 'UNAUTHENTICATED', status: 401 },
    });
  });

  it('refuses a new subscription after the token was revoked', async () => {
    const { access_token: token } = await t.session();
    const client = await open({ Authorization: `Bearer ${token}` });
    expect(await first(client, 'subscription { ticks }')).toEqual({ ticks: 'api:1' });
    await t.call('post', '/auth/logout', token).expect(204);
    expect(await first(client, 'subscription { ticks }')).toMatchObject({ extensions: { status: 401 } });
  });
});

@Resolver()
class Unmarked {
  @Query(() => String)
  closed() {
    return 'in';
  }

  @Query(() => String)
  @Public()
  open() {
    return 'in';
  }
}

@WebSocketGateway()
class UnmarkedGateway {
  handleConnection(client: { request?: unknown }, request: unknown): void {
    client.request = request;
  }

  @SubscribeMessage('unmarked')
  unmarked() {
    return { event: 'unmarked', data: 'in' };
  }
}

@Module({
  imports: [GraphQLModule.forRoot({ driver: ApolloDriver, autoSchemaFile: true })],
  providers: [{ provide: APP_GUARD, useExisting: AccessTokenGuard }, Unmarked, UnmarkedGateway],
})
class GuardedHost {}

const isNest11 = process.env.TEST_NEST === '11';

describe('a global guard', () => {
  const t = TestApp.forFile({ imports: [GuardedHost], prepare: (app) => app.useWebSocketAdapter(new WsAdapter(app)) });
  beforeEach(() => t.person(ADA));

  it('applies to resolvers, unless they are public', async () => {
    const answer = async (query: string, token = '') =>
      (await t.http.post('/graphql').set('Authorization', `Bearer ${token}`).send({ query })).body;
    expect(await answer('{ open }')).toEqual({ data: { open: 'in' } });
    expect((await answer('{ closed }')).errors[0].extensions).toMatchObject({ status: 401 });
    expect(await answer('{ closed }', (await t.session()).access_token)).toEqual({ data: { closed: 'in' } });
  });

  if (isNest11) {
    it('does not apply to gateways of Nest 11, so that each must be marked', async () => {
      const anonymous = await openWs(await t.app.getUrl(), {});
      expect(await anonymous.say('unmarked')).toEqual({ event: 'unmarked', data: 'in' });
      anonymous.close();
    });
  } else {
    it('applies to gateways', async () => {
      const anonymous = await openWs(await t.app.getUrl(), {});
      expect(await anonymous.say('unmarked')).toMatchObject({ event: 'exception', data: { statusCode: 401 } });
      const { access_token: token } = await t.session();
      const ada = await openWs(await t.app.getUrl(), { Authorization: `Bearer ${token}` });
      expect(await ada.say('unmarked')).toEqual({ event: 'unmarked', data: 'in' });
      for (const connection of [anonymous, ada]) connection.close();
    });
  }
});
