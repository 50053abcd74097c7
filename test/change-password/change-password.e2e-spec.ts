import {
  AccountReleased,
  type AuthModuleOptions,
  PasswordChanged,
  PasswordHasher,
  UserProvider,
  bcryptVerifier,
} from '@svc/auth';
import { hash as bcrypt } from 'bcryptjs';
import { randomUUID } from 'node:crypto';
import { TestApp } from '../support/hosts/app';
import { PausePoint, whilePaused } from '../support/faults/pause-point';
import { ADA, confirmPassword } from '../support/flows/step-up';
import { eventually } from '../support/runtime/eventually';
import { forge } from '../support/clients/forge';
import { linkIn, member, membersForFile } from '../support/hosts/members';
import { PASSWORD } from '../support/hosts/user-entities';
import { failStatements, failStatementsAfter, whileStatementsFail } from '../support/faults/failing-statements';

const NEXT = 'another horse entirely';
const WRONG = {
  message: 'The password is not correct.',
  errors: { current_password: ['The password is not correct.'] },
};

describe('POST /password', () => {
  const t = TestApp.forFile({ options: { features: { lockout: true }, lockout: { maxAttempts: 3 } } });
  let token: string;

  beforeEach(async () => {
    await t.person(ADA);
    token = (await t.session()).access_token;
  });

  const change = (body: object, as = token) => t.call('post', '/auth/password', as).send(body);
  const bodyOf = (password: unknown = NEXT, current: unknown = PASSWORD, confirmation: unknown = password) => ({
    current_password: current,
    password,
    password_confirmation: confirmation,
  });
  const counters = () => t.database.query('SELECT purpose, attempts FROM svc_lockouts ORDER BY purpose');

  it('replaces the password and forbids caching of the response', async () => {
    const { body, headers } = await change(bodyOf()).expect(200);
    expect(body).toEqual({ status: 'password-changed' });
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    await t.login(ADA, PASSWORD).expect(422);
    await t.login(ADA, NEXT).expect(200);
  });

  it('ends every other session of the user at once, and neither the calling session nor those of other users', async () => {
    const other = await t.session();
    await t.person('bob@example.com');
    const bob = await t.session('bob@example.com');
    await change(bodyOf()).expect(200);
    await t.get('/private', other.access_token).expect(401);
    await t.refresh(other.refresh_token).expect(401);
    await t.get('/private', bob.access_token).expect(200);
    await t.get('/private', token).expect(200);
  });

  it('ends all sessions if the token contains no session id', async () => {
    const other = await t.session();
    await change(bodyOf(), forge({ without: ['fid', 'jti'] })).expect(200);
    for (const one of [token, other.access_token]) await t.get('/private', one).expect(401);
  });

  it('changes nothing for a session that ends while the hashes wait', async () => {
    const hasher = t.app.get(PasswordHasher);
    const hash = hasher.hash.bind(hasher);
    jest.spyOn(hasher, 'hash').mockImplementationOnce(async (password) => {
      await t.auth.revokeAll('1');
      return hash(password);
    });
    const save = jest.spyOn(t.app.get(UserProvider), 'savePasswordHash');
    await change(bodyOf()).expect(401);
    expect(save).not.toHaveBeenCalled();
    await t.login(ADA, PASSWORD).expect(200);
  });

  it('restores the former password for a session that ends while the new one is stored', async () => {
    const changed = t.recorded(PasswordChanged);
    const users = t.app.get(UserProvider);
    const save = users.savePasswordHash.bind(users);
    jest.spyOn(users, 'savePasswordHash').mockImplementationOnce(async (...args) => {
      await t.auth.revokeAll('1');
      return save(...args);
    });
    await change(bodyOf()).expect(401);
    await t.login(ADA, NEXT).expect(422);
    await t.login(ADA, PASSWORD).expect(200);
    expect(changed).toEqual([]);
  });

  it('releases the locks of step-up and of the login, and emits an event', async () => {
    const released = t.recorded(AccountReleased);
    const changed = t.recorded(PasswordChanged);
    await t.login(ADA, 'wrong').expect(422);
    await confirmPassword(t, token, { password: 'wrong' }).expect(422);
    await change(bodyOf()).expect(200);
    expect(released.map(({ purpose, subject }) => `${purpose} ${subject}`).toSorted()).toEqual([
      'confirm 1',
      'login id:1',
    ]);
    expect(changed).toEqual([{ user: expect.objectContaining({ id: 1, email: ADA }), guard: 'api' }]);
    expect(JSON.stringify(changed)).not.toContain('argon2');
  });

  it('does not lock the account when changes with the right password fail because of a store', async () => {
    await t.session();
    await whileStatementsFail(t, 'UPDATE ON svc_sessions', async () => {
      for (let i = 0; i < 4; i++) expect((await change(bodyOf())).status).toBeGreaterThanOrEqual(500);
    });
    await change(bodyOf()).expect(200);
  });

  it('counts a wrong current password together with step-up failures, and locks', async () => {
    for (let i = 0; i < 2; i++) {
      const { body } = await change(bodyOf(NEXT, 'wrong')).expect(422);
      expect(body).toEqual({
        message: 'The password is not correct.',
        errors: { current_password: ['The password is not correct.'] },
      });
    }
    await confirmPassword(t, token, { password: 'wrong' }).expect(422);
    const verify = jest.spyOn(t.app.get(PasswordHasher), 'verify');
    const { body } = await change(bodyOf()).expect(423);
    expect(Object.keys(body.errors)).toEqual(['current_password']);
    expect(verify).not.toHaveBeenCalled();
    expect(await counters()).toEqual([{ purpose: 'confirm', attempts: 3 }]);
  });

  it.each<[string, object, string[]]>([
    ['nothing', {}, ['password', 'current_password']],
    ['no current password', bodyOf(NEXT, null), ['current_password']],
    ['an empty current password', bodyOf(NEXT, ''), ['current_password']],
    ['a list as the current password', bodyOf(NEXT, [PASSWORD]), ['current_password']],
    ['a current password of 256 characters', bodyOf(NEXT, 'x'.repeat(256)), ['current_password']],
    ['no new password', bodyOf(null), ['password']],
    ['an object as the new password', bodyOf({}, PASSWORD, NEXT), ['password']],
    ['a new password of 256 characters', bodyOf('x'.repeat(256)), ['password', 'password_confirmation']],
    ['a number as the confirmation', bodyOf(NEXT, PASSWORD, 7), ['password_confirmation']],
    ['no confirmation', bodyOf(NEXT, PASSWORD, null), ['password']],
    ['another confirmation', bodyOf(NEXT, PASSWORD, `${NEXT} `), ['password']],
    ['the same password again', bodyOf(PASSWORD), ['password']],
    ['seven characters', bodyOf('seven77'), ['password']],
    ['a NUL', bodyOf(`${NEXT}\0`), ['password']],
    ['a common password', bodyOf('password1'), ['password']],
    ['the user`s email', bodyOf(ADA), ['password']],
    ['the name of the service', bodyOf('api.example.com'), ['password']],
  ])('refuses %s with an error for the field, and counts nothing', async (_, body, fields) => {
    const { body: answer } = await change(body).expect(422);
    expect(Object.keys(answer.errors).toSorted()).toEqual(fields.toSorted());
    expect(answer.message).toMatch(/^\S.*\S/);
    expect(await counters()).toEqual([]);
  });

  it.each([
    ['a space at the end', `${NEXT} `],
    ['64 characters', 'abcdefgh '.repeat(8).slice(0, 63) + '!'],
    ['emoji', '🐎🔋📎✏️🐎🔋📎✏️'],
    ['73 bytes', `${'x'.repeat(72)}y`],
    ['255 characters', '🔑'.repeat(255)],
  ])('accepts %s and stores every character', async (_, password) => {
    await change(bodyOf(password)).expect(200);
    await t.login(ADA, password).expect(200);
    for (const near of [password.trim(), password.slice(0, -1), `${password.slice(0, -1)}z`]) {
      if (near !== password) await t.login(ADA, near).expect(422);
      await t.database.query('TRUNCATE svc_lockouts');
    }
  });

  it('requires a token, and does not exist at an extra guard', async () => {
    await t.http.post('/auth/password').send(bodyOf()).expect(401);
    await t.http.post('/admin/auth/password').send(bodyOf()).expect(404);
  });

  it('does not exist with features.changePassword off', async () => {
    const off = await TestApp.start({ options: { features: { changePassword: false } } });
    await off.http.post('/auth/password').send(bodyOf()).expect(404);
    await off.stop();
  });

  it('shares its rate limit with step-up', async () => {
    const app = await TestApp.start({ options: { keyPrefix: `${randomUUID()}:`, rateLimits: {} } });
    await app.person(ADA);
    const { access_token: own } = await app.session();
    for (let i = 0; i < 5; i++) {
      const call =
        i % 2 ? app.call('post', '/auth/password', own).send(bodyOf(NEXT, 'wrong')) : confirmPassword(app, own);
      await call.expect(i % 2 ? 422 : 200);
    }
    const { body } = await app.call('post', '/auth/password', own).send(bodyOf()).expect(429);
    expect(body).toEqual({ message: expect.stringMatching(/Too many attempts/) });
    await app.stop();
  });
});

