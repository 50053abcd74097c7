import { type SessionEndReason, SessionEnded } from '@svc/auth';
import { type Tokens, claimsOf } from '../support/app';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from '../support/step-up';
import { linkIn, member, membersForFile } from '../support/members';
import { PASSWORD } from '../support/user-entities';
import { failStatementsAfter } from '../support/failing-statements';
import { RACES_MS } from '../support/rounds';

/** The number of sessions: `TEST_SESSIONS=100000 npx jest test/account/many-sessions`. */
const SESSIONS = Number(process.env.TEST_SESSIONS ?? 20_000);

/** The number of sessions that end before the database fails: ten statements of the library. */
const ENDED = 5000;

const NEXT = 'another horse entirely';

describe('a user with thousands of sessions', () => {
  const { t, mailbox } = membersForFile({ sessions: { maxPerUser: 0 } });
  let userId: string;
  /** The oldest session, the one that sends the request, and the newest one. */
  let first: Tokens;
  let own: Tokens;
  let last: Tokens;
  /** The duration of each request in seconds, printed if `TEST_SESSIONS` is set. */
  const took: Record<string, number[]> = {};

  const change = { current_password: PASSWORD, password: NEXT, password_confirmation: NEXT };
  const reset = { email: ADA, password: NEXT, password_confirmation: NEXT };

  type Prepare = () => Promise<() => PromiseLike<{ status: number }>>;
  /** Whether one of the sessions sends the request, and whether that session continues. */
  const [BY_ONE, BY_NONE, OF_OTHERS] = [
    { asks: true, spares: false },
    { asks: false, spares: false },
    { asks: true, spares: true },
  ];
  /** Each way to end the sessions: prepares, and returns the request, which can be repeated. */
  const ways: [string, SessionEndReason, typeof BY_ONE, Prepare][] = [
    [
      'a sign-out everywhere',
      'revoked',
      BY_ONE,
      async () => () => t.call('delete', '/auth/sessions', own.access_token),
    ],
    [
      'a sign-out everywhere else',
      'others',
      OF_OTHERS,
      async () => () => t.call('delete', '/auth/sessions/others', own.access_token),
    ],
    [
      'a change of the password',
      'password_change',
      OF_OTHERS,
      async () => () => t.call('post', '/auth/password', own.access_token).send(change),
    ],
    [
      'a reset of the password',
      'password_reset',
      BY_NONE,
      async () => {
        await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
        const token = linkIn(await mailbox.to(ADA)).searchParams.get('token');
        return () => t.http.post('/auth/reset-password').send({ ...reset, token });
      },
    ],
    [
      'a deletion of the account',
      'erased',
      BY_ONE,
      async () => {
        const proof = await confirmationTokenOf(t, own.access_token);
        return () => t.call('delete', '/auth/account', own.access_token).set(CONFIRMATION_HEADER, proof);
      },
    ],
    [
      'the host',
      'revoked',
      BY_NONE,
      async () => () =>
        t.auth.revokeAll(userId).then(
          () => ({ status: 204 }),
          (error: { getStatus(): number }) => ({ status: error.getStatus() }),
        ),
    ],
  ];

  beforeEach(async () => {
    t.clock.stop();
    userId = await member(t, ADA);
    first = await t.session();
    // The statistics of the nearly empty table, so that new plans are based on one row.
    await t.database.query('VACUUM ANALYZE svc_sessions');
    t.clock.advance(1);
    await t.database.query(
      `INSERT INTO svc_sessions (id, guard, user_id, salt, amr, auth_time, expires_at, last_used_at, ip, created_at)
       SELECT gen_random_uuid(), 'api', $1, decode(md5(n::text), 'hex'), '{pwd}', s.at, s.at + interval '30 days', s.at,
              '10.0.0.1', s.at
         FROM (SELECT n, now() + interval '1 second' + n * interval '1 ms' AS at FROM generate_series(1, $2::int) n) s`,
      [userId, SESSIONS],
    );
    t.clock.advance(2 + SESSIONS / 1000);
    own = await t.session();
    t.clock.advance(1);
    last = await t.session();
  });

  const living = async (): Promise<number> =>
    (await t.database.query('SELECT count(*)::int AS n FROM svc_sessions WHERE revoked_at IS NULL'))[0].n;

  it.each(ways)(
    'loses all of them through %s, even if the request must be repeated',
    async (name, reason, { asks, spares }, prepare) => {
      const ended = t.recorded(SessionEnded);
      const request = await prepare();
      const [all, spared] = [await living(), spares ? 1 : 0];
      expect(all).toBe(SESSIONS + 3);

      const allow = await failStatementsAfter(t, ENDED, 'UPDATE ON svc_sessions');
      expect((await request()).status).toBe(503);
      await allow();
      // The sessions that have ended stay ended: the newest first, and not the one that sends the request.
      expect(await living()).toBe(all - ENDED);
      await t.get('/private', last.access_token).expect(401);
      await t.refresh(last.refresh_token).expect(401);
      await t.get('/private', first.access_token).expect(200);
      if (asks) await t.get('/private', own.access_token).expect(200);

      const times = (took[name] = [] as number[]);
      for (let left = await living(); ;) {
        const start = performance.now();
        const { status } = await request();
        times.push((performance.now() - start) / 1000);
        if (status < 300) break;
        // The request timed out, but more sessions have ended.
        expect(status).toBe(503);
        const now = await living();
        expect(now).toBeLessThan(left);
        left = now;
      }
      expect(await living()).toBe(spared);
      for (const { access_token, refresh_token } of [first, last]) {
        await t.get('/private', access_token).expect(401);
        await t.refresh(refresh_token).expect(401);
      }
      await t.get('/private', own.access_token).expect(spared ? 200 : 401);
      await t.refresh(own.refresh_token).expect(spared ? 200 : 401);
      expect(new Set(ended.map(({ sessionId }) => sessionId)).size).toBe(all - spared);
      expect(ended).toHaveLength(all - spared);
      expect(new Set(ended.map((event) => event.reason))).toEqual(new Set([reason]));
      expect(ended.some(({ sessionId }) => sessionId === claimsOf(own.access_token).fid)).toBe(!spared);
    },
    RACES_MS,
  );

  it(
    'leaves no data of them after the deletion of the account',
    async () => {
      const proof = await confirmationTokenOf(t, own.access_token);
      const erase = () => t.call('delete', '/auth/account', own.access_token).set(CONFIRMATION_HEADER, proof);
      const ended = await living();
      while ((await erase()).status === 503);
      const left = `SELECT count(*)::int AS n FROM svc_sessions
      WHERE user_id = '' AND ip IS NULL AND amr = '{}' AND salt = '' AND revoked_at IS NOT NULL`;
      expect(await t.database.query(left)).toEqual([{ n: ended }]);
      expect(await t.database.query('SELECT count(*)::int AS n FROM svc_sessions')).toEqual([{ n: ended }]);
    },
    RACES_MS,
  );

  afterAll(() => process.env.TEST_SESSIONS && console.log(SESSIONS, 'sessions, seconds of each request:', took));
});
