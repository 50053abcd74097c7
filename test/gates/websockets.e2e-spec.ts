import { IoAdapter } from '@nestjs/platform-socket.io';
import { WsAdapter } from '@nestjs/platform-ws';
import { type INestApplication, UseGuards } from '@nestjs/common';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  Abilities,
  AbilitiesGuard,
  type AuthModuleOptions,
  Authenticated,
  type Caller,
  CurrentCaller,
  CurrentUser,
  RequireConfirmation,
  RequireFactor,
  RequireRecentLogin,
  SecurityStore,
  Throttled,
  tokenCan,
} from '@svc/auth';
import type { WebSocket } from 'ws';
import { TestApp, type TestAppOptions } from '../support/hosts/app';
import { gateOptions, callerText } from '../support/hosts/notes.resolver';
import { ADA, PASSWORD, type Person } from '../support/hosts/user-entities';
import { type Connection, type OpenConnection, openSocketIo, openWs } from './socket-clients';

const BOB = 'bob@example.com';

class Handlers {
  @SubscribeMessage('me')
  @Authenticated()
  me(@CurrentUser() { email }: Person, @CurrentCaller() caller: Caller) {
    return { event: 'me', data: `${callerText(caller)}:${email}` };
  }

  @SubscribeMessage('visit')
  @Authenticated({ optional: true })
  visit(@CurrentUser() user?: Person) {
    return { event: 'visit', data: user?.email ?? 'none' };
  }

  @SubscribeMessage('match')
  @Authenticated()
  match(@MessageBody() { as }: { as: string }, @CurrentUser() { email }: Person) {
    return { event: 'match', data: as === email };
  }

  @SubscribeMessage('staff')
  @Authenticated('admin')
  staff(@CurrentCaller() caller: Caller) {
    return { event: 'staff', data: callerText(caller) };
  }

  @SubscribeMessage('write')
  @Abilities('notes:write')
  write() {
    return { event: 'write', data: 'done' };
  }

  @SubscribeMessage('write by guard')
  @UseGuards(AbilitiesGuard('notes:write'))
  writeByGuard(@CurrentUser() user: Person) {
    return { event: 'write by guard', data: [user.tokenCan('notes:write'), tokenCan(user, 'notes:read')] };
  }

  @SubscribeMessage('erase')
  @RequireConfirmation()
  erase() {
    return { event: 'erase', data: 'done' };
  }

  @SubscribeMessage('burn')
  @RequireRecentLogin(600)
  burn() {
    return { event: 'burn', data: 'done' };
  }

  @SubscribeMessage('seal')
  @RequireFactor('any')
  seal() {
    return { event: 'seal', data: 'done' };
  }

  @SubscribeMessage('limited')
  @Throttled('twice')
  limited() {
    return { event: 'limited', data: 'in' };
  }
}

type Client = Pick<WebSocket, 'on' | 'send' | 'readyState'> & { request?: unknown };

/** On Nest 11 exceptions reach a client of `ws` only if its gateway sends them. */
function sendExceptions(client: Client): void {
  if (process.env.TEST_NEST !== '11' || client.readyState === undefined) return;
  client.on('exception', (data) => client.send(JSON.stringify({ event: 'exception', data })));
}

@WebSocketGateway()
class Gateway extends Handlers {
  handleConnection(client: Client, request: unknown): void {
    client.request ??= request;
    sendExceptions(client);
  }
}

@WebSocketGateway()
class GatewayWithoutHandshake extends Handlers {
  handleConnection = sendExceptions;
}

const LIBRARIES: [string, OpenConnection, (app: INestApplication) => WsAdapter | IoAdapter][] = [
  ['socket.io', openSocketIo, (app) => new IoAdapter(app)],
  ['ws', openWs, (app) => new WsAdapter(app)],
];