/** A host with one member, who is signed in before each test. */
function hostForFile(options: Partial<AuthModuleOptions>) {
  const hashing = { memoryCost: 64, timeCost: 1, maxQueue: 1000, verifiers: [bcryptVerifier({ rounds: 4 })] };
  const { t, mailbox } = membersForFile({ hashing, ...options });
  let token: string;
  beforeEach(async () => {
    await member(t, ADA);
    token = (await t.session()).access_token;
  });
  const users = (): UserProvider => t.app.get(UserProvider);
  const change = (password = NEXT, current = PASSWORD) =>
    t
      .call('post', '/auth/password', token)
      .send({ current_password: current, password, password_confirmation: password });
  const reset = async (password: string): Promise<void> => {
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const link = linkIn(await mailbox.nth(1)).searchParams.get('token');
    const body = { token: link, email: ADA, password, password_confirmation: password };
    await t.http.post('/auth/reset-password').send(body).expect(200);
  };
  const own = () => t.get('/private', token);
  return { t, users, change, reset, own };
}

describe('a password change concurrent with other requests', () => {
  const checkpoint = PausePoint.disabled();
  // On a busy machine, none of these requests may time out with 503.
  const { t, users, change, reset } = hostForFile({ storeTimeoutMs: 20_000 });

  /** Between the verification of the current password and the storage of the new one. */
  const holdHashing = (): void => {
    const hasher = t.app.get(PasswordHasher);
    const hash = hasher.hash.bind(hasher);
    jest.spyOn(hasher, 'hash').mockImplementation(async (text) => checkpoint.pass().then(() => hash(text)));
  };
  const silently = (): void => {
    const save = users().savePasswordHash.bind(users());
    jest.spyOn(users(), 'savePasswordHash').mockImplementation(async (...args) => void (await save(...args)));
  };

  it.each([
    ['', () => undefined],
    [', even if the provider does not report whether it stored the hash', silently],
  ])('succeeds once, if many run at once from one password: the others are answered 422%s', async (_, prepare) => {
    prepare();
    const passwords = Array.from({ length: 25 }, (__, i) => `one of many horses ${i}`);
    const changed = t.recorded(PasswordChanged);
    const answers = await Promise.all(passwords.map((password) => change(password)));
    const [won, ...more] = passwords.filter((__, i) => answers[i]!.status === 200);
    expect(more).toEqual([]);
    const others = answers.filter(({ status }) => status !== 200);
    expect(others.map(({ status }) => status)).toEqual(Array(24).fill(422));
    for (const { body } of others) expect(body).toEqual(WRONG);
    expect(changed).toHaveLength(1);
    for (const password of [PASSWORD, ...passwords]) await t.login(ADA, password).expect(password === won ? 200 : 422);
  });

  it('does not undo a reset that completed meanwhile', async () => {
    holdHashing();
    const { status, body } = await whilePaused(checkpoint, change(), () => reset('the horse of its owner'));
    // The reset has ended the session.
    expect({ status, body }).toEqual({ status: 401, body: { message: 'Authentication is required.' } });
    await t.login(ADA, NEXT).expect(422);
    await t.login(ADA, 'the horse of its owner').expect(200);
  });

  it('succeeds if a login renewed the hash meanwhile', async () => {
    await t.database.query('UPDATE members SET password_hash = $1', [await bcrypt(PASSWORD, 4)]);
    holdHashing();
    const { status } = await whilePaused(checkpoint, change(), () => t.login(ADA).expect(200));
    expect(status).toBe(200);
    await t.login(ADA).expect(422);
    await t.login(ADA, NEXT).expect(200);
  });

  it('does not undo a reset when it fails and is rolled back', async () => {
    const save = users().savePasswordHash.bind(users());
    let allow = async (): Promise<unknown> => undefined;
    jest.spyOn(users(), 'savePasswordHash').mockImplementationOnce(async (...args) => {
      const stored = await save(...args);
      await reset('the horse of its owner');
      allow = await failStatements(t, 'UPDATE ON svc_sessions');
      return stored;
    });
    await change().expect(503);
    await allow();
    await t.login(ADA, 'the horse of its owner').expect(200);
  });
});

