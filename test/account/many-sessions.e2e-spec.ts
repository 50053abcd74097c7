import { SessionEnded } from '@svc/auth';
import { type Tokens, claimsOf } from '../support/hosts/app';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { linkIn, member, membersForFile } from '../support/hosts/members';
import { PASSWORD } from '../support/hosts/user-entities';
import { failStatementsAfter } from '../support/faults/failing-statements';
import { eventually } from '../support/runtime/eventually';
import { recordStatements, shareOfIndexRead } from '../support/stores/query-plans';
import { RACES_MS } from '../support/runtime/rounds';

/** The number of sessions: `TEST_SESSIONS=100000 npx jest test/account/many-sessions`. */
const SESSIONS = Number(process.env.TEST_SESSIONS ?? 5000);

/** The number of sessions that end before the database fails: four statements of the library. */
const ENDED = 2000;

const NEXT = 'another horse entirely';

describe('a user with thousands of sessions', () => {
  const { t, mailbox } = membersForFile({ sessions: { maxPerUser: 0 } });
  let userId: string;
  /** The oldest session, the one that sends the request, and the newest one. */
  let first: Tokens;
  let own: Tokens;
  let last: Tokens;
  /** The duration of each request in seconds, printed if `TEST_SESSIONS` is set. */
  const durations: Record<string, number[]> = {};

  const change = { current_password: PASSWORD, password: NEXT, password_confirmation: NEXT };
  const reset = { email: ADA, password: NEXT, password_confirmation: NEXT };

  type Prepare = () => Promise<() => PromiseLike<{ status: number }>>;
  /** Whether one of the sessions sends the request, and whether that session continues. */
  const [ALL_BY_SESSION, ALL_WITHOUT_SESSION, OTHERS_BY_SESSION] = [
    { bySession: true, keepsCaller: false },
    { bySession: false, keepsCaller: false },
    { bySession: true, keepsCaller: true },
  ];
  /** Each way to end the sessions: prepares, and returns the request, which can be repeated. */
  const ways: [string, SessionEnded['reason'], typeof ALL_BY_SESSION, Prepare][] = [
    [
      'a sign-out everywhere',
      'revoked',
      ALL_BY_SESSION,
      async () => () => t.call('delete', '/auth/sessions', own.access_token),
    ],
    [
      'a sign-out everywhere else',
      'others',
      OTHERS_BY_SESSION,
      async () => () => t.call('delete', '/auth/sessions/others', own.access_token),
    ],
    [
      'a change of the password',
      'password_change',
      OTHERS_BY_SESSION,
      async () => () => t.call('post', '/auth/password', own.access_token).send(change),
    ],
    [
      'a reset of the password',
      'password_reset',
      ALL_WITHOUT_SESSION,
      async () => {
        await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
        const token = linkIn(await mailbox.to(ADA)).searchParams.get('token');
        return () => t.http.post('/auth/reset-password').send({ ...reset, token });
      },
    ],
    [
      'the host',
      'revoked',
      ALL_WITHOUT_SESSION,
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

  const countLive = async (): Promise<number> =>
    (await t.database.query('SELECT count(*)::int AS n FROM svc_sessions WHERE revoked_at IS NULL'))[0].n;

  it.each(ways)(
    'loses all of them through %s, even if the request must be repeated',
    async (name, reason, { bySession, keepsCaller }, prepare) => {
      const ended = t.recorded(SessionEnded);
      const request = await prepare();
      const [all, spared] = [await countLive(), keepsCaller ? 1 : 0];
      expect(all).toBe(SESSIONS + 3);

      const allow = await failStatementsAfter(t, ENDED, 'UPDATE ON svc_sessions');
      expect((await request()).status).toBe(503);
      await allow();
      // The sessions that have ended stay ended: the newest first, and not the one that sends the request.
      expect(await countLive()).toBe(all - ENDED);
      await t.get('/private', last.access_token).expect(401);
      await t.refresh(last.refresh_token).expect(401);
      await t.get('/private', first.access_token).expect(200);
      if (bySession) await t.get('/private', own.access_token).expect(200);

      const times = (durations[name] = [] as number[]);
      for (let remaining = await countLive(); ;) {
        const start = performance.now();
        const { status } = await request();
        times.push((performance.now() - start) / 1000);
        if (status < 300) break;
        // The request timed out, but more sessions have ended.
        expect(status).toBe(503);
        const now = await countLive();
        expect(now).toBeLessThan(remaining);
        remaining = now;
      }
      expect(await countLive()).toBe(spared);
      for (const { access_token, refresh_token } of [first, last]) {
        await t.get('/private', access_token).expect(401);
        await t.refresh(refresh_token).expect(401);
      }
      await t.get('/private', own.access_token).expect(spared ? 200 : 401);
      await t.refresh(own.refresh_token).expect(spared ? 200 : 401);
      expect(new Set(ended.map(({ familyId }) => familyId)).size).toBe(all - spared);
      expect(ended).toHaveLength(all - spared);
      expect(new Set(ended.map((event) => event.reason))).toEqual(new Set([reason]));
      expect(ended.some(({ familyId }) => familyId === claimsOf(own.access_token).fid)).toBe(!spared);
    },
    RACES_MS,
  );

  it(
    'loses them and all their data through one request that deletes the account, also if a store fails meanwhile',
    async () => {
      const ended = t.recorded(SessionEnded);
      const proof = await confirmationTokenOf(t, own.access_token);
      const all = await countLive();
      const allow = await failStatementsAfter(t, ENDED, 'UPDATE ON svc_sessions');
      const { statements, stop } = recordStatements();
      const start = performance.now();
      const erased = t
        .call('delete', '/auth/account', own.access_token)
        .set(CONFIRMATION_HEADER, proof)
        .then(({ status }) => status);
      await eventually(async () => (await countLive()) === all - ENDED);
      await t.get('/private', own.access_token).expect(200);
      await allow();
      expect(await erased).toBe(204);
      durations['a deletion of the account'] = [(performance.now() - start) / 1000];
      stop();
      const remaining = `SELECT count(*)::int AS n FROM svc_sessions
      WHERE user_id = '' AND ip IS NULL AND amr = '{}' AND salt = '' AND revoked_at IS NOT NULL`;
      expect(await t.database.query(remaining)).toEqual([{ n: all }]);
      expect(await t.database.query('SELECT count(*)::int AS n FROM svc_sessions')).toEqual([{ n: all }]);
      expect(new Set(ended.map(({ familyId }) => familyId)).size).toBe(all);
      expect(ended).toHaveLength(all);
      expect(new Set(ended.map((event) => event.reason))).toEqual(new Set(['erased']));
      // The index still contains the entries of all pages before.
      const pages = statements.filter(({ text }) => /page AS MATERIALIZED[^]*user_id = ''/.test(text));
      const late = pages[Math.floor(SESSIONS / 500) - 1]!;
      expect(await shareOfIndexRead(t.databaseUrl, late, 'svc_sessions_ended')).toBeLessThan(0.25);
    },
    RACES_MS,
  );

  afterAll(() => process.env.TEST_SESSIONS && console.log(SESSIONS, 'sessions, durations in seconds:', durations));
});
