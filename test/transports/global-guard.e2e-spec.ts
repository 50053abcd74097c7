import { ApolloDriver } from '@nestjs/apollo';
import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { AccessTokenGuard, Public } from '@svc/auth';
import { TestApp } from '../support/app';
import { overWs } from './sockets';

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
class Gateway {
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
  providers: [{ provide: APP_GUARD, useExisting: AccessTokenGuard }, Unmarked, Gateway],
})
class Host {}

const isNest11 = process.env.TEST_NEST === '11';

describe('a global guard', () => {
  let t: TestApp;

  beforeAll(async () => {
    t = await TestApp.start({ imports: [Host], prepare: (app) => app.useWebSocketAdapter(new WsAdapter(app)) });
    await t.person('ada@example.com');
  });
  afterAll(() => t.stop());

  it('stands before resolvers, unless they are public', async () => {
    const ask = async (query: string, token = '') =>
      (await t.http.post('/graphql').set('Authorization', `Bearer ${token}`).send({ query })).body;
    expect(await ask('{ open }')).toEqual({ data: { open: 'in' } });
    expect((await ask('{ closed }')).errors[0].extensions).toMatchObject({ status: 401 });
    expect(await ask('{ closed }', (await t.session()).access_token)).toEqual({ data: { closed: 'in' } });
  });

  if (isNest11) {
    it('is asked before no gateway of Nest 11, so that each has to be marked', async () => {
      const nobody = await overWs(await t.app.getUrl(), {});
      expect(await nobody.say('unmarked')).toEqual({ event: 'unmarked', data: 'in' });
      nobody.close();
    });
  } else {
    it('stands before gateways', async () => {
      const nobody = await overWs(await t.app.getUrl(), {});
      expect(await nobody.say('unmarked')).toMatchObject({ event: 'exception', data: { statusCode: 401 } });
      const { access_token: token } = await t.session();
      const ada = await overWs(await t.app.getUrl(), { Authorization: `Bearer ${token}` });
      expect(await ada.say('unmarked')).toEqual({ event: 'unmarked', data: 'in' });
      for (const connection of [nobody, ada]) connection.close();
    });
  }
});
