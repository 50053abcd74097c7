import { AuthEvents, Pruning, SessionEnded } from '@svc/auth';
import { SecurityEventDelivery } from '@svc/auth/operators';
import { TestApp } from '../support/hosts/app';
import { ADA } from '../support/hosts/user-entities';
import { HealthModule, UP, healthOf } from '../support/views/health';
import { failStatements } from '../support/faults/failing-statements';
import { EventReceiver, type Received, deliver, deliveringTo, storedEvents } from '../support/flows/security-events';
import { eventually } from '../support/runtime/eventually';

/** The user and the session of a token. */
const subjectOf = ({ sub_id: { user, session } }: Received): string => `${user!.sub}:${session!.id}`;

/** A session of a user has ended. The id of the session is its number. */
const end = (t: TestApp, userId: string, session: number): void =>
  t.app
    .get(AuthEvents)
    .emit(new SessionEnded('api', userId, String(session), { ip: null, userAgent: null }, [], 'revoked'));

/** Fails after an accepted token whose user has an earlier one that is accepted later, or twice accepted. */
function expectOnceInOrder(tokens: readonly Received[]): void {
  const numbers = new Map<string, number>();
  for (const { sub_id } of tokens) {
    const [user, session] = [sub_id.user!.sub, Number(sub_id.session!.id)];
    expect([user, session]).toEqual([user, (numbers.get(user) ?? 0) + 1]);
    numbers.set(user, session);
  }
}

