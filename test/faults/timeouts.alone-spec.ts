import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { TestApp, type Tokens, claimsOf } from '../support/hosts/app';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { eventually } from '../support/runtime/eventually';
import { type Mailbox, linkIn, member, startMembers } from '../support/hosts/members';
import { PASSKEYS } from '../support/flows/passkeys';
import { PASSWORD } from '../support/hosts/user-entities';
import { RedisServer } from '../support/stores/redis';
import { routesOf } from '../support/views/routes';
import { HELD_MS, SLOW_ANSWER_MS, StoreTimeouts, whenTimedOut } from '../support/faults/store-timeouts';
import { describeWithOwnRedis, describeWithRedis } from '../support/stores/with-redis';
import { BrokenNode, type Timed } from './scenarios/broken-node';

const CHOSEN = { password: 'another horse entirely', password_confirmation: 'another horse entirely' };

/** The body for each route: valid enough that the route needs a store. */
const BODIES: Record<string, object> = {
  'POST login': { email: ADA, password: PASSWORD },
  'POST confirm-password': { password: PASSWORD },
  'POST password': { current_password: PASSWORD, ...CHOSEN },
  'POST register': { name: 'Bob', email: 'bob@example.com', ...CHOSEN },
  'POST forgot-password': { email: ADA },
  'POST reset-password': { email: ADA, token: 'f'.repeat(64), ...CHOSEN },
  'POST two-factor/confirm': { code: '000000' },
  'POST two-factor-challenge': { code: '000000', challenge_token: 'none' },
  'POST two-factor-enrolment': { enrolment_token: 'none' },
  'POST two-factor-enrolment/confirm': { code: '000000', enrolment_token: 'none' },
  'POST two-factor-enrolment/passkey': { credential: {}, enrolment_token: 'none' },
  'POST two-factor-enrolment/passkey-options': { enrolment_token: 'none' },
  'POST passkeys/login': { ceremony_id: randomUUID(), credential: {} },
  'PATCH passkeys/:svcPasskey': { name: 'phone' },
};

/** The routes that do not use PostgreSQL here. */
const WITHOUT_POSTGRES = ['GET jwks', 'HEAD email/verify/:id/:hash', 'POST passkeys/login-options'];

/** Waits for answers after one timeout for all store calls of a request. */
const inTime = <T>(t: TestApp, send: () => PromiseLike<T>, mayEnd?: () => boolean): Promise<T> =>
  StoreTimeouts.of(t.app).during(send, mayEnd);

describeWithRedis('without a response from a store, every route', () => {
  let node: BrokenNode;
  let live: Tokens;
  let proof: string;

  beforeAll(async () => {
    const features = { ...PASSKEYS.features, twoFactor: true };
    // The requests to all routes are concurrent and must not wait for each other's connections.
    node = await BrokenNode.start(
      async (stores) =>
        (await startMembers({ ...PASSKEYS, features, storeTimeoutMs: HELD_MS }, { ...stores, pool: { max: 100 } })).t,
    );
    await member(node.t, ADA);
    live = await node.t.session();
    proof = await confirmationTokenOf(node.t, live.access_token);
  });
  afterEach(async () => {
    node.heal();
    await node.recovery(live);
  });
  afterAll(() => node.stop());

  async function call(route: string) {
    const [method, path] = route.split(' ') as [string, string];
    const name = `${method} ${path.replace(/^\/(admin\/)?auth\//, '')}`;
    const { status, headers } = await node.t.http[method.toLowerCase() as 'post'](
      path.replaceAll(/:\w+/g, randomUUID()),
    )
      .set('Authorization', `Bearer ${live.access_token}`)
      .set(CONFIRMATION_HEADER, proof)
      .send(['GET', 'HEAD'].includes(method) ? undefined : (BODIES[name] ?? { refresh_token: live.refresh_token }));
    return { name, status, retryAfter: headers['retry-after'] as string | undefined };
  }

  it.each([
    ['Redis is down', () => node.redis.down(), ['GET jwks']],
    ['Redis hangs', () => node.redis.hang(), ['GET jwks']],
    ['PostgreSQL is down', () => node.postgres.down(), WITHOUT_POSTGRES],
    ['PostgreSQL hangs', () => node.postgres.hang(), WITHOUT_POSTGRES],
    ['both hang', () => (node.redis.hang(), node.postgres.hang()), ['GET jwks']],
  ])('answers 503 after one timeout, or does not use the store, while %s', async (_, breakDown, working) => {
    breakDown();
    const answers = await inTime(node.t, () => Promise.all(routesOf(node.t).map(call)));
    expect(new Set(answers.filter(({ status }) => status < 400).map(({ name }) => name))).toEqual(new Set(working));
    const failed = answers.filter(({ status }) => status >= 500);
    expect(failed.filter(({ status, retryAfter }) => status !== 503 || retryAfter !== '1')).toEqual([]);
    expect(failed.length).toBeGreaterThan(20);
  });
});

