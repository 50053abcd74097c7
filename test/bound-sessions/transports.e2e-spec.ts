import { ApolloDriver } from '@nestjs/apollo';
import { GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { Authenticated, type Caller, CurrentCaller, SecurityStore, StoreUnavailable } from '@svc/auth';
import { openWs } from '../gates/socket-clients';
import { Device } from '../support/flows/bound-sessions';
import { TestApp } from '../support/hosts/app';
import { ADA } from '../support/hosts/user-entities';

@Resolver()
class Notes {
  @Query(() => String)
  @Authenticated()
  first(@CurrentCaller() { userId }: Caller) {
    return userId;
  }

  @Query(() => String)
  @Authenticated()
  second(@CurrentCaller() { userId }: Caller) {
    return userId;
  }
}

@WebSocketGateway()
class Chat {
  handleConnection(client: { request?: unknown }, request: unknown): void {
    client.request ??= request;
  }

  @SubscribeMessage('me')
  @Authenticated()
  me(@CurrentCaller() { userId }: Caller) {
    return { event: 'me', data: userId };
  }
}

describe('a bound token', () => {
  const t = TestApp.forFile({
    options: { features: { boundSessions: true } },
    imports: [
      {
        module: class Hosts {},
        imports: [GraphQLModule.forRoot({ driver: ApolloDriver, autoSchemaFile: true })],
        providers: [Notes, Chat],
      },
    ],
    prepare: (app) => app.useWebSocketAdapter(new WsAdapter(app)),
  });
  let device: Device;
  let id: string;
  beforeAll(async () => (device = await Device.create()));
  beforeEach(async () => (id = await t.person(ADA)));

  it('needs one proof for the fields of an operation of GraphQL', async () => {
    const token = (await device.login(t)).body.access_token;
    const body = { query: '{ first second }' };
    expect((await device.send(t, 'POST', '/graphql', { token, body })).body).toEqual({
      data: { first: id, second: id },
    });
    const stolen = await device.send(t, 'POST', '/graphql', { token, body, proof: null, scheme: 'Bearer' });
    expect(stolen.body).toMatchObject({ data: null, errors: [{ extensions: { status: 401 } }] });
  });

  it('needs a proof in the handshake of a socket, which counts for its messages, and for no other socket', async () => {
    const { access_token: token } = (await device.login(t)).body;
    const url = await t.app.getUrl();
    for (const htu of [`${url}/`, `${url.replace('http', 'ws')}/`]) {
      const proof = await device.proof('GET', htu, { token });
      const open = (headers: Record<string, string>) => openWs(url, headers);
      const own = await open({ Authorization: `DPoP ${token}`, DPoP: proof });
      expect([await own.say('me'), await own.say('me')]).toEqual([
        { event: 'me', data: id },
        { event: 'me', data: id },
      ]);
      const replayed = await open({ Authorization: `DPoP ${token}`, DPoP: proof });
      const bare = await open({ Authorization: `Bearer ${token}` });
      for (const one of [replayed, bare])
        expect(await one.say('me')).toMatchObject({ event: 'exception', data: { statusCode: 401 } });
      for (const one of [own, replayed, bare]) one.close();
    }
  });

  it('is refused with 503 while the store of proofs is silent, and accepted with a new proof afterwards', async () => {
    const { access_token: token, refresh_token: refreshToken } = (await device.login(t)).body;
    const add = jest.spyOn(t.app.get(SecurityStore), 'add').mockRejectedValue(new StoreUnavailable('Redis'));
    expect((await device.refresh(t, refreshToken)).status).toBe(503);
    expect((await device.send(t, 'POST', '/graphql', { token, body: { query: '{ first }' } })).body).toMatchObject({
      errors: [{ extensions: { status: 503 } }],
    });
    add.mockRestore();
    expect((await device.refresh(t, refreshToken)).status).toBe(200);
  });

  it('of a former proof is refused when another server of the store has taken over', async () => {
    const { access_token: token } = (await device.login(t)).body;
    const store = t.app.get(SecurityStore);
    const add = jest.spyOn(store, 'add').mockResolvedValue(true);
    const ask = async (age: number) => {
      const iat = Math.floor(Date.now() / 1000) - age;
      const body = { query: '{ first }' };
      return (await device.send(t, 'POST', '/graphql', { token, body, claims: { iat } })).body.data;
    };
    expect(await ask(30)).toEqual({ first: id });
    const { instance } = store;
    const name = jest.spyOn(store, 'instance', 'get').mockReturnValue('another');
    expect(await ask(30)).toBeNull();
    expect(await ask(-5)).toEqual({ first: id });
    expect(instance).not.toBe('another');
    name.mockRestore();
    add.mockRestore();
  });
});
