import { randomBytes } from 'node:crypto';
import { Realms, pg } from '../../../kit';
import { AuditLine } from './audit.entity';
import { type HistoryLine, type HistoryPage } from './audit.store';
import { AuditTrail, actingAs } from './audit-trail';
import { Pruning } from '@svc/auth';
import {
  asConfirmed,
  codeOf,
  completeChallenge,
  enrolledForFile,
  startChallenge,
} from '../../../../../../test/support/flows/two-factor';
import { confirmationTokenOf } from '../../../../../../test/support/flows/step-up';
import { ADA, PASSWORD } from '../../../../../../test/support/hosts/user-entities';
import { TestApp, claimsOf } from '../../../../../../test/support/hosts/app';
import { whileStatementsFail } from '../../../../../../test/support/faults/failing-statements';
import { eventually } from '../../../../../../test/support/runtime/eventually';

const AGENT = 'Mozilla/5.0 (a test)';
const NEW = 'another horse entirely';
const BOB = 'bob@example.com';

/** The service of a guard. */
const trailOf = (t: TestApp, guard = 'api'): AuditTrail => t.app.get(Realms).get(guard).get(AuditTrail);

const historyAt = async (t: TestApp, token: string, query = '', guard = 'api'): Promise<HistoryPage> =>
  (await t.get(`${t.paths[guard]}/history${query}`, token).expect(200)).body;

/** The history of the owner of a token, the oldest line first, when what is written in the background is stored. */
async function historyOf(t: TestApp, token: string, guard = 'api'): Promise<HistoryLine[]> {
  await t.auth.settled();
  return (await historyAt(t, token, '?limit=100', guard)).data.toReversed();
}

/** The operations of lines, each with its reason. */
const told = (lines: readonly HistoryLine[]): string[] =>
  lines.map(({ operation, reason }) => operation.slice('auth.'.length) + (reason ? `: ${reason}` : ''));

const stored = (t: TestApp, table = 'svc_audit', what = '*') =>
  t.database.query(`SELECT ${what} FROM ${table}`) as Promise<Record<string, string>[]>;