type Session = { access_token: string; refresh_token: string };

/** Prepares a request and returns it. */
type Operation = (node: BrokenNode, mailbox: Mailbox, email: string) => Promise<() => Promise<Timed>>;

const OPERATIONS: Record<string, Operation> = {
  login: async (node, _, email) => {
    await member(node.t, email);
    return () => node.call('POST', '/auth/login', { email, password: PASSWORD });
  },
  'a wrong login': async (node, _, email) => {
    await member(node.t, email);
    return () => node.call('POST', '/auth/login', { email, password: 'wrong' });
  },
  refresh: async (node, _, email) => {
    await member(node.t, email);
    const tokens: Session = await node.t.session(email);
    return () => node.call('POST', '/auth/refresh', tokens);
  },
  'a reset': async (node, mailbox, email) => {
    await member(node.t, email);
    await node.t.http.post('/auth/forgot-password').send({ email }).expect(200);
    const token = linkIn(await mailbox.to(email)).searchParams.get('token');
    return () => node.call('POST', '/auth/reset-password', { email, token, ...CHOSEN });
  },
};

describeWithRedis('a store that stops responding during a request', () => {
  const newEmail = (): string => `${randomUUID()}@example.com`;

  let node: BrokenNode;
  let mailbox: Mailbox;
  let witness: Session;

  /** A separate node, so that one operation does not wait for the timeout of another. */
  async function startNode(): Promise<[BrokenNode, Mailbox, Session]> {
    let own!: Mailbox;
    const options = { storeTimeoutMs: HELD_MS, features: { lockout: true }, keyPrefix: `${randomUUID()}:` };
    const one = await BrokenNode.start(async (stores) => {
      const started = await startMembers(options, stores);
      own = started.mailbox;
      return started.t;
    });
    return [one, own, await prepared(async (email) => (await member(one.t, email), one.t.session(email)))];
  }

  /** Repeats the preparation of a measured request, which may be refused while all nodes are busy. */
  async function prepared<T>(work: (email: string) => Promise<T>): Promise<T> {
    let done: T;
    await eventually(async () => {
      try {
        done = await work(newEmail());
        return true;
      } catch {
        return false;
      }
    });
    return done!;
  }

  beforeAll(async () => void ([node, mailbox, witness] = await startNode()));
  afterAll(() => node.stop());

  /**
   * Breaks one connection before the first response, then before the third, and so on, or before the second, the fourth,
   * and so on, until the request needs no more responses.
   */
  async function silences(operation: Operation, store: 'redis' | 'postgres', first: 1 | 2): Promise<Timed[]> {
    const [own, ownMailbox, ownWitness] = await startNode();
    const answers: Timed[] = [];
    for (let [isFired, number] = [true, first as number]; isFired; number += 2) {
      const request = await prepared((email) => operation(own, ownMailbox, email));
      own[store].at(number, () => own[store].hang());
      answers.push(await inTime(own.t, request, () => !own[store].isWaiting));
      isFired = !own[store].isWaiting;
      own.heal();
      await own.recovery(ownWitness);
    }
    await own.stop();
    return answers;
  }

  describe('at any response', () => {
    let answers: Record<string, Timed[]>;

    // All run concurrently, because they only wait.
    beforeAll(async () => {
      const all = Object.entries(OPERATIONS).map(async ([name, operation]) => {
        const stores = ['redis', 'postgres'] as const;
        const each = stores.flatMap((store) => [silences(operation, store, 1), silences(operation, store, 2)]);
        return [name, (await Promise.all(each)).flat()] as const;
      });
      answers = Object.fromEntries(await Promise.all(all));
    });

    it.each(Object.keys(OPERATIONS))('causes one timeout and never a 500: %s', (name) => {
      expect(answers[name]!.filter(({ status }) => ![200, 422, 503].includes(status))).toEqual([]);
      expect(answers[name]!.length).toBeGreaterThan(4);
    });
  });

  it.each(Object.entries(OPERATIONS))(
    'and one that responds slowly is limited for all its calls together: %s',
    async (name, operation) => {
      const request = await operation(node, mailbox, newEmail());
      const timeouts = StoreTimeouts.of(node.t.app);
      timeouts.answerMs = SLOW_ANSWER_MS;
      const { status } = await timeouts.during(request, () => false);
      timeouts.answerMs = 0;
      await node.recovery(witness);
      // A refresh waits three times only.
      expect(status).toBe(name === 'refresh' ? 200 : 503);
      // A repeated request succeeds: the 503 consumed nothing.
      expect((await request()).status).toBe(name === 'a wrong login' ? 422 : 200);
    },
  );
});

