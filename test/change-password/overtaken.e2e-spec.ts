import { PasswordChanged, PasswordHasher, UserProvider, bcryptVerifier } from '@svc/auth';
import { hash as bcrypt } from 'bcryptjs';
import { StoreUnavailable } from '../../libs/auth/src/kernel/auth.exception';
import { AccountLockout } from '../../libs/auth/src/lockout/account-lockout';
import { Realms } from '../../libs/auth/src/realm/realm';
import { Sessions } from '../../libs/auth/src/sessions/sessions';
import type { TestApp } from '../support/app';
import { ADA } from '../support/confirming';
import { eventually } from '../support/eventually';
import { Checkpoint, whileStopped } from '../support/checkpoint';
import { type Mailbox, linkIn, member, startMembers } from '../support/members';
import { PASSWORD } from '../support/people';

const NEXT = 'another horse entirely';
const WRONG = {
  message: 'The password is not correct.',
  errors: { current_password: ['The password is not correct.'] },
};

describe('a change of password', () => {
  const checkpoint = Checkpoint.passable();
  let t: TestApp;
  let mailbox: Mailbox;
  let token: string;

  beforeEach(async () => {
    const hashing = { memoryCost: 64, timeCost: 1, maxQueue: 1000, verifiers: [bcryptVerifier({ rounds: 4 })] };
    ({ t, mailbox } = await startMembers({ hashing }));
    await member(t, ADA);
    token = (await t.session()).access_token;
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await t.stop();
  });

  const own = <T>(type: abstract new (...args: never[]) => T): T => t.app.get(Realms).default.get(type);
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
  /** Between the proof of the current password and the storing of the new one. */
  const holdHashing = (): void => {
    const hasher = t.app.get(PasswordHasher);
    const hash = hasher.hash.bind(hasher);
    jest.spyOn(hasher, 'hash').mockImplementation(async (text) => checkpoint.pass().then(() => hash(text)));
  };
  const silently = (): void => {
    const users = own(UserProvider);
    const save = users.savePasswordHash.bind(users);
    jest.spyOn(users, 'savePasswordHash').mockImplementation(async (...args) => void (await save(...args)));
  };

  it.each([
    ['', () => undefined],
    [', also where the users do not say whether they stored it', silently],
  ])('is one, of fifty at once from one password: the others find it wrong%s', async (_, prepare) => {
    prepare();
    const passwords = Array.from({ length: 50 }, (__, i) => `one of many horses ${i}`);
    const changed = t.recorded(PasswordChanged);
    const answers = await Promise.all(passwords.map((password) => change(password)));
    const [won, ...more] = passwords.filter((__, i) => answers[i]!.status === 200);
    expect(more).toEqual([]);
    const others = answers.filter(({ status }) => status !== 200);
    expect(others.map(({ status }) => status)).toEqual(Array(49).fill(422));
    for (const { body } of others) expect(body).toEqual(WRONG);
    expect(changed).toHaveLength(1);
    for (const password of [PASSWORD, ...passwords]) await t.login(ADA, password).expect(password === won ? 200 : 422);
  });

  it('does not undo a reset that came between', async () => {
    holdHashing();
    const { status, body } = await whileStopped(checkpoint, change(), () => reset('the horse of its owner'));
    expect({ status, body }).toEqual({ status: 422, body: WRONG });
    await t.login(ADA, NEXT).expect(422);
    await t.login(ADA, 'the horse of its owner').expect(200);
  });

  it('is made though a login renewed the hash meanwhile', async () => {
    await t.database.query('UPDATE members SET password_hash = $1', [await bcrypt(PASSWORD, 4)]);
    holdHashing();
    const { status } = await whileStopped(checkpoint, change(), () => t.login(ADA).expect(200));
    expect(status).toBe(200);
    await t.login(ADA).expect(422);
    await t.login(ADA, NEXT).expect(200);
  });

  const down = async (): Promise<never> => Promise.reject(new StoreUnavailable('A store'));

  it.each<[string, () => void]>([
    ['cannot be stored', () => jest.spyOn(own(UserProvider), 'savePasswordHash').mockImplementationOnce(down)],
    ['cannot end the other sessions', () => jest.spyOn(own(Sessions), 'revokeOthers').mockImplementationOnce(down)],
    ['cannot release the locks', () => jest.spyOn(own(AccountLockout), 'release').mockImplementationOnce(down)],
  ])('that %s has not happened: 503, and it works when tried again', async (_, fail) => {
    const other = await t.session();
    const changed = t.recorded(PasswordChanged);
    fail();
    await change().expect(503);
    expect(changed).toEqual([]);
    await t.login(ADA, NEXT).expect(422);
    await t.login(ADA, PASSWORD).expect(200);
    await change().expect(200);
    await t.login(ADA, PASSWORD).expect(422);
    await t.login(ADA, NEXT).expect(200);
    await t.get('/private', other.access_token).expect(401);
    await t.get('/private', token).expect(200);
  });

  it('that fails does not undo a reset with it', async () => {
    const sessions = own(Sessions);
    jest.spyOn(sessions, 'revokeOthers').mockImplementationOnce(async () => {
      await reset('the horse of its owner');
      return down();
    });
    await change().expect(503);
    await t.login(ADA, 'the horse of its owner').expect(200);
  });

  it('of which nobody knows whether it was stored ends the other sessions all the same', async () => {
    const other = await t.session();
    const users = own(UserProvider);
    const save = users.savePasswordHash.bind(users);
    jest.spyOn(users, 'savePasswordHash').mockImplementationOnce(async (...args) => {
      await save(...args);
      return new Promise(() => undefined);
    });
    const began = performance.now();
    await change().expect(503);
    expect(performance.now() - began).toBeLessThan(1000);
    await eventually(async () => (await t.get('/private', other.access_token)).status === 401);
    await t.get('/private', token).expect(200);
    // The one password that the user knows to be right.
    await eventually(async () => (await t.login(ADA, PASSWORD)).status === 200);
  });

  it('that waits for a lock on the user is not stored after it was answered 503', async () => {
    const runner = t.database.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT 1 FROM members FOR UPDATE');
    await change().expect(503);
    await runner.rollbackTransaction();
    await runner.release();
    // Whatever was waiting for the lock has had it by then.
    await t.database.query("UPDATE members SET name = 'later'");
    await t.login(ADA, NEXT).expect(422);
    await t.login(ADA, PASSWORD).expect(200);
  });
});