describe('the history of an account', () => {
  const { t, ada } = enrolledForFile({ features: { audit: true, abilities: true } });
  // The lines of the enrolment are written in the background.
  beforeEach(() => t.auth.settled());

  it('has sign-ins, factors, the change of the password and the ends of sessions, with the client', async () => {
    const challenge_token = await startChallenge(t);
    const { body: tokens } = await completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) })
      .set('User-Agent', AGENT)
      .expect(200);
    const { access_token: token } = tokens;
    const change = { current_password: PASSWORD, password: NEW, password_confirmation: NEW };
    const proof = await confirmationTokenOf(t, token);
    await asConfirmed(t, 'post', '/auth/password', token, proof).send(change).expect(200);
    const again = (await t.call('post', '/auth/confirm-password', token).send({ password: NEW }).expect(200)).body;
    await asConfirmed(t, 'delete', '/auth/two-factor', token, again.confirmation_token).expect(204);
    const lines = await historyOf(t, token);
    // The order of lines that are written in the background depends on the round trip to the clock of the database.
    expect(told(lines).toSorted()).toEqual([
      'confirm_password.succeeded',
      'confirm_password.succeeded',
      'confirm_password.succeeded',
      'login.challenged',
      'password_change.succeeded',
      'session.ended: password_change',
      'session.started',
      'session.started',
      'two_factor.disabled',
      'two_factor.enabled',
      'two_factor_enrol.succeeded',
    ]);
    // Also of events, which the user has caused in a request.
    const disabled = lines.find(({ operation }) => operation === 'auth.two_factor.disabled');
    expect(disabled).toMatchObject({ actor: 'user', ip: '127.0.0.1' });
    const { fid } = claimsOf(token);
    const started = { operation: 'auth.session.started', outcome: 'succeeded', reason: null, actor: 'user' };
    const start = lines.find((line) => line.operation === 'auth.session.started' && line.session === fid)!;
    const { id, at } = start;
    const client = { ip: '127.0.0.1', user_agent: AGENT };
    expect(start).toEqual({ ...started, ...client, id, at, session: fid });
    const end = lines.find(({ operation }) => operation === 'auth.session.ended');
    expect(end).toMatchObject({ actor: 'user', session: claimsOf(ada.token).fid, ip: null });
    expect(Math.abs(t.clock.now() - Date.parse(at))).toBeLessThan(300_000);
    expect(lines.map((line) => line.id)).toEqual(lines.map((line) => line.id).toSorted());

    await t.call('post', '/auth/logout', token).expect(204);
    await t.auth.settled();
    const after = await trailOf(t).page('1', { limit: 2 });
    expect(told(after.data).toSorted()).toEqual(['logout.succeeded', 'session.ended: logout']);
  });

  it('has the refused sign-ins of its user, and none of an unknown one', async () => {
    await t.login(ADA, 'wrong').set('User-Agent', AGENT).expect(422);
    await t.login('nobody@example.com', 'wrong').expect(422);
    const refused = (await historyOf(t, ada.token)).find(({ operation }) => operation === 'auth.login.failed');
    expect(refused).toMatchObject({ outcome: 'failed', reason: 'wrong_password' });
    expect(refused).toMatchObject({ actor: 'user', session: null, ip: '127.0.0.1', user_agent: AGENT });
    expect(new Set((await stored(t)).map(({ user_id: id }) => id))).toEqual(new Set(['1']));
  });

  it('says that an operator ended a session; who it was, and why, operators alone see', async () => {
    const operator = { kind: 'operator', guard: 'admin', id: '7' } as const;
    const text = 'asked by phone';
    await actingAs(operator, async () => {
      await t.auth.revoke(String(claimsOf(ada.token).fid));
      await t.app.get(pg.Database).transaction((sql) =>
        trailOf(t).record(sql, {
          userId: '1',
          operation: 'auth.account.locked',
          actor: operator,
          text,
          ip: '192.0.2.1',
        }),
      );
    });
    const { access_token: token } = await t.auth
      .startSession('1')
      .then(({ accessToken }) => ({ access_token: accessToken }));
    const [started, recorded, ended] = (await historyAt(t, token)).data;
    expect(ended).toMatchObject({ operation: 'auth.session.ended', reason: 'revoked', actor: 'operator' });
    expect(recorded).toMatchObject({ operation: 'auth.account.locked', actor: 'operator', ip: '192.0.2.1' });
    expect(started).toMatchObject({ operation: 'auth.session.started', actor: 'host', ip: null });
    expect(Object.keys(recorded!)).not.toEqual(expect.arrayContaining(['text']));
    const { data } = await trailOf(t).page('1', { limit: 3 });
    expect(data[1]).toMatchObject({ text, actor_guard: 'admin', actor_id: '7' });
    expect(data[2]).toMatchObject({ text: null, actor_guard: 'admin', actor_id: '7' });
  });

  it('has no line of a transaction that the host rolls back', async () => {
    const before = await stored(t);
    const undone = new Error('undone');
    const work = t.database.transaction(async (manager) => {
      await t.auth.within(manager, async () => {
        await t.auth.startSession('1', {}, undefined);
        await t.auth.revokeAll('1');
      });
      throw undone;
    });
    await expect(work).rejects.toBe(undone);
    await t.auth.settled();
    expect(await stored(t)).toEqual(before);
    await t.auth.transaction(() => t.auth.startSession('1'));
    expect(await stored(t)).toHaveLength(before.length + 1);
  });

  it('is the condition of the start and of the end of a session, and these are its condition', async () => {
    // A row without a user only records that there is no such session.
    const sessions = () => stored(t, "svc_sessions WHERE user_id <> ''", 'id, revoked_at');
    const before = [await sessions(), await stored(t)];
    await whileStatementsFail(t, 'INSERT ON svc_audit', async () => {
      await expect(t.auth.startSession('1')).rejects.toMatchObject({ status: 503 });
      await t.call('post', '/auth/logout', ada.token).expect(503);
    });
    await whileStatementsFail(t, 'INSERT OR UPDATE ON svc_sessions', async () => {
      await expect(t.auth.startSession('1')).rejects.toMatchObject({ status: 503 });
      await t.call('post', '/auth/logout', ada.token).expect(503);
    });
    await t.auth.settled();
    const lines = (await stored(t)).filter(({ operation }) => operation!.startsWith('auth.session.'));
    expect([await sessions(), lines]).toEqual([
      before[0],
      before[1]!.filter(({ operation }) => operation!.startsWith('auth.session.')),
    ]);
    await t.get('/auth/history', ada.token).expect(200);
  });

  it('delays no request whose line cannot be written, and has the line later', async () => {
    await t.auth.settled();
    const count = (await stored(t)).length;
    await whileStatementsFail(t, 'INSERT ON svc_audit', () => t.login(ADA, 'wrong').expect(422));
    await eventually(async () => (await stored(t)).length === count + 1);
  });

  it('is in the export of the account, and readable for a pinned session with svc.account alone', async () => {
    await t.auth.settled();
    const { body } = await t.get('/auth/account/export', ada.token).set('X-Svc-Confirmation', ada.proof).expect(200);
    const lines = await historyOf(t, ada.token);
    const isOfExport = ({ operation }: HistoryLine): boolean => operation === 'auth.account_export.succeeded';
    expect(body.audit.toReversed()).toEqual(lines.filter((line) => !isOfExport(line)));
    expect(lines.filter(isOfExport)).toHaveLength(1);
    const pinned = async (...names: string[]) => (await t.auth.startSession('1', {}, names)).accessToken;
    await t.get('/auth/history', await pinned('orders.read')).expect(403);
    await t.get('/auth/history', await pinned('svc.account')).expect(200);
    await t.http.get('/auth/history').expect(401);
  });
});