describe('a security event whose receiver', () => {
  const receiver = EventReceiver.forFile();
  const t = TestApp.forFile(() => ({ options: deliveringTo(receiver), imports: [HealthModule] }));
  // Between two attempts only the test moves the time: the timers of the library find nothing that is due.
  beforeEach(() => t.clock.stop());

  /** Delivers until nothing is left, as after some pauses. */
  const deliverAll = async (): Promise<void> => {
    for (let round = 0; round < 20 && (await storedEvents(t)).some(({ isDead }) => !isDead); round++) {
      t.clock.advance(300);
      await deliver(t);
    }
  };

  it('is down for an hour is tried again with pauses, and gets each event once and in order', async () => {
    await receiver.stop();
    for (let i = 1; i <= 30; i++) end(t, String((i - 1) % 10), Math.ceil(i / 10));
    for (let minute = 0; minute < 60; minute++) {
      await deliver(t);
      t.clock.advance(60);
    }
    await receiver.start();
    const stored = await storedEvents(t);
    expect(stored.map(({ failure, isDead }) => [failure, isDead]).filter(([failure]) => failure)).toEqual(
      Array.from({ length: 10 }, () => ['ECONNREFUSED', false]),
    );
    // Pauses of 2, 4, 8 seconds and so on, later of 5 minutes.
    expect(Math.max(...stored.map(({ attempts }) => attempts))).toBeLessThanOrEqual(20);
    await deliverAll();
    expect(receiver.accepted).toHaveLength(30);
    expectOnceInOrder(receiver.accepted);
  });

  it('answers 500 for one user gets the events of all others, and those of the user later and in order', async () => {
    receiver.answer = (response, token) =>
      token.sub_id.user!.sub === '7' ? receiver.refuse(500)(response) : receiver.accept(response, token);
    for (let i = 1; i <= 5; i++) for (const user of ['7', '8', '9']) end(t, user, i);
    await deliver(t);
    expect(receiver.accepted.map(subjectOf).filter((subject) => subject.startsWith('7'))).toEqual([]);
    expect(receiver.accepted).toHaveLength(10);
    expect((await storedEvents(t)).map(({ attempts, failure }) => [attempts, failure])).toEqual([
      [1, 'status 500'],
      ...Array.from({ length: 4 }, () => [0, null]),
    ]);
    receiver.answer = receiver.accept;
    await deliverAll();
    expectOnceInOrder(receiver.accepted);
  });

  it('accepts an event, but whose answer is lost, gets the same token again', async () => {
    receiver.answer = (response) => response.socket!.destroy();
    end(t, '1', 1);
    end(t, '1', 2);
    await deliver(t);
    receiver.answer = receiver.accept;
    await deliverAll();
    const ids = receiver.requests.map(({ claims }) => claims.jti);
    expect(receiver.requests.map(({ claims }) => subjectOf(claims))).toEqual(['1:1', '1:1', '1:2']);
    expect(ids[0]).toBe(ids[1]);
    expect(receiver.requests[0]!.claims).toEqual(receiver.requests[1]!.claims);
  });

  it('does not answer in time is given the token again', async () => {
    type StartTimer = (call: () => void, ms?: number, ...args: unknown[]) => NodeJS.Timeout;
    const start = globalThis.setTimeout as StartTimer;
    // The time limit of a request, and no other timer.
    const early: StartTimer = (call, ms, ...args) => start(call, ms === 10_000 ? 50 : ms, ...args);
    jest.spyOn(globalThis, 'setTimeout').mockImplementation(early as typeof setTimeout);
    receiver.answer = () => undefined;
    end(t, '1', 1);
    await deliver(t);
    expect(await storedEvents(t)).toEqual([{ user: '1', attempts: 1, failure: 'timeout', isDead: false }]);
    await eventually(async () => receiver.open.size === 0);
    jest.restoreAllMocks();
    receiver.answer = receiver.accept;
    await deliverAll();
    expect(receiver.accepted.map(subjectOf)).toEqual(['1:1']);
  });

  it('refuses a token gets it ten times, then the next one of the user; health and a new attempt show it', async () => {
    receiver.answer = (response, token) =>
      token.sub_id.session!.id === '1'
        ? receiver.refuse(400, 'invalid_key')(response)
        : receiver.accept(response, token);
    end(t, '1', 1);
    end(t, '1', 2);
    await deliver(t);
    expect((await healthOf(t)).details.auth_deliveries).toEqual({ status: 'up' });
    await deliverAll();
    expect(receiver.requests.map(({ claims }) => subjectOf(claims))).toEqual([
      ...Array.from({ length: 10 }, () => '1:1'),
      '1:2',
    ]);
    expect(await storedEvents(t)).toEqual([
      { user: '1', attempts: 10, failure: 'status 400 invalid_key', isDead: true },
    ]);
    t.clock.advance(2);
    const health = await healthOf(t);
    expect([health.status, health.details.auth_deliveries]).toEqual([200, { status: 'up', warning: 'undelivered' }]);
    receiver.answer = receiver.accept;
    expect(await t.app.get(SecurityEventDelivery).revive()).toBe(1);
    await deliver(t);
    expect(receiver.accepted.map(subjectOf)).toEqual(['1:2', '1:1']);
    t.clock.advance(2);
    expect((await healthOf(t)).details.auth_deliveries).toEqual({ status: 'up' });
  });

  it.each<[string, number, string | undefined, string]>([
    ['redirects', 307, undefined, 'status 307'],
    ['refuses its credentials', 401, undefined, 'status 401'],
    ['refuses with a text that is no code', 400, 'no\ncode', 'status 400'],
    ['refuses with an endless text', 400, 'x'.repeat(100_000), 'status 400'],
  ])('%s is not followed, and its texts are not kept', async (_, status, err, failure) => {
    receiver.answer = (response) => {
      response.setHeader('Location', receiver.endpoint);
      return receiver.refuse(status, err)(response);
    };
    end(t, '1', 1);
    await deliver(t);
    expect(receiver.requests).toHaveLength(1);
    expect(await storedEvents(t)).toEqual([{ user: '1', attempts: 1, failure, isDead: false }]);
  });

  it('is down for days loses the oldest events, which are deleted after a month', async () => {
    receiver.answer = receiver.refuse(503);
    end(t, '1', 1);
    await deliver(t);
    t.clock.advance(3 * 86_400 - 60);
    end(t, '2', 1);
    await deliver(t);
    expect((await storedEvents(t)).map(({ isDead }) => isDead)).toEqual([false, false]);
    t.clock.advance(120);
    await deliver(t);
    expect((await storedEvents(t)).map(({ user, isDead }) => [user, isDead])).toEqual([
      ['1', true],
      ['2', false],
    ]);
    const pruned = async (): Promise<number> => (await t.app.get(Pruning).run()).securityEvents;
    expect(await pruned()).toBe(0);
    t.clock.advance(30 * 86_400 + 1);
    expect(await pruned()).toBe(1);
    t.clock.advance(3 * 86_400);
    expect(await pruned()).toBe(1);
  });

  it('hangs holds at most eight requests for 1,000 events, and no sign-in', async () => {
    // After an answer, so that it gets several at once.
    end(t, '0', 1);
    await deliver(t);
    receiver.answer = () => undefined;
    for (let i = 0; i < 1000; i++) end(t, String(1000 + (i % 500)), 1 + Math.floor(i / 500));
    await t.auth.settled();
    await eventually(async () => receiver.requests.length > 1);
    await t.person(ADA);
    const { access_token } = await t.session();
    await t.call('post', '/auth/logout', access_token).expect(204);
    await t.auth.settled();
    expect(await storedEvents(t)).toHaveLength(1001);
    expect(receiver.most).toBeLessThanOrEqual(8);
    receiver.acceptAll();
    await deliverAll();
    expect(receiver.accepted).toHaveLength(1002);
    expect(new Set(receiver.accepted.map(({ jti }) => jti)).size).toBe(1002);
  });

  it('gets what PostgreSQL could not store at first', async () => {
    const giveBack = await failStatements(t, 'INSERT ON svc_security_events');
    end(t, '1', 1);
    end(t, '1', 2);
    await t.person(ADA);
    await t.session();
    await giveBack();
    await deliver(t);
    expect(receiver.accepted.map(subjectOf)).toEqual(['1:1', '1:2']);
  });
});

