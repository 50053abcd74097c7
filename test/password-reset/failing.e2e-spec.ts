import { type AuthModuleOptions, PasswordReset, UserProvider } from '@svc/auth';
import { StoreUnavailable } from '../../libs/auth/src/kernel/auth.exception';
import { AccountLockout } from '../../libs/auth/src/lockout/account-lockout';
import { Realms } from '../../libs/auth/src/realm/realm';
import { Sessions } from '../../libs/auth/src/sessions/sessions';
import type { TestApp, TestAppOptions } from '../support/app';
import { ADA } from '../support/confirming';
import { eventually } from '../support/eventually';
import { type Mailbox, linkIn, member, startMembers } from '../support/members';
import { PASSWORD } from '../support/people';
import { RedisServer } from '../support/redis';
import { describeWithOwnRedis } from '../support/with-redis';

const NEXT = 'another horse entirely';

describe('a reset of a password', () => {
  let t: TestApp;
  let mailbox: Mailbox;

  async function start(options: Partial<AuthModuleOptions> = {}, more: TestAppOptions = {}): Promise<void> {
    ({ t, mailbox } = await startMembers({ features: { lockout: true }, ...options }, more));
    await member(t, ADA);
  }
  afterEach(async () => {
    jest.restoreAllMocks();
    await t.stop();
  });

  const own = <T>(type: abstract new (...args: never[]) => T): T => t.app.get(Realms).default.get(type);
  async function mailed(): Promise<string> {
    const before = mailbox.mails.length;
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    return linkIn(await mailbox.nth(before + 1)).searchParams.get('token')!;
  }
  const reset = (token: string, password = NEXT) =>
    t.http.post('/auth/reset-password').send({ token, email: ADA, password, password_confirmation: password });
  const down = async (): Promise<never> => Promise.reject(new StoreUnavailable('A store'));

  const faults: [string, () => void][] = [
    ['cannot be stored', () => jest.spyOn(own(UserProvider), 'savePasswordHash').mockImplementationOnce(down)],
    ['cannot end the sessions', () => jest.spyOn(own(Sessions), 'revokeAll').mockImplementationOnce(down)],
    ['cannot release the locks', () => jest.spyOn(own(AccountLockout), 'release').mockImplementationOnce(down)],
  ];

  it.each(faults)('that %s is 503, and works with the same link when tried again', async (_, fail) => {
    await start();
    const live = await t.session();
    const token = await mailed();
    const told = t.recorded(PasswordReset);
    fail();
    await reset(token).expect(503);
    expect(told).toEqual([]);
    await reset(token).expect(200);
    expect(told).toHaveLength(1);
    await t.get('/private', live.access_token).expect(401);
    await t.refresh(live.refresh_token).expect(401);
    await t.login(ADA).expect(422);
    await t.login(ADA, NEXT).expect(200);
    await reset(token).expect(422);
  });

  it('has ended the sessions where only the locks could not be released', async () => {
    await start();
    const live = await t.session();
    jest.spyOn(own(AccountLockout), 'release').mockImplementationOnce(down);
    await reset(await mailed()).expect(503);
    await t.get('/private', live.access_token).expect(401);
  });

  it('that fails gives the link back for what is left of its hour', async () => {
    await start();
    const token = await mailed();
    t.clock.advance(3000);
    jest.spyOn(own(UserProvider), 'savePasswordHash').mockImplementationOnce(down);
    await reset(token).expect(503);
    t.clock.advance(601);
    await reset(token).expect(422);
  });

  it('that fails brings no link back into the place of a newer one', async () => {
    await start();
    const token = await mailed();
    t.clock.advance(61);
    let newer = '';
    jest.spyOn(own(UserProvider), 'savePasswordHash').mockImplementationOnce(async () => {
      newer = await mailed();
      return down();
    });
    await reset(token).expect(503);
    await reset(token).expect(422);
    await reset(newer).expect(200);
  });

  it('of which nobody knows whether it was stored ends the sessions all the same', async () => {
    await start();
    const live = await t.session();
    const token = await mailed();
    const users = own(UserProvider);
    const save = users.savePasswordHash.bind(users);
    jest.spyOn(users, 'savePasswordHash').mockImplementationOnce(async (...args) => {
      await save(...args);
      return new Promise(() => undefined);
    });
    const began = performance.now();
    await reset(token).expect(503);
    expect(performance.now() - began).toBeLessThan(1500);
    await eventually(async () => (await t.get('/private', live.access_token)).status === 401);
    await reset(token, 'and yet another horse').expect(200);
    await t.login(ADA, 'and yet another horse').expect(200);
  });

  it('that waits for a lock on the user is not stored after it was answered 503', async () => {
    await start();
    const token = await mailed();
    const runner = t.database.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT 1 FROM members FOR UPDATE');
    await reset(token).expect(503);
    await runner.rollbackTransaction();
    await runner.release();
    await t.database.query("UPDATE members SET name = 'later'");
    await t.login(ADA, NEXT).expect(422);
    await t.login(ADA).expect(200);
    await reset(token).expect(200);
  });

  it('of a user who is gone by then is refused like any other', async () => {
    await start();
    const refused = await reset('f'.repeat(64)).expect(422);
    const users = own(UserProvider);
    const save = users.savePasswordHash.bind(users);
    jest.spyOn(users, 'savePasswordHash').mockImplementationOnce(async (...args) => {
      await t.database.query('DELETE FROM members');
      return save(...args);
    });
    expect((await reset(await mailed())).text).toBe(refused.text);
  });

  it('takes what the user signs in with for no password either, and tells that to the holder of the link alone', async () => {
    await start({ features: { registration: false }, username: 'name', guards: { admin: { username: 'email' } } });
    await t.database.query("UPDATE members SET name = 'ada.lovelace'");
    const token = await mailed();
    const unknown = await reset('f'.repeat(64)).expect(422);
    expect((await reset('f'.repeat(64), 'Ada Lovelace')).text).toBe(unknown.text);
    const { body } = await reset(token, 'Ada Lovelace').expect(422);
    expect(Object.keys(body.errors)).toEqual(['password']);
    await reset(token).expect(200);
  });

  describeWithOwnRedis('while Redis is down', () => {
    let redis: RedisServer;
    beforeAll(async () => void (redis = await RedisServer.start()));
    beforeEach(() => start({}, { redisUrl: redis.url }));
    // Nothing could be closed otherwise.
    afterEach(() => redis.thaw());
    afterAll(() => redis.stop());

    /** Redis hangs from the moment that the password is stored. */
    const hangLate = (): void => {
      const users = own(UserProvider);
      const save = users.savePasswordHash.bind(users);
      jest.spyOn(users, 'savePasswordHash').mockImplementationOnce(async (...args) => {
        const stored = await save(...args);
        redis.freeze();
        return stored;
      });
    };
    const thaw = async (token: string): Promise<void> => {
      redis.thaw();
      await eventually(async () => (await t.get('/private', token)).status !== 503);
    };

    it('is 503, and ends every session when tried again with the same link', async () => {
      const live = await t.session();
      const token = await mailed();
      hangLate();
      await reset(token).expect(503);
      await thaw(live.access_token);
      await reset(token).expect(200);
      await t.get('/private', live.access_token).expect(401);
      await t.refresh(live.refresh_token).expect(401);
    });

    it('is 503 as a change, too, which has not happened and works when tried again', async () => {
      const [live, other] = [await t.session(), await t.session()];
      const body = { current_password: PASSWORD, password: NEXT, password_confirmation: NEXT };
      const change = () => t.call('post', '/auth/password', live.access_token).send(body);
      hangLate();
      await change().expect(503);
      await thaw(live.access_token);
      await t.login(ADA, NEXT).expect(422);
      await change().expect(200);
      await t.get('/private', other.access_token).expect(401);
      await t.refresh(other.refresh_token).expect(401);
      await t.get('/private', live.access_token).expect(200);
    });
  });
});
