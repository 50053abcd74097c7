import { Logger } from '@nestjs/common';
import {
  AccountLocked,
  AccountReleased,
  type AuthModuleOptions,
  Lockout,
  PasswordHasher,
  StoreUnavailable,
} from '@svc/auth';
import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { AccountLockout } from '../../libs/auth/src/lockout/account-lockout';
import { userLock } from '../../libs/auth/src/lockout/lock-key';
import { Realms } from '../../libs/auth/src/realm/realm';
import { TestApp } from '../support/app';
import { PASSWORD } from '../support/people';

const start = (lockout: AuthModuleOptions['lockout'], options: Partial<AuthModuleOptions> = {}): Promise<TestApp> =>
  TestApp.start({ options: { features: { lockout: true }, lockout, ...options } });

const fail = async (t: TestApp, email: string, times: number, guard = 'api'): Promise<void> => {
  for (let i = 0; i < times; i++) await t.login(email, `wrong ${i}`, guard).expect(422);
};
const rowsOf = (t: TestApp): Promise<{ purpose: string; subject: string; guard: string; attempts: number }[]> =>
  t.database.query('SELECT purpose, subject, guard, attempts FROM svc_lockouts ORDER BY id');
const LOCKED = 'This account is locked. Please contact support.';

describe('an account that is guessed at', () => {
  let t: TestApp;
  let id: string;
  const ada = 'ada@example.com';

  beforeAll(async () => {
    t = await start({ maxAttempts: 3 });
    id = await t.person(ada);
  });
  beforeEach(() => t.database.query('TRUNCATE svc_lockouts'));
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => t.stop());

  it('is locked after the last attempt it has, for the right password too, without a hash', async () => {
    await fail(t, ada, 3);
    const verify = jest.spyOn(t.app.get(PasswordHasher), 'verify');
    for (let i = 0; i < 3; i++) {
      const { body } = await t.login(ada).expect(423);
      expect(body).toEqual({ message: LOCKED, errors: { email: [LOCKED] } });
    }
    expect(verify).not.toHaveBeenCalled();
    expect(await rowsOf(t)).toEqual([{ purpose: 'login', subject: `id:${id}`, guard: 'api', attempts: 3 }]);
  });

  it('is let in by the last attempt, and locked and released are both told once', async () => {
    const [locked, released] = [t.recorded(AccountLocked), t.recorded(AccountReleased)];
    await fail(t, ada, 2);
    expect(locked).toEqual([]);
    await t.login(ada).expect(200);
    expect(locked).toEqual([{ purpose: 'login', subject: `id:${id}`, guard: 'api' }]);
    expect(released).toEqual([{ purpose: 'login', subject: `id:${id}`, guard: 'api' }]);
    expect(await rowsOf(t)).toEqual([]);
  });

  it('starts over after every success', async () => {
    for (let round = 0; round < 3; round++) {
      await fail(t, ada, 2);
      await t.login(ada).expect(200);
    }
  });

  it('loses with a successful login the failures of its step-up too, and no others', async () => {
    const lockout = t.app.get(Realms).default.get(AccountLockout);
    const wrong = (purpose: 'confirm' | 'two_factor'): Promise<unknown> =>
      lockout.attempt(userLock(purpose, id), 'password', async () => null);
    await wrong('confirm');
    await wrong('two_factor');
    await t.login(ada).expect(200);
    expect(await rowsOf(t)).toMatchObject([{ purpose: 'two_factor', subject: id }]);
  });

  it('answers like one that does not exist, byte for byte, at every step', async () => {
    const steps = async (email: string): Promise<Response[]> => {
      const answers: Response[] = [];
      for (let i = 0; i < 6; i++) answers.push(await t.login(email, 'wrong'));
      return answers;
    };
    const shape = ({ status, text, headers: { date: _, 'x-ratelimit-remaining': __, ...headers } }: Response) => ({
      status,
      text,
      headers,
    });
    const [known, unknown] = [await steps(ada), await steps('nobody@example.com')];
    expect(known.map(({ status }) => status)).toEqual([422, 422, 422, 423, 423, 423]);
    expect(unknown.map(shape)).toEqual(known.map(shape));
    expect((await rowsOf(t)).map(({ subject }) => subject)).toEqual([`id:${id}`, 'idn:nobody@example.com']);
  });

  it('is not locked by an identifier that only looks like its own, nor released by it', async () => {
    const lookAlikes = ['аdа@example.com', 'ａｄａ＠example.com', 'ada@exаmple.com'];
    for (const email of lookAlikes) await fail(t, email, 3);
    for (const email of lookAlikes) await t.login(email).expect(423);
    expect((await rowsOf(t)).map(({ subject }) => subject)).toEqual(lookAlikes.map((email) => `idn:${email}`));
    await t.login(ada).expect(200);
    for (const email of lookAlikes) await t.login(email).expect(423);
  });

  it('is not told from one that does not exist by locking what looks alike', async () => {
    for (const [lookAlike, email] of [
      ['аdа@example.com', ada],
      ['nоbоdy@example.com', 'nobody@example.com'],
    ] as const) {
      await fail(t, lookAlike, 3);
      await t.login(email, 'wrong').expect(422);
    }
  });

  it('is the same account in every spelling that names it', async () => {
    for (const email of ['ADA@EXAMPLE.COM', '  ada@example.com ', 'Ada@Example.com']) {
      await t.login(email, 'wrong').expect(422);
    }
    await t.login(ada).expect(423);
    expect(await rowsOf(t)).toMatchObject([{ subject: `id:${id}`, attempts: 3 }]);
  });

  it.each([
    ['255 letters', 'x'.repeat(255)],
    ['255 letters that become many more', '爫'.repeat(255)],
    ['86 letters of which each becomes three', '㎒'.repeat(86)],
    ['a NUL', 'a\0b'],
    ['half a character', '\ud800'],
    ['nothing ASCII', '🔑🔑'],
    ['SQL', `'); DROP TABLE svc_lockouts; --`],
  ])('may be called by %s', async (_, email) => {
    await fail(t, email, 3);
    await t.login(email).expect(423);
    const [row] = await rowsOf(t);
    expect(row).toMatchObject({ subject: expect.stringMatching(/^idn:/), attempts: 3 });
    expect(row!.subject.length).toBeLessThanOrEqual(194);
  });

  it('is nobody where no identifier is given', async () => {
    for (let i = 0; i < 5; i++) await t.http.post('/auth/login').send({ password: 'wrong', email: '  ' }).expect(422);
    await t.http.post('/auth/login').send({}).expect(422);
    expect(await rowsOf(t)).toEqual([]);
  });

  it('is another one at another guard', async () => {
    await t.person(ada, 'admin');
    await fail(t, ada, 3);
    await t.login(ada).expect(423);
    await t.login(ada, PASSWORD, 'admin').expect(200);
  });

  it('keeps the attempts that a busy hasher or a silent store did not verify', async () => {
    jest.spyOn(t.app.get(PasswordHasher), 'verify').mockRejectedValue(new StoreUnavailable('Redis'));
    for (let i = 0; i < 5; i++) await t.login(ada).expect(503);
    jest.restoreAllMocks();
    await fail(t, ada, 2);
    await t.login(ada).expect(200);
  });

  it('is told that it is locked before it is told to wait', async () => {
    await t.stop();
    t = await start({ maxAttempts: 2 }, { rateLimits: { login: { maxAttempts: 2, ipMaxAttempts: 1e9 } } });
    const email = `${randomUUID()}@example.com`;
    await t.person(email);
    const limited = t.recorded(Lockout);
    await fail(t, email, 2);
    await t.login(email).expect(423);
    expect(limited).toEqual([]);
  });
});