describe('two processes with one table', () => {
  const receiver = EventReceiver.forFile();
  const t = TestApp.forFile(() => ({ options: deliveringTo(receiver) }));
  let other: TestApp;
  beforeEach(async () => {
    other = await TestApp.start({ options: deliveringTo(receiver), databaseUrl: t.databaseUrl });
  });
  afterEach(() => other.stop());

  it('deliver each event once, and those of a user in order', async () => {
    for (let i = 0; i < 120; i++) end(t, String(i % 12), 1 + Math.floor(i / 12));
    await t.auth.settled();
    await Promise.all([deliver(t), deliver(other)]);
    await eventually(async () => receiver.accepted.length >= 120);
    await Promise.all([deliver(t), deliver(other)]);
    expect(receiver.accepted).toHaveLength(120);
    expectOnceInOrder(receiver.accepted);
    expect(await storedEvents(t)).toEqual([]);
  });

  it('take over at once what one of them was delivering when it closed', async () => {
    receiver.answer = () => undefined;
    end(other, '1', 1);
    // The whole request: what is read afterwards would be answered.
    await eventually(async () => receiver.requests.length === 1);
    await other.stop();
    receiver.answer = receiver.accept;
    await deliver(t);
    expect(receiver.requests).toHaveLength(2);
    expect(receiver.accepted.map(subjectOf)).toEqual(['1:1']);
  });

  it('take over what one of them was delivering when it was killed, a minute later', async () => {
    end(other, '1', 1);
    await deliver(other);
    await t.database.query(
      `INSERT INTO svc_security_events (guard, user_id, receiver, claims, created_at, due_at, attempts)
       VALUES ('api', '1', 'crm', $1, now(), now() + interval '60 seconds', 1)`,
      [receiver.accepted[0]],
    );
    end(t, '1', 2);
    await deliver(t);
    expect(receiver.accepted.map(subjectOf)).toEqual(['1:1']);
    t.clock.advance(61);
    await deliver(t);
    expect(receiver.accepted.map(subjectOf)).toEqual(['1:1', '1:1', '1:2']);
  });
});

describe('a host without receivers', () => {
  const t = TestApp.forFile({ imports: [HealthModule] });

  it('stores no event, and has no health check of deliveries', async () => {
    await t.person(ADA);
    const { access_token } = await t.session();
    await t.call('post', '/auth/logout', access_token).expect(204);
    await t.auth.settled();
    expect(await storedEvents(t)).toEqual([]);
    expect(() => t.app.get(SecurityEventDelivery)).toThrow();
    expect((await healthOf(t)).details).toEqual(UP);
  });
});