describe('a password change', () => {
  const { t, users, change, own } = hostForFile({ features: { lockout: true } });

  it.each([
    ['cannot be stored', 'UPDATE OF password_hash ON members'],
    ['cannot end the other sessions', 'UPDATE ON svc_sessions'],
    ['cannot release the locks', 'DELETE ON svc_lockouts'],
  ])('that %s is undone and answered 503, and succeeds when it is repeated', async (_, statements) => {
    const other = await t.session();
    const changed = t.recorded(PasswordChanged);
    await whileStatementsFail(t, statements, () => change().expect(503));
    expect(changed).toEqual([]);
    await t.login(ADA, NEXT).expect(422);
    await t.login(ADA, PASSWORD).expect(200);
    await change().expect(200);
    await t.login(ADA, PASSWORD).expect(422);
    await t.login(ADA, NEXT).expect(200);
    await t.get('/private', other.access_token).expect(401);
    await own().expect(200);
  });

  it('with an unknown result of the storage ends the other sessions', async () => {
    const other = await t.session();
    const save = users().savePasswordHash.bind(users());
    jest.spyOn(users(), 'savePasswordHash').mockImplementationOnce(async (...args) => {
      await save(...args);
      return new Promise(() => undefined);
    });
    await change().expect(503);
    await eventually(async () => (await t.get('/private', other.access_token)).status === 401);
    await own().expect(200);
    // The user knows that this password is correct.
    await eventually(async () => (await t.login(ADA, PASSWORD)).status === 200);
  });

  it('that can neither be completed nor undone ends later the sessions of the former password, and none of the new one', async () => {
    const other = await t.session();
    // The new password is stored. Neither the end of the sessions nor the restoration of the former password succeeds.
    const allow = await failStatementsAfter(t, 1, 'UPDATE OF password_hash ON members');
    await t.database.query(
      'CREATE TRIGGER svc_test_refuse BEFORE UPDATE ON svc_sessions FOR EACH ROW EXECUTE FUNCTION svc_test_refuse()',
    );
    await change().expect(503);
    const { body: renewed } = await t.login(ADA, NEXT).expect(200);
    await allow();
    await eventually(async () => (await t.get('/private', other.access_token)).status === 401);
    await t.auth.settled();
    await t.get('/private', renewed.access_token).expect(200);
    await t.refresh(renewed.refresh_token).expect(200);
    await own().expect(200);
  });

  it('that waits for a lock on the user row is not stored after the 503 response', async () => {
    const runner = t.database.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT 1 FROM members FOR UPDATE');
    await change().expect(503);
    await runner.rollbackTransaction();
    await runner.release();
    // Every statement that waited for the lock has run by then.
    await t.database.query("UPDATE members SET name = 'later'");
    await t.login(ADA, NEXT).expect(422);
    await t.login(ADA, PASSWORD).expect(200);
  });
});