describe('a page of a history', () => {
  const t = TestApp.forFile({ options: { features: { audit: true } } });
  let token: string;
  beforeEach(async () => {
    await t.person(ADA);
    await t.person(BOB);
    token = (await t.session()).access_token;
  });
  const add = (count: number, userId = '1') =>
    t.app.get(pg.Database).transaction(async (sql) => {
      for (let n = 0; n < count; n++)
        await trailOf(t).record(sql, { userId, operation: 'auth.account.locked', actor: { kind: 'system' } });
    });

  it('leads to the next one: no line is shown twice and none is left out while others are written', async () => {
    await add(24);
    await add(3, '2');
    const all = (await historyAt(t, token, '?limit=100')).data.map(({ id }) => id);
    expect(all).toHaveLength(25);
    const walked: string[] = [];
    let pages = 0;
    for (let before: string | null = ''; before !== null; pages++) {
      const { data, next } = await historyAt(t, token, `?limit=7${before && `&before=${before}`}`);
      walked.push(...data.map(({ id }) => id));
      await Promise.all([add(2), add(2, '2')]);
      before = next;
    }
    expect(walked).toEqual(all);
    expect(pages).toBe(4);
  });

  it.each([
    'before=',
    'before=1',
    'before=\0',
    `before=${'f'.repeat(5000)}`,
    'before=0195a1f0-0000-7000-8000-00000000000g',
    'before=ffffffff-ffff-ffff-ffff-ffffffffffff&before=ffffffff-ffff-ffff-ffff-ffffffffffff',
    "before=' OR 1=1 --",
    'limit=0',
    'limit=101',
    'limit=-1',
    'limit=1.5',
    'limit=ten',
    'limit=',
  ])('refuses a query that names no place: %j', async (query) => {
    const { body } = await t.get(`/auth/history?${encodeURI(query)}`, token).expect(422);
    expect(Object.keys(body.errors)).toEqual([query.split('=', 1)[0]]);
  });

  it('is the same for a server call', async () => {
    const client = { headers: { authorization: `Bearer ${token}` } };
    await add(1);
    const page = await t.auth.history.list({ limit: 1 }, client);
    expect(page).toEqual(await historyAt(t, token, '?limit=1'));
    expect(await t.auth.history.list({ before: page.next }, client)).toMatchObject({ next: null });
    await expect(t.auth.history.list({ before: '1' }, client)).rejects.toMatchObject({ status: 422 });
  });

  it('reads one range of an index, whatever the size of the history', async () => {
    await t.database.query(
      `INSERT INTO svc_audit (id, at, guard, user_id, operation, outcome, actor_kind)
       SELECT md5(n::text)::uuid, now(), 'api', n % 50, 'auth.account.locked', 'succeeded', 'system' FROM generate_series(1, 20000) n`,
    );
    await t.database.query('ANALYZE svc_audit');
    const plan: Record<string, string>[] = await t.database.query(
      `EXPLAIN SELECT * FROM svc_audit WHERE guard = 'api' AND user_id = '1' AND id < 'ffffffff-ffff-ffff-ffff-ffffffffffff'
        ORDER BY id DESC LIMIT 51`,
    );
    expect(plan.map((line) => line['QUERY PLAN']!.trim())).toEqual([
      expect.stringMatching(/^Limit/),
      expect.stringMatching(/^->  Index Scan Backward using svc_audit_account/),
      expect.stringMatching(/^Index Cond: \(\(guard = 'api'::text\) AND \(user_id = '1'::text\) AND \(id < /),
    ]);
  });
});

describe('the history of a deleted account', () => {
  let meanwhile: () => Promise<unknown> = async () => undefined;
  // It is called when the start of a session is admitted, and before the session is stored.
  const tokenClaims = async () => {
    await meanwhile();
    return {};
  };
  const t = TestApp.forFile({ options: { features: { audit: true }, hooks: { tokenClaims } } });
  afterEach(() => (meanwhile = async () => undefined));

  it('has no key that a session has made which was starting during the deletion', async () => {
    const id = await t.person(ADA);
    const { access_token: token } = await t.session();
    const proof = await confirmationTokenOf(t, token);
    meanwhile = async () => {
      meanwhile = async () => undefined;
      await asConfirmed(t, 'delete', '/auth/account', token, proof).expect(204);
      await t.auth.settled();
      expect(await stored(t, 'svc_audit_keys')).toEqual([]);
    };
    await t.login(ADA).expect(422);
    await t.auth.settled();
    const lines = await t.database.getRepository(AuditLine).findBy({ userId: String(id) });
    expect(lines.map(({ reason }) => reason)).toContain('discarded');
    expect(await stored(t, 'svc_audit_keys')).toEqual([]);
  });

  it('makes one key for an account when many sessions start at once', async () => {
    const id = await t.person(ADA);
    await Promise.all(
      Array.from({ length: 8 }, () => t.http.post('/auth/login').send({ email: ADA, password: PASSWORD })),
    );
    const { data } = await trailOf(t).page(String(id));
    expect(data.map(({ ip }) => ip)).toEqual(Array.from({ length: 8 }, () => '127.0.0.1'));
  });

  it('keeps its lines, whose personal fields nobody can read any more; those of others stay readable', async () => {
    await t.person(ADA);
    await t.person(BOB);
    for (const email of [ADA, BOB])
      await t.http.post('/auth/login').set('User-Agent', AGENT).send({ email, password: PASSWORD }).expect(200);
    await t.login(ADA, 'wrong').expect(422);
    const { access_token: token } = await t.session();
    await t.auth.settled();
    const page = async (id: string) => (await trailOf(t).page(id)).data;
    const readable = (await page('1')).filter(({ ip }) => ip !== null);
    expect(readable.length).toBeGreaterThanOrEqual(3);
    const text = JSON.stringify([await stored(t), await stored(t, 'svc_audit_keys')]);
    expect(text).not.toMatch(/127\.0\.0\.1|Mozilla/);

    const proof = await confirmationTokenOf(t, token);
    await asConfirmed(t, 'delete', '/auth/account', token, proof).expect(204);
    await t.login(ADA, 'wrong').expect(422);
    await t.auth.settled();
    expect((await stored(t, 'svc_audit_keys')).map(({ user_id: id }) => id)).toEqual(['2']);
    const after = await page('1');
    expect(told(after)).toContain('account.deleted');
    expect(told(after).filter((line) => line === 'session.ended: erased')).toHaveLength(2);
    for (const line of after) expect(line).toMatchObject({ ip: null, user_agent: null });
    expect((await page('2'))[0]).toMatchObject({ ip: '127.0.0.1', user_agent: AGENT });
  });

  it('has a text that is readable in its own line only', async () => {
    await t.person(ADA);
    const { access_token: token } = await t.session();
    await t.session();
    await t.database.query('UPDATE svc_audit a SET personal = b.personal FROM svc_audit b WHERE b.id > a.id');
    expect((await historyAt(t, token)).data.map(({ ip }) => ip)).toEqual(['127.0.0.1', null]);
  });
});

describe('the lines of sessions', () => {
  let answers: boolean[] = [];
  const options = {
    features: { audit: true },
    sessions: { maxPerUser: 2 },
    hooks: { canSignIn: () => answers.shift() ?? true },
  };
  const t = TestApp.forFile({ options });
  const other = TestApp.forFile(() => ({ databaseUrl: t.databaseUrl, options: { features: { audit: true } } }));

  /** For each session, why it ended. */
  const ends = async (): Promise<Record<string, string | null>> => {
    const lines = await t.database.getRepository(AuditLine).find({ order: { id: 'ASC' } });
    const of = new Map<string, (string | null)[]>();
    for (const { operation, sessionId, reason } of lines)
      if (operation.startsWith('auth.session.')) of.set(sessionId!, [...(of.get(sessionId!) ?? []), reason]);
    for (const reasons of of.values()) expect(reasons.length).toBeLessThanOrEqual(2);
    return Object.fromEntries([...of].map(([id, [start, end]]) => [id, start === null ? (end ?? null) : 'no start']));
  };

  it('are those of all nodes: each row has one start and, once it is over, one end', async () => {
    const id = await t.person(ADA);
    const start = async (node: TestApp) => String(claimsOf((await node.auth.startSession(id)).accessToken).fid);
    const [capped, revoked] = [await start(t), await start(other)];
    const out = claimsOf((await t.session()).access_token).fid as string;
    expect(await ends()).toEqual({ [capped]: 'cap', [revoked]: null, [out]: null });
    await other.auth.revoke(revoked);
    await Promise.all([t.auth.revoke(revoked), other.auth.revokeAll(id), t.auth.revokeAll(id)]);
    expect(await ends()).toEqual({ [capped]: 'cap', [revoked]: 'revoked', [out]: 'revoked' });
  });

  it('say that a copy of a refresh token was used, which ended the session', async () => {
    await t.person(ADA);
    const { refresh_token: first } = await t.session();
    await t.refresh(first).expect(200);
    t.clock.advance(600);
    await t.refresh(first).expect(401);
    await t.calm();
    const [refusal, ...lines] = await t.database.getRepository(AuditLine).find({ order: { id: 'DESC' }, take: 3 });
    expect(told([refusal] as never[])).toEqual(['refresh.failed: reused_token']);
    expect(told(lines as never[]).toSorted()).toEqual(['refresh_token.reused', 'session.ended: reuse']);
    expect(new Set(lines.map(({ sessionId }) => sessionId)).size).toBe(1);
  });

  it('say that a session was discarded, whose tokens were sent to nobody', async () => {
    const id = await t.person(ADA);
    answers = [true, false];
    await expect(t.auth.startSession(id)).rejects.toThrow();
    expect(await stored(t, 'svc_sessions')).toEqual([]);
    expect(Object.values(await ends())).toEqual(['discarded']);
    answers = [];
  });

  it('tell of a session that the pruning finds expired, and are pruned themselves, in batches', async () => {
    await t.person(ADA);
    await t.session();
    t.clock.advance(31 * 86_400);
    expect(await t.app.get(Pruning).run()).toMatchObject({ sessions: 1, audit: 0 });
    expect(Object.values(await ends())).toEqual(['expired']);
    const values = Array.from({ length: 600 }, () => `('0000${randomBytes(14).toString('hex')}')`).join();
    await t.database.query(
      `INSERT INTO svc_audit (id, at, guard, user_id, operation, outcome, actor_kind)
       SELECT id::uuid, now(), 'gone', '1', 'auth.account.locked', 'succeeded', 'system' FROM (VALUES ${values}) v (id)`,
    );
    expect(await t.app.get(Pruning).run()).toMatchObject({ audit: 600 });
    t.clock.advance(365 * 86_400);
    expect(await t.app.get(Pruning).run()).toMatchObject({ audit: 2 });
    expect(await stored(t)).toEqual([]);
  });
});

describe('a host without histories', () => {
  const t = TestApp.forFile();

  it('needs no table of them', async () => {
    await t.person(ADA);
    await t.database.query('ALTER TABLE svc_audit RENAME TO a; ALTER TABLE svc_audit_keys RENAME TO k');
    const { access_token: token } = await t.session();
    await t.login(ADA, 'wrong').expect(422);
    await t.get('/auth/history', token).expect(404);
    const proof = await confirmationTokenOf(t, token);
    const { body } = await t.get('/auth/account/export', token).set('X-Svc-Confirmation', proof).expect(200);
    expect(body).not.toHaveProperty('audit');
    expect(await t.app.get(Pruning).run()).toMatchObject({ audit: 0 });
    await asConfirmed(t, 'delete', '/auth/account', token, proof).expect(204);
    await t.database.query('ALTER TABLE a RENAME TO svc_audit; ALTER TABLE k RENAME TO svc_audit_keys');
  });
});
