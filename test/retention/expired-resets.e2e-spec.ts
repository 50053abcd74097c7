import { Pruning } from '@svc/auth';
import { sha256 } from '../../libs/auth/src/kernel/secrets';
import { TestApp } from '../support/app';
import { ADA } from '../support/confirming';
import { type Mailbox, linkIn, member, startMembers } from '../support/members';
import { Member } from '../support/people';

const NEXT = 'another horse entirely';

describe('a sweep of reset tokens', () => {
  let t: TestApp;
  let mailbox: Mailbox;

  beforeEach(async () => ({ t, mailbox } = await startMembers()));
  afterEach(() => t.stop());

  const prune = async (app = t): Promise<number> => (await app.app.get(Pruning).run()).resetTokens;
  const left = async (): Promise<number> =>
    (await t.database.query('SELECT count(*)::int AS n FROM svc_password_resets'))[0].n;
  /** Tokens of users 1 to `count`, each made so many seconds before the one before it. */
  const store = (count: number, age: number, guard = 'api', broker = ''): Promise<unknown> =>
    t.database.query(
      `INSERT INTO svc_password_resets
       SELECT $2, $3, n::text, 'x', 'x', now() - n * $4::float8 * interval '1 second' FROM generate_series(1, $1::int) n`,
      [count, guard, broker, age],
    );

  it('deletes one as soon as it can be used no more, and no sooner', async () => {
    await member(t, ADA);
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const token = linkIn(await mailbox.nth(1)).searchParams.get('token');
    t.clock.stop();
    t.clock.advance(3590);
    expect([await prune(), await left()]).toEqual([0, 1]);
    t.clock.advance(11);
    expect([await prune(), await left()]).toEqual([1, 0]);
    const body = { token, email: ADA, password: NEXT, password_confirmation: NEXT };
    await t.http.post('/auth/reset-password').send(body).expect(422);
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    await mailbox.nth(2);
    expect([await prune(), await left()]).toEqual([0, 1]);
  });

  it('leaves one that still works', async () => {
    await member(t, ADA);
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const token = linkIn(await mailbox.nth(1)).searchParams.get('token');
    t.clock.advance(3500);
    expect(await prune()).toBe(0);
    const body = { token, email: ADA, password: NEXT, password_confirmation: NEXT };
    await t.http.post('/auth/reset-password').send(body).expect(200);
  });

  it('deletes those of every guard and broker, of users who are gone, and past any number of rows', async () => {
    await store(2345, 0.01, 'api', 'young');
    await store(1200, 3600);
    await store(1500, 3600, 'former', 'staff');
    await store(10, 3600, 'admin');
    expect(await prune()).toBe(1200 + 1500 + 10);
    expect(await left()).toBe(2345);
  });

  it('waits for none that is being used, and lets none go that is made anew meanwhile', async () => {
    const email = 'eve@example.com';
    const id = await member(t, email);
    await store(1, 4000);
    await t.database.query("INSERT INTO svc_password_resets VALUES ('api', '', $1, $2, 'x', now() - interval '2 h')", [
      id,
      sha256(email),
    ]);
    const runner = t.database.createQueryRunner();
    await runner.startTransaction();
    await runner.query('UPDATE svc_password_resets SET created_at = now() WHERE user_id = $1', [id]);
    expect(await prune()).toBe(1);
    await runner.commitTransaction();
    await runner.release();
    expect([await prune(), await left()]).toEqual([0, 1]);
  });

  it('shares the work with another sweep', async () => {
    await store(3000, 3600);
    const both = await Promise.all([prune(), prune()]);
    expect([both[0]! + both[1]!, await left()]).toEqual([3000, 0]);
  });

  it('goes on after the feature was switched off, and is no obstacle where its table is missing', async () => {
    await store(3, 3600);
    const off = await startMembers({ features: { passwordReset: false } }, { databaseUrl: t.databaseUrl });
    expect(await prune(off.t)).toBe(3);
    await t.database.query('DROP TABLE svc_password_resets');
    expect(await off.t.app.get(Pruning).run()).toMatchObject({ resetTokens: 0, sessions: 0 });
    await off.t.stop();
  });

  it('takes away what a mail left behind whose account was erased while it was written', async () => {
    await member(t, ADA);
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    await mailbox.nth(1);
    await t.database.getRepository(Member).delete({ email: ADA });
    t.clock.advance(3601);
    expect(await prune()).toBe(1);
  });
});
