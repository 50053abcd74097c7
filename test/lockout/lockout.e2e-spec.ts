import { Logger } from '@nestjs/common';
import {
  AccountLocked,
  AccountReleased,
  type AuthModuleOptions,
  Lockout,
  PasswordHasher,
  StoreUnavailable,
} from '@svc/auth';
import * as fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { TestApp, type TestAppOptions } from '../support/hosts/app';
import { rounds } from '../support/runtime/rounds';
import { confirmPassword } from '../support/flows/step-up';
import { PASSWORD } from '../support/hosts/user-entities';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

const locking = (lockout: AuthModuleOptions['lockout'], more: Partial<AuthModuleOptions> = {}): TestAppOptions => ({
  options: { features: { lockout: true }, lockout, ...more },
});

const ada = 'ada@example.com';

const fail = async (t: TestApp, email: string, times: number, guard = 'api'): Promise<void> => {
  for (let i = 0; i < times; i++) await t.login(email, `wrong ${i}`, guard).expect(422);
};
const rowsOf = (t: TestApp): Promise<{ purpose: string; subject: string; guard: string; attempts: number }[]> =>
  t.database.query('SELECT purpose, subject, guard, attempts FROM svc_lockouts ORDER BY id');
const LOCKED = 'This account is locked. Please contact support.';

