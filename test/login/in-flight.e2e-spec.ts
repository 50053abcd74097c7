import { type AuthModuleOptions, PasswordHasher, UserProvider, bcryptVerifier } from '@svc/auth';
import { hash as bcrypt } from 'bcryptjs';
import type { TestApp } from '../support/app';
import { PausePoint, whilePaused } from '../support/pause-point';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from '../support/step-up';
import { type Mailbox, linkIn, member, membersForFile, startMembers } from '../support/members';
import { tablesContaining } from '../support/find-texts';
import { PASSWORD } from '../support/user-entities';

const NEXT = 'another horse entirely';

const chosen = { password: NEXT, password_confirmation: NEXT };
const checkpoint = PausePoint.disabled();
const held = async (): Promise<object> => checkpoint.pass().then(() => ({}));

const living = (t: TestApp) => t.database.query('SELECT user_id FROM svc_sessions WHERE revoked_at IS NULL');

async function reset(t: TestApp, mailbox: Mailbox): Promise<void> {
  const before = mailbox.mails.length;
  await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
  const token = linkIn(await mailbox.nth(before + 1)).searchParams.get('token');
  await t.http
    .post('/auth/reset-password')
    .send({ token, email: ADA, ...chosen })
    .expect(200);
}

async function change(t: TestApp): Promise<void> {
  const { access_token } = await t.session();
  const body = { current_password: PASSWORD, ...chosen };
  await t.call('post', '/auth/password', access_token).send(body).expect(200);
}

async function erase(t: TestApp): Promise<void> {
  const { access_token } = await t.session();
  await t
    .call('delete', '/auth/account', access_token)
    .set(CONFIRMATION_HEADER, await confirmationTokenOf(t, access_token))
    .expect(204);
}

/** Stops every call of one method at a checkpoint before it is made. */
function stopAt(target: object, method: string, at: PausePoint): void {
  const methods = target as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const call = methods[method]!.bind(target);
  jest.spyOn(methods, method).mockImplementation(async (...args) => at.pass().then(() => call(...args)));
}

describe('a session that is about to start', () => {
  const { t, mailbox } = membersForFile({ hooks: { tokenClaims: held } });
  let id: string;
  beforeEach(async () => (id = await member(t, ADA)));

  const remove = (): Promise<unknown> => t.database.query('DELETE FROM members');
  const ends: [string, (...host: [TestApp, Mailbox]) => Promise<unknown>][] = [
    ['is reset', reset],
    ['is changed from another session', change],
    ['is erased with its account', erase],
    ['is deleted with its user by the host', remove],
  ];

  it.each(ends)('by a password that %s meanwhile does not, and the answer is that to a wrong one', async (_, end) => {
    const wrong = await t.login(ADA, 'wrong').expect(422);
    const late = await whilePaused(checkpoint, t.login(ADA), () => end(t, mailbox));
    expect([late.status, late.text]).toEqual([422, wrong.text]);
    // The change leaves the session that made it.
    expect(await living(t)).toHaveLength(end === change ? 1 : 0);
    if (end === erase) expect(await tablesContaining(t, [id, ADA])).toEqual([]);
  });

  it.each(ends)('and is stored already when its password %s, goes out no more', async (_, end) => {
    // Asked of a session that is stored, before it goes out.
    const stored = PausePoint.disabled();
    stopAt(t.app.get(UserProvider), 'passwordHashOf', stored);
    const late = await whilePaused(stored, t.login(ADA), async () => {
      expect(await living(t)).toHaveLength(1);
      await end(t, mailbox);
    });
    expect(late.status).toBe(422);
    expect(await living(t)).toHaveLength(end === change ? 1 : 0);
    if (end === erase) expect(await tablesContaining(t, [id, ADA])).toEqual([]);
  });

  it('from server code does not for a user who is gone, nor for one who never was', async () => {
    await expect(t.auth.startSession('3f0c1c1e-6f5b-4a53-9a86-0a3f6f0f4f11')).rejects.toMatchObject({ status: 401 });
    await expect(whilePaused(checkpoint, t.auth.startSession(id), remove)).rejects.toMatchObject({ status: 401 });
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
  });

  it('is 503 after one time-out, and leaves no row, where nobody can say what is stored by then', async () => {
    const asked = jest.spyOn(t.app.get(UserProvider), 'passwordHashOf').mockReturnValue(new Promise(() => undefined));
    await t.login(ADA).expect(503);
    expect(asked).toHaveBeenCalledTimes(1);
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
    jest.restoreAllMocks();
    await t.login(ADA).expect(200);
  });
});

