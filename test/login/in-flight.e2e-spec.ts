import { type AuthModuleOptions, PasswordHasher, UserProvider, bcryptVerifier } from '@svc/auth';
import { hash as bcrypt } from 'bcryptjs';
import type { TestApp } from '../support/hosts/app';
import { PausePoint, whilePaused } from '../support/faults/pause-point';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { type Mailbox, member, membersForFile, startMembers } from '../support/hosts/members';
import { tablesContaining } from '../support/views/find-texts';
import { PASSWORD } from '../support/hosts/user-entities';

const NEXT = 'another horse entirely';

const chosen = { password: NEXT, password_confirmation: NEXT };
const checkpoint = PausePoint.disabled();
const pausedClaims = async (): Promise<object> => checkpoint.pass().then(() => ({}));

const liveSessions = (t: TestApp) => t.database.query('SELECT user_id FROM svc_sessions WHERE revoked_at IS NULL');

async function reset(t: TestApp, mailbox: Mailbox): Promise<void> {
  const before = mailbox.mails.length;
  await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
  const token = (await mailbox.linkAfter(before)).searchParams.get('token');
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

/** Pauses every call of one method before it runs. */
function stopAt(target: object, method: string, at: PausePoint): void {
  const methods = target as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const call = methods[method]!.bind(target);
  jest.spyOn(methods, method).mockImplementation(async (...args) => at.pass().then(() => call(...args)));
}

describe('a session that is about to start', () => {
  const { t, mailbox } = membersForFile({ hooks: { tokenClaims: pausedClaims } });
  let id: string;
  beforeEach(async () => (id = await member(t, ADA)));

  const remove = (): Promise<unknown> => t.database.query('DELETE FROM members');
  const ends: [string, (...host: [TestApp, Mailbox]) => Promise<unknown>][] = [
    ['was reset', reset],
    ['was changed from another session', change],
    ['was deleted with its account', erase],
    ['was deleted with its user by the host', remove],
  ];

  it.each(ends)(
    'does not start with a password that %s meanwhile, and the answer is that to a wrong password',
    async (_, end) => {
      const wrong = await t.login(ADA, 'wrong').expect(422);
      const late = await whilePaused(checkpoint, t.login(ADA), () => end(t, mailbox));
      expect([late.status, late.text]).toEqual([422, wrong.text]);
      // The session that changed the password remains.
      expect(await liveSessions(t)).toHaveLength(end === change ? 1 : 0);
      if (end === erase) expect(await tablesContaining(t, [id, ADA])).toEqual([]);
    },
  );

  it.each(ends)('is not returned if its password %s after it was stored', async (_, end) => {
    // The check runs for the stored session before the response.
    const stored = PausePoint.disabled();
    stopAt(t.app.get(UserProvider), 'passwordHashOf', stored);
    const late = await whilePaused(stored, t.login(ADA), async () => {
      expect(await liveSessions(t)).toHaveLength(1);
      await end(t, mailbox);
    });
    expect(late.status).toBe(422);
    expect(await liveSessions(t)).toHaveLength(end === change ? 1 : 0);
    if (end === erase) expect(await tablesContaining(t, [id, ADA])).toEqual([]);
  });

  it('does not start from server code for a deleted or unknown user', async () => {
    await expect(t.auth.startSession('3f0c1c1e-6f5b-4a53-9a86-0a3f6f0f4f11')).rejects.toMatchObject({ status: 401 });
    await expect(whilePaused(checkpoint, t.auth.startSession(id), remove)).rejects.toMatchObject({ status: 401 });
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
  });

  it('is answered 503 after one timeout and leaves no row, if the stored password cannot be read', async () => {
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
    ({ t, mailbox } = await startMembers({ hooks: { tokenClaims: pausedClaims }, ...options }));
    id = await member(t, ADA);
  }
  afterEach(() => t.stop());

  it('during the deletion of its account is deleted with it', async () => {
    await start({
      hooks: {
        deleteUser: async (_, { manager }) => {
          // The transaction has removed the sessions, but is not committed yet.
          await t.login(ADA).expect(200);
          await manager.query('DELETE FROM members');
        },
      },
    });
    await erase(t);
    expect(await tablesContaining(t, [id, ADA])).toEqual([]);
  });

  it('does not start with a former password, even if a reset ends no sessions', async () => {
    await start({ passwordReset: { revokeSessions: false } });
    const before = await t.session();
    expect((await whilePaused(checkpoint, t.login(ADA), () => reset(t, mailbox))).status).toBe(422);
    await t.get('/private', before.access_token).expect(200);
  });

  it('is checked after the callback for abilities, too', async () => {
    await start({ hooks: { abilities: async () => checkpoint.pass().then(() => []) } });
    expect((await whilePaused(checkpoint, t.login(ADA), () => reset(t, mailbox))).status).toBe(422);
    expect(await liveSessions(t)).toEqual([]);
  });

  it('does not start by a custom login if the password is replaced during or after the host`s check', async () => {
    const door = PausePoint.disabled();
    await start({
      hooks: { tokenClaims: pausedClaims, authenticate: async () => door.pass().then(() => ({ id })) },
    });
    expect((await whilePaused(door, t.login(ADA), () => reset(t, mailbox))).status).toBe(422);
    t.clock.advance(61);
    expect((await whilePaused(checkpoint, t.login(ADA), () => reset(t, mailbox))).status).toBe(422);
    t.clock.advance(61);
    expect((await whilePaused(checkpoint, t.login('unknown'), () => reset(t, mailbox))).status).toBe(422);
    expect(await liveSessions(t)).toEqual([]);
    await t.login(ADA).expect(200);
  });

  it('starts by a custom login for a user without a password', async () => {
    await start({ hooks: { authenticate: async () => ({ id }) } });
    await t.database.query('UPDATE members SET password_hash = NULL');
    await t.login(ADA).expect(200);
    await t.database.query('DELETE FROM members');
    await t.login(ADA).expect(422);
    expect(await liveSessions(t)).toHaveLength(1);
  });

  it('does not start by a registration if the account is deleted or its password replaced meanwhile', async () => {
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
    expect(await liveSessions(t)).toEqual([]);
  });
});

describe('a session that is about to start with a password whose hash is renewed', () => {
  const verifiers = [bcryptVerifier({ rounds: 4 })];
  const hashing = { memoryCost: 64, timeCost: 1, verifiers };
  const { t, mailbox } = membersForFile({ hashing, hooks: { tokenClaims: pausedClaims } });
  beforeEach(async () => void (await member(t, ADA, { passwordHash: await bcrypt(PASSWORD, 4) })));

  it('starts: of fifty concurrent first logins, one stores its hash', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => t.login(ADA)));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    for (const { body } of answers) await t.get('/private', body.access_token).expect(200);
    const [{ password_hash }] = await t.database.query('SELECT password_hash FROM members');
    expect(password_hash).toMatch(/^72-bytes:\$argon2id\$/);
  });

  it('starts if its own renewal failed and another login renewed the hash meanwhile', async () => {
    jest.spyOn(t.app.get(UserProvider), 'savePasswordHash').mockRejectedValueOnce(new Error('not now'));
    const answer = await whilePaused(checkpoint, t.login(ADA), () => t.login(ADA).expect(200));
    expect(answer.status).toBe(200);
  });

  it('starts if the provider does not report whether a hash was stored', async () => {
    const users = t.app.get(UserProvider);
    const save = users.savePasswordHash.bind(users);
    jest.spyOn(users, 'savePasswordHash').mockImplementation(async (...args) => void (await save(...args)));
    const answers = await Promise.all(Array.from({ length: 10 }, () => t.login(ADA)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
  });

  it('does not start if the password was replaced before the renewal', async () => {
    const renewal = PausePoint.disabled();
    stopAt(t.app.get(PasswordHasher), 'hash', renewal);
    expect((await whilePaused(renewal, t.login(ADA), () => reset(t, mailbox))).status).toBe(422);
    expect(await liveSessions(t)).toEqual([]);
    await t.login(ADA, NEXT).expect(200);
  });
});