describe('an account whose password is guessed', () => {
  const t = TestApp.forFile(locking({ maxAttempts: 3 }));
  let id: string;
  beforeEach(async () => (id = await t.person(ada)));

  it('is locked after the last allowed attempt, even for the correct password and without a hash', async () => {
    await fail(t, ada, 3);
    const verify = jest.spyOn(t.app.get(PasswordHasher), 'verify');
    for (let i = 0; i < 3; i++) {
      const { body } = await t.login(ada).expect(423);
      expect(body).toEqual({ message: LOCKED, errors: { email: [LOCKED] } });
    }
    expect(verify).not.toHaveBeenCalled();
    expect(await rowsOf(t)).toEqual([{ purpose: 'login', subject: `id:${id}`, guard: 'api', attempts: 3 }]);
  });

  it('can sign in with the last attempt, and emits one event each for lock and release', async () => {
    const [locked, released] = [t.recorded(AccountLocked), t.recorded(AccountReleased)];
    await fail(t, ada, 2);
    expect(locked).toEqual([]);
    await t.login(ada).expect(200);
    expect(locked).toEqual([{ purpose: 'login', subject: `id:${id}`, guard: 'api' }]);
    expect(released).toEqual([{ purpose: 'login', subject: `id:${id}`, guard: 'api', failures: 3 }]);
    expect(await rowsOf(t)).toEqual([]);
  });

  it('restarts its count after every success', async () => {
    for (let round = 0; round < 3; round++) {
      await fail(t, ada, 2);
      await t.login(ada).expect(200);
    }
  });

  it('clears the failures of its step-up with a successful login, and no others', async () => {
    const { accessToken } = await t.auth.startSession(id);
    await confirmPassword(t, accessToken, { password: 'wrong' }).expect(422);
    await t.database.query("INSERT INTO svc_lockouts VALUES ('1', 'two_factor', $1, 'api', 1, NULL, now(), now())", [
      id,
    ]);
    expect((await rowsOf(t)).map(({ purpose }) => purpose).toSorted()).toEqual(['confirm', 'two_factor']);
    await t.login(ada).expect(200);
    expect(await rowsOf(t)).toMatchObject([{ purpose: 'two_factor', subject: id }]);
  });

  it('gets the same responses as one that does not exist, byte for byte, at every step', async () => {
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

  it('is neither locked nor released by a similar-looking identifier', async () => {
    const lookAlikes = ['аdа@example.com', 'ａｄａ＠example.com', 'ada@exаmple.com'];
    for (const email of lookAlikes) await fail(t, email, 3);
    for (const email of lookAlikes) await t.login(email).expect(423);
    const compared = [...lookAlikes.slice(0, 2), 'ada@xn--exmple-4nf.com'];
    expect((await rowsOf(t)).map(({ subject }) => subject)).toEqual(compared.map((email) => `idn:${email}`));
    await t.login(ada).expect(200);
    for (const email of lookAlikes) await t.login(email).expect(423);
  });

  it('cannot be distinguished from a missing one by a lock on a similar-looking identifier', async () => {
    for (const [lookAlike, email] of [
      ['аdа@example.com', ada],
      ['nоbоdy@example.com', 'nobody@example.com'],
    ] as const) {
      await fail(t, lookAlike, 3);
      await t.login(email, 'wrong').expect(422);
    }
  });

  it('has one lock for every spelling of its identifier', async () => {
    for (const email of ['ADA@EXAMPLE.COM', '  ada@example.com ', 'Ada@Example.com']) {
      await t.login(email, 'wrong').expect(422);
    }
    await t.login(ada).expect(423);
    expect(await rowsOf(t)).toMatchObject([{ subject: `id:${id}`, attempts: 3 }]);
  });

  it.each([
    ['255 letters', 'x'.repeat(255)],
    ['255 letters whose normal form is longer', '爫'.repeat(255)],
    ['86 letters whose normal form has three letters each', '㎒'.repeat(86)],
    ['a NUL', 'a\0b'],
    ['an unpaired surrogate', '\ud800'],
    ['nothing ASCII', '🔑🔑'],
    ['SQL', `'); DROP TABLE svc_lockouts; --`],
  ])('can have an identifier of %s', async (_, email) => {
    await fail(t, email, 3);
    await t.login(email).expect(423);
    const [row] = await rowsOf(t);
    expect(row).toMatchObject({ subject: expect.stringMatching(/^idn:/), attempts: 3 });
    expect(row!.subject.length).toBeLessThanOrEqual(194);
  });

  it('has no counter if the request has no identifier', async () => {
    for (let i = 0; i < 5; i++) await t.http.post('/auth/login').send({ password: 'wrong', email: '  ' }).expect(422);
    await t.http.post('/auth/login').send({}).expect(422);
    expect(await rowsOf(t)).toEqual([]);
  });

  it('has a separate lock at another guard', async () => {
    await t.person(ada, 'admin');
    await fail(t, ada, 3);
    await t.login(ada).expect(423);
    await t.login(ada, PASSWORD, 'admin').expect(200);
  });

  it('keeps attempts that were not verified because of a busy hasher or an unavailable store', async () => {
    jest.spyOn(t.app.get(PasswordHasher), 'verify').mockRejectedValue(new StoreUnavailable('Redis'));
    for (let i = 0; i < 5; i++) await t.login(ada).expect(503);
    jest.restoreAllMocks();
    await fail(t, ada, 2);
    await t.login(ada).expect(200);
  });

  it('is not locked by a last attempt that was not verified', async () => {
    const [locked, released] = [t.recorded(AccountLocked), t.recorded(AccountReleased)];
    await fail(t, ada, 2);
    jest.spyOn(t.app.get(PasswordHasher), 'verify').mockRejectedValueOnce(new StoreUnavailable('Redis'));
    await t.login(ada).expect(503);
    expect([locked.length, released.length]).toEqual([1, 1]);
    expect(await rowsOf(t)).toMatchObject([{ attempts: 2 }]);
    await fail(t, ada, 1);
    await t.login(ada).expect(423);
  });

  it('is answered as locked before it is answered as rate-limited', async () => {
    const rateLimits = { login: { maxAttempts: 2, ipMaxAttempts: 1e9 } };
    const both = await TestApp.start(locking({ maxAttempts: 2 }, { rateLimits }));
    const email = `${randomUUID()}@example.com`;
    await both.person(email);
    const limited = both.recorded(Lockout);
    await fail(both, email, 2);
    await both.login(email).expect(423);
    expect(limited).toEqual([]);
    await both.stop();
  });
});

describe('a lock with a duration', () => {
  it('reports its duration, lasts that long, and is followed by a new count', async () => {
    const t = await TestApp.start(locking({ maxAttempts: 3, releaseAfter: 600 }));
    await t.person(ada);
    const locked = t.recorded(AccountLocked);
    await fail(t, ada, 3);
    const secondsLeft = async (): Promise<number> => {
      const { body } = await t.login(ada).expect(423);
      const [, seconds] = /^This account is locked\. Please try again in (\d+) seconds\.$/.exec(body.message)!;
      return Number(seconds);
    };
    const remaining = await secondsLeft();
    expect(remaining).toBeGreaterThan(540);
    expect(remaining).toBeLessThanOrEqual(600);
    t.clock.advance(500);
    const later = await secondsLeft();
    expect(later).toBeGreaterThan(40);
    expect(later).toBeLessThanOrEqual(remaining - 500);
    t.clock.advance(later);

    await fail(t, ada, 1);
    expect(await rowsOf(t)).toMatchObject([{ attempts: 1 }]);
    await fail(t, ada, 2);
    await t.login(ada).expect(423);
    expect(locked).toHaveLength(2);
    t.clock.advance(600);
    await t.login(ada).expect(200);
    expect(await rowsOf(t)).toEqual([]);
    await t.stop();
  });
});

describe('a maximum that was lowered', () => {
  it('locks an account above it at the next attempt, which is not verified', async () => {
    const first = await TestApp.start(locking({ maxAttempts: 50 }));
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

describe('lockout without its table', () => {
  it('locks no account, and logins continue', async () => {
    const t = await TestApp.start(locking({ maxAttempts: 1 }));
    await t.person('ada@example.com');
    await t.database.query('DROP TABLE svc_lockouts');
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    for (let i = 0; i < 3; i++) await t.login('ada@example.com', 'wrong').expect(422);
    await t.login('ada@example.com').expect(200);
    expect(logged.mock.calls).toEqual([[expect.stringMatching(/table is missing.*Run the migrations/)]]);
    await t.stop();
  });
});

describe('lockout that is off', () => {
  it('counts nothing', async () => {
    const t = await TestApp.start({ options: { lockout: { maxAttempts: 1 } } });
    await t.person('ada@example.com');
    await fail(t, 'ada@example.com', 3);
    await t.login('ada@example.com').expect(200);
    expect(await rowsOf(t)).toEqual([]);
    await t.stop();
  });
});

describe('a custom login of the host', () => {
  const authenticate = async (request: unknown): Promise<{ id: number } | null> => {
    const { ticket } = (request as { body: { ticket?: string } }).body;
    if (ticket === 'throw') throw new Error('no such ticket');
    return ticket ? { id: Number(ticket) } : null;
  };
  const t = TestApp.forFile(locking({ maxAttempts: 3 }, { hooks: { authenticate } }));
  const login = (ticket: string | undefined, email?: string) => t.http.post('/auth/login').send({ email, ticket });

  beforeEach(async () => {
    await t.person('ada@example.com');
    await t.person('bob@example.com');
  });

  it('is locked like any other, even if it refuses with an exception', async () => {
    await login(undefined, 'ada@example.com').expect(422);
    await login('throw', 'ada@example.com').expect(500);
    await login(undefined, 'ada@example.com').expect(422);
    await login('1', 'ada@example.com').expect(423);
    await login('1').expect(200);
  });

  it('does not clear the failures of an account with the ticket of another user', async () => {
    await login(undefined, 'ada@example.com').expect(422);
    await login('2', 'ada@example.com').expect(422);
    await login('2', 'ada@example.com').expect(422);
    await login('1', 'ada@example.com').expect(423);
    await login('2', 'bob@example.com').expect(200);
  });

  it('ends the failures in a row of an identifier without an account when it signs a user in, also at the last attempt', async () => {
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 2; i++) await login(undefined, 'nobody@example.com').expect(422);
      await login('1', 'nobody@example.com').expect(200);
      expect(await rowsOf(t)).toEqual([]);
    }
    for (let i = 0; i < 3; i++) await login(undefined, 'nobody@example.com').expect(422);
    await login('1', 'nobody@example.com').expect(423);
  });

  it('keeps the failures of an identifier without an account that the limits count', async () => {
    const limits = { rateLimits: { login: { maxAttempts: 3, ipMaxAttempts: 1e9 } } };
    const limited = await TestApp.start(locking({ maxAttempts: 3 }, { hooks: { authenticate }, ...limits }));
    await limited.person(ada);
    const email = `${randomUUID()}@example.com`;
    const attempt = (ticket?: string) => limited.http.post('/auth/login').send({ email, ticket });
    for (const ticket of [undefined, undefined]) await attempt(ticket).expect(422);
    await attempt('1').expect(200);
    await attempt().expect(422);
    await attempt('1').expect(429);
    await limited.stop();
  });
});

/** Users with a name that is compared to the letter. */
@Entity('named')
class Named {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @Column('text', { unique: true })
  handle!: string;

  @Column('text', { nullable: true })
  passwordHash!: string | null;
}

const LIMIT = { maxAttempts: 3, ipMaxAttempts: 1e9, accountMaxAttempts: 1e9, decaySeconds: 3600 };

describe.each<[string, number, Partial<AuthModuleOptions>]>([
  ['a lock', 423, { features: { lockout: true }, lockout: { maxAttempts: 3 } }],
  ['a limit', 429, { rateLimits: { login: LIMIT } }],
])('%s', (_, refused, protection) => {
  describe.each<[string, Partial<AuthModuleOptions>, (t: TestApp, name: string) => Promise<unknown>]>([
    ['email', {}, (t, name) => t.person(name)],
    [
      'handle',
      { username: 'handle', users: { entity: Named }, guards: { admin: { username: 'email' } } },
      (t, handle) => t.database.getRepository(Named).save({ handle, passwordHash: null }),
    ],
  ])('on guesses by %s', (field, options, create) => {
    const tables = `CREATE TABLE named (id int GENERATED ALWAYS AS IDENTITY, handle text UNIQUE, "passwordHash" text)`;
    const t = TestApp.forFile({ options: { ...protection, ...options }, entities: [Named], tables });

    const guess = async (identifier: string): Promise<number> =>
      (await t.http.post('/auth/login').send({ [field]: identifier, password: 'wrong' })).status;

    it('does not show whether an account has another spelling of the refused identifier', async () => {
      for (const exists of [true, false]) {
        const run = `${randomUUID()}.test`;
        if (exists) await create(t, `Admin@${run}`);
        const answers: number[] = [];
        for (let i = 0; i < 4; i++) answers.push(await guess(`ADMIN@${run}`));
        answers.push(await guess(`Admin@${run}`));
        // An email is compared without case, a handle to the letter.
        expect(answers).toEqual([422, 422, 422, refused, field === 'email' ? refused : 422]);
      }
    });

    it('answers any sequence of guesses as if there were no account', async () => {
      const spellings = ['Admin', 'ADMIN', 'admin', ' admin', '\u0430dmin', 'adm\u0131n', 'ADM\u0130N', 'bob', 'BOB'];
      const answersOf = async (guesses: readonly string[], accounts: readonly string[]): Promise<number[]> => {
        const run = `@${randomUUID()}.test`;
        for (const name of accounts) await create(t, `${name}${run}`);
        const answers: number[] = [];
        for (const name of guesses) answers.push(await guess(`${name}${run}`));
        return answers;
      };
      const guesses = fc.array(fc.constantFrom(...spellings), { minLength: 5, maxLength: 20 });
      const property = fc.asyncProperty(guesses, async (sequence) => {
        expect(await answersOf(sequence, ['Admin', 'bob'])).toEqual(await answersOf(sequence, []));
      });
      await fc.assert(property, { numRuns: rounds(3) });
    });
  });
});

describe('a custom login of the host that returns no user', () => {
  let nothing: unknown;
  const t = TestApp.forFile({
    options: {
      hooks: { authenticate: async () => nothing as never },
      rateLimits: { login: { maxAttempts: 3, ipMaxAttempts: 1e9 } },
    },
  });

  it.each([[undefined], [false], [0], [''], [null]])('refuses with %j as with null', async (value) => {
    nothing = value;
    const email = `${randomUUID()}@example.com`;
    for (let i = 0; i < 3; i++) await t.http.post('/auth/login').send({ email }).expect(422);
    await t.http.post('/auth/login').send({ email }).expect(429);
  });
});

const MAX = 4;
const RELEASE_AFTER = 100;

type Step = { who: 'ada' | 'bob' | 'nobody'; right: boolean } | { wait: number };

/** The rule in its simplest form: a number of failures, and the time of the lock. */
class Model {
  private readonly runs = new Map<string, { attempts: number; lockedAt?: number }>();
  now = 0;
  locked = 0;
  released = 0;

  attempt(who: string, right: boolean): number {
    const run = this.runs.get(who) ?? { attempts: 0 };
    if (run.lockedAt !== undefined && this.now < run.lockedAt + RELEASE_AFTER) return 423;
    if (run.lockedAt !== undefined) Object.assign(run, { attempts: 0, lockedAt: undefined });
    this.runs.set(who, run);
    if (++run.attempts === MAX) {
      run.lockedAt = this.now;
      this.locked++;
    }
    if (!right || who === 'nobody') return 422;
    this.runs.delete(who);
    this.released++;
    return 200;
  }
}

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({
      who: fc.constantFrom('ada' as const, 'bob' as const, 'nobody' as const),
      right: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
    }),
    weight: 8,
  },
  { arbitrary: fc.record({ wait: fc.constantFrom(10, 45, 60, 150) }), weight: 1 },
);

describe('any sequence of logins and waits', () => {
  const t = TestApp.forFile(locking({ maxAttempts: MAX, releaseAfter: RELEASE_AFTER }));

  it('is answered as the simple rule requires, with an event for every change', async () => {
    const [locked, released] = [t.recorded(AccountLocked), t.recorded(AccountReleased)];
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const run = randomUUID().slice(0, 8);
      for (const name of ['ada', 'bob']) await t.person(`${name}-${run}@example.com`);
      const [model, before] = [new Model(), [locked.length, released.length] as const];
      for (const one of steps) {
        if ('wait' in one) {
          t.clock.advance(one.wait);
          model.now += one.wait;
        } else {
          const { status } = await t.login(`${one.who}-${run}@example.com`, one.right ? PASSWORD : 'wrong');
          expect(status).toBe(model.attempt(one.who, one.right));
        }
      }
      expect([locked.length - before[0], released.length - before[1]]).toEqual([model.locked, model.released]);
    });
    await fc.assert(property, { numRuns: rounds(6) });
  });
});
