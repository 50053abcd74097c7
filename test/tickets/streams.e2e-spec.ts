import { EventEmitter, once } from 'node:events';
import { Controller, Res, Sse } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import { WebSocketGateway } from '@nestjs/websockets';
import { AcceptsTicket, Auth, AuthEvents, type Caller, CurrentCaller, SessionEnded } from '@svc/auth';
import { NEVER, concat, fromEvent, of, takeUntil } from 'rxjs';
import { WebSocket } from 'ws';
import { eventually } from '../support/runtime/eventually';
import { TestApp } from '../support/hosts/app';
import { ADA, type Person } from '../support/hosts/user-entities';

@WebSocketGateway()
class Gateway {
  constructor(private readonly auth: Auth) {}

  async handleConnection(client: WebSocket, request: object): Promise<void> {
    try {
      const caller = await this.auth.tickets.redeem(request);
      const ended = this.auth.tickets.untilEnded(caller, client);
      ended.addEventListener('abort', () => client.close(4401));
      client.send((caller.user as Person).email);
    } catch {
      client.close(4401);
    }
  }
}

@Controller('ticks')
class Ticks {
  constructor(private readonly auth: Auth) {}

  @Sse()
  @AcceptsTicket()
  ticks(@CurrentCaller() caller: Caller, @Res() response: EventEmitter) {
    const ended = fromEvent(this.auth.tickets.untilEnded(caller, response), 'abort');
    return concat(of({ data: caller.userId }), NEVER).pipe(takeUntil(ended));
  }
}

describe('a stream', () => {
  const t = TestApp.forFile({
    controllers: [Ticks],
    imports: [{ module: class Chat {}, providers: [Gateway] }],
    prepare: (app) => app.useWebSocketAdapter(new WsAdapter(app)),
  });
  let token: string;
  const callerOf = async () => (await t.auth.callerOf({ headers: { authorization: `Bearer ${token}` } }))!;
  beforeEach(async () => {
    await t.person(ADA);
    token = (await t.session()).access_token;
  });

  it('of a WebSocket begins with a ticket in its handshake, and ends with the session', async () => {
    const ticket = await t.auth.tickets.issue(await callerOf(), { for: '/?room=7', seconds: 30 });
    const url = `${(await t.app.getUrl()).replace('http', 'ws')}/?room=7`;
    const socket = new WebSocket(`${url}&ticket=${ticket}`);
    const [greeting] = (await once(socket, 'message')) as [Buffer];
    expect(String(greeting)).toBe(ADA);
    const [refused] = (await once(new WebSocket(`${url}&ticket=${ticket}`), 'close')) as [number];
    expect(refused).toBe(4401);
    const closed = once(socket, 'close') as Promise<[number]>;
    await t.call('post', '/auth/logout', token).expect(204);
    expect((await closed)[0]).toBe(4401);
  });

  it('of an EventSource begins with a ticket, and ends with the session', async () => {
    const ticket = await t.auth.tickets.issue(await callerOf(), { for: '/ticks', seconds: 30 });
    const url = `${await t.app.getUrl()}/ticks?ticket=${ticket}`;
    const { status, body } = await fetch(url);
    expect(status).toBe(200);
    const texts: string[] = [];
    const read = (async () => {
      for await (const bytes of body!) texts.push(Buffer.from(bytes).toString());
    })();
    await eventually(async () => texts.join('').includes('data: 1'));
    expect((await fetch(url)).status).toBe(401);
    await t.call('post', '/auth/logout', token).expect(204);
    await read;
  });

  it('ends when another process ends the session, or has ended it before', async () => {
    const caller = await callerOf();
    const signal = t.auth.tickets.untilEnded(caller, new EventEmitter());
    await t.database.query('UPDATE svc_sessions SET revoked_at = now()');
    await eventually(async () => signal.aborted);
    expect(signal.reason).toMatchObject({ code: 'unauthenticated' });
    const late = t.auth.tickets.untilEnded(caller, new EventEmitter());
    await eventually(async () => late.aborted);
  });

  it('ends when its access token has expired', async () => {
    const caller = await callerOf();
    t.clock.advance(3600);
    const signal = t.auth.tickets.untilEnded(caller, new EventEmitter());
    await eventually(async () => signal.aborted);
  });

  it('is not watched any more when it has closed', async () => {
    const [open, closed] = [new EventEmitter(), new EventEmitter()];
    const caller = await callerOf();
    const listeners = () =>
      (t.app.get(AuthEvents) as unknown as { emitter: EventEmitter }).emitter.listenerCount(SessionEnded.name);
    const before = listeners();
    const signals = [open, { raw: closed }].map((stream) => t.auth.tickets.untilEnded(caller, stream));
    expect(listeners()).toBe(before + 1);
    closed.emit('close');
    await t.call('post', '/auth/logout', token).expect(204);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect([listeners(), open.listenerCount('close'), closed.listenerCount('close')]).toEqual([before, 0, 0]);
  });
});