describe.each(LIBRARIES)('a gateway on %s', (library, open, adapter) => {
  const host = (more: Partial<AuthModuleOptions> = {}, gateway = Gateway): TestAppOptions => ({
    options: { ...gateOptions(), ...more },
    imports: [{ module: class Chat {}, providers: [gateway] }],
    prepare: (app) => app.useWebSocketAdapter(adapter(app)),
  });
  const t = TestApp.forFile(host());
  beforeEach(async () => {
    for (const email of [ADA, BOB]) await t.person(email);
  });
  const connections: Connection[] = [];
  const connect = async (token?: string, headers: Record<string, string> = {}, to = t): Promise<Connection> => {
    const connection = await open(await to.app.getUrl(), {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...headers,
    });
    connections.push(connection);
    return connection;
  };

  afterEach(() => {
    for (const connection of connections.splice(0)) connection.close();
  });

  it('gets the caller from the headers of the handshake, whatever a message contains', async () => {
    const connection = await connect((await t.session()).access_token);
    for (const data of [undefined, null, 'text', 7, {}, ['list'], { userId: 2 }])
      expect(await connection.say('me', data)).toEqual({ event: 'me', data: `api:1:${ADA}` });
    expect(await connection.say('visit')).toEqual({ event: 'visit', data: ADA });
    expect(await (await connect()).say('visit')).toEqual({ event: 'visit', data: 'none' });
  });

  it('refuses a missing token, an invalid one and one of another guard', async () => {
    const answer = {
      status: 'error',
      message: 'Authentication is required.',
      code: 'UNAUTHENTICATED',
      statusCode: 401,
    };
    const invalid = { 'WWW-Authenticate': 'Bearer error="invalid_token"' };
    expect(await (await connect()).say('me', { secret: 'hunter2' })).toEqual({
      event: 'exception',
      data: { ...answer, headers: { 'WWW-Authenticate': 'Bearer' }, cause: { pattern: 'me' } },
    });
    expect(await (await connect('no.such.token')).say('me')).toEqual({
      event: 'exception',
      data: { ...answer, headers: invalid, cause: { pattern: 'me' } },
    });
    expect(await (await connect('no.such.token')).say('visit')).toMatchObject({ data: { statusCode: 401 } });
    const ofApi = await connect((await t.session()).access_token);
    expect(await ofApi.say('staff')).toMatchObject({ event: 'exception', data: { statusCode: 401 } });
  });

  it('reads neither of two Authorization headers of the handshake', async () => {
    const bearer = `Bearer ${(await t.session()).access_token}`;
    for (const two of [
      [bearer, bearer],
      [bearer, 'Basic YTpi'],
    ]) {
      const connection = await connect(undefined, { Authorization: two as never });
      expect(await connection.say('me')).toMatchObject({
        event: 'exception',
        data: { statusCode: 401, headers: { 'WWW-Authenticate': 'Bearer' } },
      });
    }
  });

  it('refuses the next message on an open socket after its token was revoked', async () => {
    const { access_token: token } = await t.session();
    const connection = await connect(token);
    expect(await connection.say('me', {})).toMatchObject({ event: 'me' });
    await t.call('post', '/auth/logout', token).expect(204);
    expect(await connection.say('me', {})).toMatchObject({ event: 'exception', data: { statusCode: 401 } });
  });

  it('refuses the next message on an open socket after its token has expired', async () => {
    const connection = await connect((await t.session()).access_token);
    expect(await connection.say('me')).toMatchObject({ event: 'me' });
    t.clock.advance(1000);
    expect(await connection.say('me')).toMatchObject({ event: 'exception', data: { statusCode: 401 } });
  });

  it('refuses a token without the ability, and an unconfirmed session', async () => {
    const { access_token: token } = await t.session();
    const connection = await connect(token);
    expect(await connection.say('write')).toMatchObject({
      event: 'exception',
      data: { code: 'FORBIDDEN', headers: { 'WWW-Authenticate': expect.stringContaining('scope="notes:write"') } },
    });
    expect(await connection.say('erase')).toMatchObject({ event: 'exception', data: { statusCode: 423 } });
    const { body } = await t.call('post', '/auth/confirm-password', token).send({ password: PASSWORD }).expect(200);
    const confirmed = await connect(token, { 'X-Svc-Confirmation': body.confirmation_token });
    expect(await confirmed.say('erase')).toEqual({ event: 'erase', data: 'done' });
    const pinned = await connect((await t.auth.startSession(1, {}, ['notes:write'])).accessToken);
    expect(await pinned.say('write')).toEqual({ event: 'write', data: 'done' });
  });

  it('refuses a session whose sign-in is too long ago', async () => {
    const connection = await connect((await t.session()).access_token);
    expect(await connection.say('burn')).toEqual({ event: 'burn', data: 'done' });
    t.clock.advance(610);
    expect(await connection.say('burn')).toMatchObject({
      event: 'exception',
      data: { code: 'UNAUTHENTICATED', statusCode: 401, reason: 'recent_login_required' },
    });
    expect(await connection.say('me')).toMatchObject({ event: 'me' });
  });

  it('refuses a session without a second factor', async () => {
    const connection = await connect((await t.session()).access_token);
    expect(await connection.say('seal')).toMatchObject({
      event: 'exception',
      data: { code: 'UNAUTHENTICATED', statusCode: 401, reason: 'factor_required' },
    });
    const both = await connect((await t.auth.startSession(1, { amr: ['pwd', 'otp'] })).accessToken);
    expect(await both.say('seal')).toEqual({ event: 'seal', data: 'done' });
  });

  it('refuses by a guard class, and knows what the user of a message may do', async () => {
    const connection = await connect((await t.session()).access_token);
    expect(await connection.say('write by guard')).toMatchObject({ event: 'exception', data: { code: 'FORBIDDEN' } });
    const pinned = await connect((await t.auth.startSession(1, {}, ['notes:write'])).accessToken);
    for (let message = 0; message < 2; message++)
      expect(await pinned.say('write by guard')).toEqual({ event: 'write by guard', data: [true, false] });
  });

  it('is rate-limited by the client`s address across all its sockets', async () => {
    for (const connection of [await connect(), await connect()])
      expect(await connection.say('limited')).toEqual({ event: 'limited', data: 'in' });
    expect(await (await connect()).say('limited')).toMatchObject({
      event: 'exception',
      data: { code: 'TOO_MANY_REQUESTS', headers: { 'Retry-After': expect.any(String) } },
    });
  });

  it('exposes nothing of a server error', async () => {
    const connection = await connect((await t.session()).access_token);
    // Not only once: the monitor of the denylist reads the store, too.
    const fault = jest.spyOn(t.app.get(SecurityStore), 'getMany').mockRejectedValue(new Error('connect 10.0.0.9'));
    const answer = await connection.say('me');
    fault.mockRestore();
    expect(answer).toEqual({
      event: 'exception',
      data: {
        status: 'error',
        message: 'Something went wrong on our side.',
        code: 'INTERNAL_SERVER_ERROR',
        statusCode: 500,
        cause: { pattern: 'me' },
      },
    });
  });

  it('authenticates each message on one socket by its own token', async () => {
    const own = await TestApp.start(
      host({
        requestOf: (context) => {
          const { token } = context.switchToWs().getData();
          return { headers: { authorization: `Bearer ${token}` } };
        },
      }),
    );
    for (const email of [ADA, BOB]) await own.person(email);
    const [ada, bob] = [(await own.session(ADA)).access_token, (await own.session(BOB)).access_token];
    const connection = await connect(undefined, {}, own);
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          connection.say('match', i % 2 ? { token: bob, as: BOB } : { token: ada, as: ADA }),
        ),
      );
      expect(answers).toEqual(Array.from({ length: 10 }, () => ({ event: 'match', data: true })));
    }
    await own.stop();
  });

  it('without access to the handshake admits no client', async () => {
    const own = await TestApp.start(host({}, GatewayWithoutHandshake as typeof Gateway));
    await own.person(ADA);
    const connection = await connect((await own.session()).access_token, {}, own);
    // socket.io itself keeps the handshake.
    const expected = library === 'ws' ? { event: 'exception', data: { statusCode: 500 } } : { event: 'me' };
    expect(await connection.say('me')).toMatchObject(expected);
    await own.stop();
  });
});
