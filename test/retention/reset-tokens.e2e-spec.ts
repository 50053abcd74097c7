import { Pruning } from '@svc/auth';
import { createHash } from 'node:crypto';
import { TestApp } from '../support/hosts/app';
import { ADA } from '../support/flows/step-up';
import { linkIn, member, membersForFile, startMembers } from '../support/hosts/members';
import { Member } from '../support/hosts/user-entities';

/** The time in seconds during which an access token may be accepted, with leeway and the margin for clocks. */
const LIFE = 900 + 5 + 60;
const prune = (t: TestApp, days?: number) => t.app.get(Pruning).run(days);
const countOf = async (t: TestApp, table: string): Promise<number> =>
  (await t.database.query(`SELECT count(*)::int AS n FROM ${table}`))[0].n;

const NEXT = 'another horse entirely';

describe('a sweep of reset tokens', () => {
  const { t, mailbox } = membersForFile();

  const swept = async (app = t): Promise<number> => (await prune(app)).resetTokens;
  const left = (): Promise<number> => countOf(t, 'svc_password_resets');
  /** Stores tokens of users 1 to `count`; token n was created n × `age` seconds ago. */
  const store = (count: number, age: number, guard = 'api', broker = ''): Promise<unknown> =>
    t.database.query(
      `INSERT INTO svc_password_resets
       SELECT $2, $3, n::text, 'x', 'x', now() - n * $4::float8 * interval '1 second' FROM generate_series(1, $1::int) n`,
      [count, guard, broker, age],
    );

  it('deletes a token only after it has expired', async () => {
    t.clock.stop();
    await member(t, ADA);
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const token = linkIn(await mailbox.nth(1)).searchParams.get('token');
    t.clock.advance(3590);
    expect([await swept(), await left()]).toEqual([0, 1]);
    t.clock.advance(11 + LIFE);
    expect([await swept(), await left()]).toEqual([1, 0]);
    const body = { token, email: ADA, password: NEXT, password_confirmation: NEXT };
    await t.http.post('/auth/reset-password').send(body).expect(422);
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    await mailbox.nth(2);
    expect([await swept(), await left()]).toEqual([0, 1]);
  });

  it('keeps a valid token', async () => {
    await member(t, ADA);
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const token = linkIn(await mailbox.nth(1)).searchParams.get('token');
    t.clock.advance(3500);
    expect(await swept()).toBe(0);
    const body = { token, email: ADA, password: NEXT, password_confirmation: NEXT };
    await t.http.post('/auth/reset-password').send(body).expect(200);
  });

  it('deletes any number of tokens, of every guard and broker and of deleted users', async () => {
    await store(2345, 0.01, 'api', 'young');
    await store(1200, 3600);
    await store(1500, 604_800, 'former', 'staff');
    await store(10, 3600, 'admin');
    expect(await swept()).toBe(1200 + 1500 + 10);
    expect(await left()).toBe(2345);
  });

  it('skips a token that is being used, and keeps one that is renewed meanwhile', async () => {
    const email = 'eve@example.com';
    const id = await member(t, email);
    await store(1, 4000);
    await t.database.query("INSERT INTO svc_password_resets VALUES ('api', '', $1, $2, 'x', now() - interval '2 h')", [
      id,
      createHash('sha256').update(email).digest('hex'),
    ]);
    const runner = t.database.createQueryRunner();
    await runner.startTransaction();
    await runner.query('UPDATE svc_password_resets SET created_at = now() WHERE user_id = $1', [id]);
    expect(await swept()).toBe(1);
    await runner.commitTransaction();
    await runner.release();
    expect([await swept(), await left()]).toEqual([0, 1]);
  });

  it('shares the work with a concurrent sweep', async () => {
    await store(3000, 3600);
    const both = await Promise.all([swept(), swept()]);
    expect([both[0]! + both[1]!, await left()]).toEqual([3000, 0]);
  });

  it('runs after the feature was disabled, and does not prevent other sweeps when its table is missing', async () => {
    await store(3, 3600);
    const off = await startMembers({ features: { passwordReset: false } }, { databaseUrl: t.databaseUrl });
    expect(await swept(off.t)).toBe(3);
    await t.database.query('ALTER TABLE svc_password_resets RENAME TO elsewhere');
    expect(await prune(off.t)).toMatchObject({ resetTokens: 0, sessions: 0 });
    await t.database.query('ALTER TABLE elsewhere RENAME TO svc_password_resets');
    await off.t.stop();
  });

  it('deletes the token of a mail whose account was erased while the mail was written', async () => {
    await member(t, ADA);
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    await mailbox.nth(1);
    await t.database.getRepository(Member).delete({ email: ADA });
    t.clock.advance(3601);
    expect(await swept()).toBe(1);
  });
});
