import { ApolloDriver } from '@nestjs/apollo';
import { GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { Authenticated, type Caller, CurrentCaller, SecurityStore, StoreUnavailable } from '@svc/auth';
import { BoundTokenRefused } from '@svc/auth/bound-sessions';
import { Manager } from 'socket.io-client';
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

/** What a page gives to socket.io, because it cannot set headers. */
interface Opening {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth: { readonly token: string; readonly proof: string };
}

const me = ({ userId }: Caller) => ({ event: 'me', data: userId });

/** The namespaces of one connection have sockets of their own. */
@WebSocketGateway()
class Lobby {
  @SubscribeMessage('me')
  @Authenticated()
  me(@CurrentCaller() caller: Caller) {
    return me(caller);
  }
}

@WebSocketGateway({ namespace: 'news' })
class News extends Lobby {
  @SubscribeMessage('found')
  @Authenticated()
  found(@CurrentCaller() caller: Caller) {
    return me(caller);
  }
}

describe('a proof in the handshake of socket.io', () => {
  const t = TestApp.forFile({
    options: {
      features: { boundSessions: true },
      requestOf: (context) => {
        if (context.getType<string>() !== 'ws' || context.switchToWs().getPattern() !== 'found') return undefined;
        const { auth, headers, url } = context.switchToWs().getClient<{ handshake: Opening }>().handshake;
        const token = context.switchToWs().getData<string | undefined>() ?? auth.token;
        return { headers: { ...headers, authorization: `DPoP ${token}`, dpop: auth.proof }, url };
      },
    },
    imports: [{ module: class Hosts {}, providers: [Lobby, News] }],
    prepare: (app) => app.useWebSocketAdapter(new IoAdapter(app)),
  });

  it('counts once for all namespaces and messages, also where requestOf finds it, and for no other connection', async () => {
    const id = await t.person(ADA);
    const device = await Device.create();
    const { access_token: token } = (await device.login(t)).body;
    const url = await t.app.getUrl();
    const proof = await device.proof('GET', `${url}/socket.io/`, { token });
    const other = await device.proof('GET', `${url}/socket.io/`, { token });
    const seen = t.recorded(BoundTokenRefused);
    const managers: Manager[] = [];
    const open = () => {
      const extraHeaders = { Authorization: `DPoP ${token}`, DPoP: proof };
      managers.push(new Manager(url, { extraHeaders, transports: ['websocket'], reconnection: false }));
      const auth = { token, proof: other };
      return { lobby: managers.at(-1)!.socket('/', { auth }), news: managers.at(-1)!.socket('/news', { auth }) };
    };
    const say = (socket: ReturnType<Manager['socket']>, event: string, data?: string) =>
      new Promise((resolve) => {
        socket.once('me', resolve).once('exception', ({ statusCode }: { statusCode: number }) => resolve(statusCode));
        socket.emit(event, ...(data === undefined ? [] : [data]));
      });
    try {
      const own = open();
      expect([await say(own.lobby, 'me'), await say(own.news, 'me'), await say(own.lobby, 'me')]).toEqual([id, id, id]);
      expect(seen).toEqual([]);
      // A proof for another token is not used up, and is recorded when it is of use.
      const stranger = (await device.login(t)).body.access_token;
      expect([await say(own.news, 'found', stranger), seen.splice(0).length]).toEqual([401, 1]);
      expect([await say(own.news, 'found'), await say(own.lobby, 'me'), await say(own.news, 'found')]).toEqual([
        id,
        id,
        id,
      ]);
      const thief = open();
      expect([await say(thief.lobby, 'me'), await say(thief.news, 'me')]).toEqual([401, 401]);
      expect([await say(thief.news, 'found'), await say(thief.news, 'found')]).toEqual([401, 401]);
      expect(seen).toHaveLength(4);
    } finally {
      for (const manager of managers) manager._close();
    }
  });
});

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
