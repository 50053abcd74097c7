import { ApolloDriver } from '@nestjs/apollo';
import { type GqlModuleOptions, GraphQLModule } from '@nestjs/graphql';
import { MercuriusDriver } from '@nestjs/mercurius';
import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { TestApp } from '../support/app';
import { NotesResolver, gated } from '../support/notes.resolver';

const ADA = 'ada@example.com';

describe.each<[string, object, boolean]>([
  ['Apollo', { driver: ApolloDriver, subscriptions: { 'graphql-ws': true } }, false],
  ['Mercurius', { driver: MercuriusDriver, subscription: true }, true],
])('a GraphQL socket of %s', (_, driver, fastify) => {
  let t: TestApp;
  const clients: Client[] = [];

  beforeAll(async () => {
    const options = { autoSchemaFile: true, ...driver } as GqlModuleOptions;
    t = await TestApp.start({
      imports: [{ module: class Notes {}, imports: [GraphQLModule.forRoot(options)], providers: [NotesResolver] }],
      options: gated(),
      fastify,
    });
    await t.person(ADA);
  });
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.dispose())));
  afterAll(() => t.stop());

  /** Opens a socket whose handshake holds these headers. */
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

  /** The first thing that an operation is answered: its data, or the first error. */
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

  it('is told who subscribes, by the headers of its handshake', async () => {
    const { access_token: token } = await t.session();
    const client = await open({ Authorization: `Bearer ${token}` });
    expect(await first(client, 'subscription { ticks }')).toEqual({ ticks: 'api:1' });
  });

  it('lets nobody subscribe without a token', async () => {
    expect(await first(await open({}), 'subscription { ticks }')).toMatchObject({
      message: 'Authentication is required.',
      extensions: { code: 'UNAUTHENTICATED', status: 401 },
    });
  });

  it('lets nobody subscribe anew whose token was revoked meanwhile', async () => {
    const { access_token: token } = await t.session();
    const client = await open({ Authorization: `Bearer ${token}` });
    expect(await first(client, 'subscription { ticks }')).toEqual({ ticks: 'api:1' });
    await t.call('post', '/auth/logout', token).expect(204);
    expect(await first(client, 'subscription { ticks }')).toMatchObject({ extensions: { status: 401 } });
  });
});