describe('a lock that lets go', () => {
  let t: TestApp;
  const ada = 'ada@example.com';

  beforeAll(async () => {
    t = await start({ maxAttempts: 3, releaseAfter: 600 });
    await t.person(ada);
  });
  afterAll(() => t.stop());

  it('says how long it holds, holds as long, and starts a new run', async () => {
    const locked = t.recorded(AccountLocked);
    await fail(t, ada, 3);
    const text = (seconds: number): string => `This account is locked. Please try again in ${seconds} seconds.`;
    const { body } = await t.login(ada).expect(423);
    expect([text(600), text(599)]).toContain(body.message);
    t.clock.advance(590);
    expect((await t.login(ada).expect(423)).body.message).toMatch(/in (9|10) seconds/);
    t.clock.advance(11);

    await fail(t, ada, 1);
    expect(await rowsOf(t)).toMatchObject([{ attempts: 1 }]);
    await fail(t, ada, 2);
    await t.login(ada).expect(423);
    expect(locked).toHaveLength(2);
    t.clock.advance(601);
    await t.login(ada).expect(200);
    expect(await rowsOf(t)).toEqual([]);
  });
});

describe('a maximum that was lowered', () => {
  it('locks who is above it at the next attempt, without verifying it', async () => {
    const first = await start({ maxAttempts: 50 });
    await first.person('ada@example.com');
    await fail(first, 'ada@example.com', 10);
    const second = await TestApp.start({
      databaseUrl: first.databaseUrl,
      options: { features: { lockout: true }, lockout: { maxAttempts: 5 } },
    });
    const locked = second.recorded(AccountLocked);
    await second.login('ada@example.com').expect(423);
    await second.login('ada@example.com').expect(423);
    expect(locked).toHaveLength(1);
    await second.stop();
    await first.stop();
  });
});

describe('without its table', () => {
  it('lockout locks nobody, and logins go on', async () => {
    const t = await start({ maxAttempts: 1 });
    await t.person('ada@example.com');
    await t.database.query('DROP TABLE svc_lockouts');
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    for (let i = 0; i < 3; i++) await t.login('ada@example.com', 'wrong').expect(422);
    await t.login('ada@example.com').expect(200);
    expect(logged.mock.calls).toEqual([[expect.stringMatching(/table is missing.*Run the migrations/)]]);
    await t.stop();
  });
});

describe('switched off', () => {
  it('lockout counts nothing', async () => {
    const t = await TestApp.start({ options: { lockout: { maxAttempts: 1 } } });
    await t.person('ada@example.com');
    await fail(t, 'ada@example.com', 3);
    await t.login('ada@example.com').expect(200);
    expect(await rowsOf(t)).toEqual([]);
    await t.stop();
  });
});
