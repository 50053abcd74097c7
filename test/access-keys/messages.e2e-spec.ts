import { ApolloDriver } from '@nestjs/apollo';
import { GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { Authenticated, type Caller, CurrentCaller, CurrentUser, Public } from '@svc/auth';
import { AcceptsKeys } from '@svc/auth/access-keys';
import { KeyedOrders, serviceKey } from '../support/flows/access-keys';
import { TestApp } from '../support/hosts/app';
import { openWs } from '../gates/socket-clients';

@Resolver()
class Notes {
  @Query(() => String)
  @AcceptsKeys()
  keyed(@CurrentCaller() { keyId }: Caller) {
    return keyId ?? 'none';
  }

  @Query(() => String)
  @Authenticated()
  own(@CurrentCaller() { userId }: Caller) {
    return userId;
  }

  @Query(() => String)
  @Authenticated({ optional: true })
  visitor(@CurrentUser() user?: object) {
    return user ? 'user' : 'none';
  }

  @Query(() => String)
  @Public()
  open() {
    return 'open';
  }
}

let kept: object | undefined;

@WebSocketGateway()
class Messages {
  handleConnection(client: { request?: unknown }, request: unknown): void {
    client.request = request;
  }

  @SubscribeMessage('keyed')
  @AcceptsKeys()
  keyed(@CurrentCaller() caller: Caller) {
    kept = caller;
    return { event: 'keyed', data: caller.keyId };
  }

  @SubscribeMessage('own')
  @Authenticated()
  own() {
    return { event: 'own', data: 'done' };
  }
}

describe('an access key outside of HTTP routes', () => {
  const t = TestApp.forFile({
    controllers: [KeyedOrders],
    options: { features: { accessKeys: true } },
    fastify: false,
    imports: [
      {
        module: class Api {},
        imports: [GraphQLModule.forRoot({ driver: ApolloDriver, autoSchemaFile: true })],
        providers: [Notes, Messages],
      },
    ],
    prepare: (app) => void app.useWebSocketAdapter(new WsAdapter(app)),
  });

  it('counts for the fields of an operation that accept it, in any order, and for no other field', async () => {
    const key = await serviceKey(t);
    const ask = async (query: string) =>
      (await t.http.post('/graphql').set('Authorization', `Bearer ${key.access_key}`).send({ query })).body;
    expect((await ask('{ keyed open }')).data).toEqual({ keyed: key.id, open: 'open' });
    for (const query of [
      '{ keyed own }',
      '{ own keyed }',
      '{ visitor keyed }',
      '{ keyed visitor }',
      '{ keyed a: own b: keyed }',
    ]) {
      const { data, errors } = await ask(query);
      expect([query, data]).toEqual([query, null]);
      for (const { extensions } of errors) expect([query, extensions.status]).toEqual([query, 401]);
    }
  });

  it('is read again for each message, and its kept caller is worth nothing', async () => {
    const key = await serviceKey(t);
    const url = await t.app.getUrl();
    const socket = await openWs(url, { Authorization: `Bearer ${key.access_key}` });
    expect(await socket.say('keyed')).toEqual({ event: 'keyed', data: key.id });
    expect((await socket.say('own')).event).toBe('exception');
    await t.auth.accessKeys.revokeAny(key.id);
    expect((await socket.say('keyed')).event).toBe('exception');
    socket.close();
    await expect(t.auth.sessions.list({ caller: kept as Caller })).rejects.toMatchObject({ status: 401 });
  });
});