describe('a session that is about to start on a host with other options', () => {
  let t: TestApp;
  let mailbox: Mailbox;
  let id: string;

  async function start(options: Partial<AuthModuleOptions> = {}): Promise<void> {
    ({ t, mailbox } = await startMembers({ hooks: { tokenClaims: held }, ...options }));
    id = await member(t, ADA);
  }
  afterEach(() => t.stop());

  it('while its account is being erased is erased with it, though it was told before', async () => {
    await start({
      hooks: {
        deleteUser: async (_, { manager }) => {
          // The transaction has removed the sessions by now, and is not seen by anyone.
          await t.login(ADA).expect(200);
          await manager.query('DELETE FROM members');
        },
      },
    });
    await erase(t);
    expect(await tablesContaining(t, [id, ADA])).toEqual([]);
  });

  it('by a former password does not either where a reset leaves sessions alone', async () => {
    await start({ passwordReset: { revokeSessions: false } });
    const before = await t.session();
    expect((await whilePaused(checkpoint, t.login(ADA), () => reset(t, mailbox))).status).toBe(422);
    await t.get('/private', before.access_token).expect(200);
  });

  it('is held by the callback for abilities as well', async () => {
    await start({ hooks: { abilities: async () => checkpoint.pass().then(() => []) } });
    expect((await whilePaused(checkpoint, t.login(ADA), () => reset(t, mailbox))).status).toBe(422);
    expect(await living(t)).toEqual([]);
  });

  it('by a login of the host`s own does not when the password is replaced while the host decides, or after', async () => {
    const door = PausePoint.disabled();
    await start({
      hooks: { tokenClaims: held, authenticate: async () => door.pass().then(() => ({ id })) },
    });
    expect((await whilePaused(door, t.login(ADA), () => reset(t, mailbox))).status).toBe(422);
    t.clock.advance(61);
    expect((await whilePaused(checkpoint, t.login(ADA), () => reset(t, mailbox))).status).toBe(422);
    t.clock.advance(61);
    expect((await whilePaused(checkpoint, t.login('somebody'), () => reset(t, mailbox))).status).toBe(422);
    expect(await living(t)).toEqual([]);
    await t.login(ADA).expect(200);
  });

  it('by a login of the host`s own needs no password', async () => {
    await start({ hooks: { authenticate: async () => ({ id }) } });
    await t.database.query('UPDATE members SET password_hash = NULL');
    await t.login(ADA).expect(200);
    await t.database.query('DELETE FROM members');
    await t.login(ADA).expect(422);
    expect(await living(t)).toHaveLength(1);
  });

  it('by a registration is left out when the account is erased or its password replaced meanwhile', async () => {
    await start({ emailVerification: { blockUnverifiedLogin: false } });
    const form = { name: 'Eve', password: PASSWORD, password_confirmation: PASSWORD };
    for (const [email, end] of [
      ['eve@example.com', "DELETE FROM members WHERE name = 'Eve'"],
      ['mallory@example.com', "UPDATE members SET password_hash = 'x' WHERE name = 'Eve'"],
    ]) {
      const request = t.http.post('/auth/register').send({ ...form, email });
      const { status, body } = await whilePaused(checkpoint, request, () => t.database.query(end!));
      expect({ status, body }).toEqual({ status: 201, body: { registered: true, requires_verification: false } });
    }
    expect(await living(t)).toEqual([]);
  });
});

describe('a session that is about to start by a password whose hash is renewed', () => {
  const verifiers = [bcryptVerifier({ rounds: 4 })];
  const hashing = { memoryCost: 64, timeCost: 1, verifiers };
  const { t, mailbox } = membersForFile({ hashing, hooks: { tokenClaims: held } });
  beforeEach(async () => void (await member(t, ADA, { passwordHash: await bcrypt(PASSWORD, 4) })));

  it('goes out: fifty first logins at once, of which one stores its hash', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => t.login(ADA)));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    for (const { body } of answers) await t.get('/private', body.access_token).expect(200);
    const [{ password_hash }] = await t.database.query('SELECT password_hash FROM members');
    expect(password_hash).toMatch(/^\$argon2id\$/);
  });

  it('goes out though its own renewal failed and another login renewed meanwhile', async () => {
    jest.spyOn(t.app.get(UserProvider), 'savePasswordHash').mockRejectedValueOnce(new Error('not now'));
    const answer = await whilePaused(checkpoint, t.login(ADA), () => t.login(ADA).expect(200));
    expect(answer.status).toBe(200);
  });

  it('goes out where the users do not say whether a hash was stored', async () => {
    const users = t.app.get(UserProvider);
    const save = users.savePasswordHash.bind(users);
    jest.spyOn(users, 'savePasswordHash').mockImplementation(async (...args) => void (await save(...args)));
    const answers = await Promise.all(Array.from({ length: 10 }, () => t.login(ADA)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
  });

  it('does not when it is another password by the time it would be renewed', async () => {
    const renewal = PausePoint.disabled();
    stopAt(t.app.get(PasswordHasher), 'hash', renewal);
    expect((await whilePaused(renewal, t.login(ADA), () => reset(t, mailbox))).status).toBe(422);
    expect(await living(t)).toEqual([]);
    await t.login(ADA, NEXT).expect(200);
  });
});
