import { EventEmitter2, EventEmitterModule } from '@nestjs/event-emitter';
import { PasswordChanged, type SecurityLine, SessionStarted, nodemailerMailer } from '@svc/auth';
import { eventually } from '../support/runtime/eventually';
import { failStatements } from '../support/faults/failing-statements';
import { MailServer } from '../support/mail/mail-server';
import { member, memberOptions } from '../support/hosts/members';
import { PausePoint } from '../support/faults/pause-point';
import { TcpProxy } from '../support/faults/tcp-proxy';
import { TestApp } from '../support/hosts/app';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

const NEXT = 'plum-violin-harbour-7';
const CHANGE = { current_password: PASSWORD, password: NEXT, password_confirmation: NEXT };

describe('auth.settled() waits for what a request has started and does not wait for:', () => {
  const server = new MailServer();
  let proxy: TcpProxy;
  /** The sink of the security log; another one for each test. */
  let sink: (line: SecurityLine) => unknown;
  const t = TestApp.forFile(async () => {
    proxy = await TcpProxy.to(await server.start());
    const mailer = nodemailerMailer(`smtp://127.0.0.1:${proxy.port}`, 'no-reply@example.com');
    const securityLog = { sink: (line: SecurityLine) => sink(line) };
    return { options: memberOptions(mailer, { securityLog }), imports: [EventEmitterModule.forRoot()] };
  });
  beforeEach(async () => {
    sink = () => undefined;
    await member(t, ADA);
  });
  afterEach(() => proxy.heal());
  afterAll(async () => {
    await proxy.close();
    server.stop();
  });

  const forgot = () => t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);

  /** Waits for the end of all work, which `resume` allows. Without it, the wait has no end. */
  async function settledBy(resume: () => unknown): Promise<void> {
    expect(await t.auth.settled(50)).toBe(false);
    const settled = t.auth.guard('admin').settled();
    await resume();
    expect(await settled).toBe(true);
  }

  it('a mail, until the mail server has it', async () => {
    const { taken } = server;
    proxy.hang();
    await forgot();
    await settledBy(() => proxy.heal());
    expect(server.taken).toBe(taken + 1);
  });

  it('a listener of an event, and what it starts', async () => {
    const { taken } = server;
    const atWork = new PausePoint();
    t.on(SessionStarted, async () => {
      await atWork.pass();
      await forgot();
    });
    await t.session(ADA);
    await settledBy(() => atWork.resume());
    expect(server.taken).toBe(taken + 1);
  });

  it('a listener of @nestjs/event-emitter', async () => {
    const [atWork, seen] = [new PausePoint(), [] as object[]];
    const emitter = t.app.get(EventEmitter2);
    const listener = async (event: SessionStarted): Promise<void> => {
      await atWork.pass();
      seen.push(event);
    };
    emitter.on(SessionStarted.name, listener);
    await t.session(ADA);
    await settledBy(() => atWork.resume());
    expect(seen).toHaveLength(1);
    emitter.off(SessionStarted.name, listener);
  });

  it('a sink of the security log', async () => {
    const [atWork, lines] = [new PausePoint(), [] as SecurityLine[]];
    sink = async (line) => {
      await atWork.pass();
      lines.push(line);
    };
    await t.login(ADA, 'wrong').expect(422);
    await settledBy(() => atWork.resume());
    expect(lines).toHaveLength(1);
  });

  it('a cleanup after a change, while PostgreSQL does not answer', async () => {
    await forgot();
    await t.auth.settled();
    const { access_token: token } = await t.session(ADA);
    const allow = await failStatements(t, 'DELETE ON svc_password_resets');
    await t.call('post', '/auth/password', token).send(CHANGE).expect(200);
    await settledBy(allow);
    expect(await t.database.query('SELECT 1 FROM svc_password_resets')).toEqual([]);
  });

  it('and does not reject if it fails', async () => {
    proxy.down();
    sink = async () => Promise.reject(new Error('no room'));
    t.on(SessionStarted, async () => Promise.reject(new Error('not today')));
    await forgot();
    await t.session(ADA);
    expect(await t.auth.settled()).toBe(true);
  });

  it('and returns at once if there is none', async () => {
    expect(await t.auth.settled(60_000)).toBe(true);
  });
});

describe('an application that shuts down', () => {
  it('waits for the listeners of its last requests', async () => {
    const t = await TestApp.start({ options: memberOptions({ send: async () => undefined }, {}) });
    await member(t, ADA);
    const { access_token: token } = await t.session(ADA);
    const atWork = new PausePoint();
    let hasEnded = false;
    t.on(PasswordChanged, async () => {
      await atWork.pass();
      // A listener may use the database.
      await t.database.query('SELECT 1');
      hasEnded = true;
    });
    await t.call('post', '/auth/password', token).send(CHANGE).expect(200);
    const stopped = t.stop();
    await eventually(async () => atWork.arrivals === 1);
    atWork.resume();
    await stopped;
    expect(hasEnded).toBe(true);
  });
});