describe('a request that waits for a lock in PostgreSQL', () => {
  let other: Client;
  let live: Tokens;
  const t = TestApp.forFile({ options: { storeTimeoutMs: HELD_MS } });

  beforeEach(async () => {
    await t.person(ADA);
    live = await t.session();
    other = new Client({ connectionString: t.databaseUrl });
    await other.connect();
  });
  afterEach(() => other.end());

  const quick = async (work: () => PromiseLike<{ status: number }>): Promise<number> => {
    const { status } = await inTime(t, work);
    return status;
  };

  it('is answered 503 in time, and a revocation that was answered 503 does not happen later', async () => {
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM svc_sessions WHERE id = $1 FOR UPDATE', [claimsOf(live.access_token).fid]);
    expect(await quick(() => t.call('delete', '/auth/sessions', live.access_token))).toBe(503);
    expect(await quick(() => t.refresh(live.refresh_token))).toBe(503);
    await other.query('ROLLBACK');
    await t.calm();
    await t.get('/private', live.access_token).expect(200);
    await t.refresh(live.refresh_token).expect(200);
  });

  it('is answered 503 in time if it is a login and the user table is locked', async () => {
    await other.query('BEGIN; LOCK TABLE people');
    expect(await quick(() => t.login(ADA))).toBe(503);
    expect(await quick(() => t.get('/private', live.access_token))).toBe(503);
    await other.query('ROLLBACK');
    await t.login(ADA).expect(200);
  });
});

describeWithOwnRedis('an application whose Redis does not respond', () => {
  let redis: RedisServer;
  let t: TestApp;
  let live: Tokens;
  let revoked: Tokens;

  beforeAll(async () => {
    redis = await RedisServer.start();
    t = await TestApp.start({ redisUrl: redis.url, options: { storeTimeoutMs: HELD_MS } });
    await t.person(ADA);
  });
  beforeEach(async () => {
    [live, revoked] = [await t.session(), await t.session()];
    await t.call('post', '/auth/logout', revoked.access_token).expect(204);
    await t.get('/private', live.access_token).expect(200);
  });
  afterAll(async () => {
    await t.stop();
    await redis.stop();
  });

  /** Requires that every protected request is answered 503 in time and consumes nothing. */
  async function expectClosed(): Promise<void> {
    for (let i = 0; i < 2; i++) {
      const answers = await inTime(t, () =>
        Promise.all([
          t.get('/private', live.access_token),
          t.get('/private', revoked.access_token),
          t.get('/passport', live.access_token),
          t.call('post', '/auth/logout', live.access_token),
          t.call('delete', '/auth/sessions', live.access_token),
          t.refresh(live.refresh_token),
          t.login(ADA),
        ]),
      );
      expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503, 503, 503]);
      expect(answers[0]!.headers['retry-after']).toBe('1');
      expect(answers[3]!.body).toEqual({
        message: 'The service is temporarily unavailable. Please try again shortly.',
      });
    }
    // Requests that need no response from Redis succeed.
    await t.get('/mixed/open').expect(200);
    await t.get('/private').expect(401);
  }

  async function expectOpen(): Promise<void> {
    await eventually(async () => (await t.get('/private', live.access_token)).status === 200);
    await t.refresh(live.refresh_token).expect(200);
  }

  it('because it is stopped answers 503, and recovers after it', async () => {
    await redis.stop();
    await expectClosed();
    await redis.start();
    await expectOpen();
  });

  it('because it hangs answers 503, recovers after it, and accepts no revoked session', async () => {
    redis.freeze();
    await expectClosed();
    redis.thaw();
    await expectOpen();
    await t.get('/private', revoked.access_token).expect(401);
  });

  it('undoes a request that it answered 503, and a retry succeeds', async () => {
    redis.freeze();
    await inTime(t, () => t.call('delete', '/auth/sessions', live.access_token).expect(503));
    await expect(whenTimedOut(() => t.auth.revokeAll(1))).rejects.toThrow(/did not answer/);
    const [{ open }] = await t.database.query(
      'SELECT count(*)::int AS open FROM svc_sessions WHERE revoked_at IS NULL',
    );
    expect(open).toBeGreaterThan(0);
    redis.thaw();
    await t.calm();
    await t.auth.revokeAll(1);
    await t.get('/private', live.access_token).expect(401);
    await t.refresh(live.refresh_token).expect(401);
  });
});
