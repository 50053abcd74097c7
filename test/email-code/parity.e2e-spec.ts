import { type AuthModuleOptions, PasswordHasher, SecurityStore } from '@svc/auth';
import * as fc from 'fast-check';
import type { Response } from 'supertest';
import type { TestApp } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { mailedCode, requestCode, sendCode } from '../support/flows/email-code';
import { hangingMails, member, membersForFile } from '../support/hosts/members';
import { rounds } from '../support/runtime/rounds';
import { isInRequest, requestStatements } from '../support/stores/request-statements';
import { ADA } from '../support/hosts/user-entities';

const UNKNOWN = 'unknown@example.com';
const verified = { emailVerifiedAt: new Date() };

/** The parts of an answer by which a client could distinguish it. */
const shape = ({ status, text, headers: { date: _, 'x-ratelimit-remaining': __, ...headers } }: Response) =>
  JSON.parse(
    JSON.stringify({ status, text, headers })
      // The token is random, and the seconds that remain may differ by one.
      .replace(/[0-9a-f]{64}/g, '')
      .replace(/\d+(?= seconds)|(?<="(retry-after|x-ratelimit-reset)":")\d+/g, ''),
  ) as { status: number };

/** The calls of the security store in requests. */
function requestStoreCalls(t: TestApp): string[] {
  const calls: string[] = [];
  const store = t.app.get(SecurityStore) as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const name of ['getMany', 'getWithInstance', 'setMany', 'add', 'take', 'count', 'settle']) {
    const original = store[name]!.bind(store);
    jest.spyOn(store, name).mockImplementation((...args) => {
      if (isInRequest()) calls.push(name);
      return original(...args);
    });
  }
  return calls;
}

describe('a request for a code', () => {
  const { t, mailbox } = membersForFile({ features: { emailCode: true, lockout: true }, storeTimeoutMs: 20_000 });
  beforeEach(() => member(t, ADA, verified));

  it('is answered with the same bytes and headers whether or not the address has an account', async () => {
    await member(t, 'deleted@example.com', { deletedAt: new Date() });
    await t.database.query("INSERT INTO members (name, email) VALUES ('Bob', 'keyless@example.com')");
    const first = shape(await requestCode(t, UNKNOWN));
    expect(first.status).toBe(202);
    for (const email of [ADA, ' ADA@example.com', 'keyless@example.com', 'deleted@example.com'])
      expect(shape(await requestCode(t, email))).toEqual(first);
    await mailbox.nth(3);
    await t.calm();
    expect(mailbox.mails.map(({ to }) => to).toSorted()).toEqual([ADA, ADA, 'keyless@example.com']);
  });

  it('does the same work before the answer, and computes no hash', async () => {
    // Work after the answer must not count, so the mails wait.
    await hangingMails(t, mailbox);
    const statements = requestStatements(t);
    const calls = requestStoreCalls(t);
    const hashed = jest.spyOn(t.app.get(PasswordHasher), 'hash');
    const work = async (email: string): Promise<unknown[]> => {
      statements.mockClear();
      calls.length = 0;
      await requestCode(t, email).expect(202);
      return [statements.mock.calls.map(([text]) => text), [...calls]];
    };
    const [known, unknown] = [await work(ADA), await work(UNKNOWN)];
    expect(known).toEqual(unknown);
    expect(known[1]).toEqual(['count', 'setMany']);
    // One look-up, which is not of the address: reading a user takes longer than finding none.
    expect(known[0]).toHaveLength(1);
    expect(hashed).not.toHaveBeenCalled();
    mailbox.release();
  });

  it('makes the code after the answer, and a wrong code does the same work with and without an account', async () => {
    const statements = requestStatements(t);
    const calls = requestStoreCalls(t);
    const tokens: Record<string, string> = {};
    for (const email of [ADA, UNKNOWN]) {
      calls.length = 0;
      tokens[email] = (await requestCode(t, email).expect(202)).body.code_token;
      // The second one is after the answer, also without an account.
      await eventually(async () => calls.filter((name) => name === 'setMany').length === 2);
    }
    await mailbox.to(ADA);
    expect(mailbox.mails).toHaveLength(1);
    const work = async (email: string): Promise<unknown[]> => {
      statements.mockClear();
      calls.length = 0;
      const answer = shape(await sendCode(t, { code_token: tokens[email], code: 'x' }));
      return [answer, statements.mock.calls.map(([text]) => text), [...calls]];
    };
    const [known, unknown] = [await work(ADA), await work(UNKNOWN)];
    expect(known).toEqual(unknown);
    expect((known[0] as { status: number }).status).toBe(422);
  });
});

const protections: [string, Partial<AuthModuleOptions>][] = [
  ['a lock', { features: { emailCode: true, lockout: true }, lockout: { maxAttempts: 5 } }],
  [
    'a limit on failures',
    {
      features: { emailCode: true },
      rateLimits: {
        login: { maxAttempts: 4, ipMaxAttempts: 1e9, accountMaxAttempts: 1e9 },
        emailCode: { maxAttempts: 1e9 },
      },
    },
  ],
];

describe.each(protections)('%s', (name, options) => {
  const { t, mailbox } = membersForFile({ ...options });

  it('answers any sequence of requests, wrong codes and wrong passwords as if there were no account', async () => {
    const step = fc.constantFrom('request', 'code', 'password');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        await t.reset();
        mailbox.clear();
        await member(t, ADA, verified);
        const answersFor = async (email: string): Promise<object[]> => {
          let code_token: string | undefined;
          const answers: Response[] = [];
          for (const kind of ['request', ...steps]) {
            if (kind === 'request') {
              const answer = await requestCode(t, email);
              code_token = (answer.body.code_token as string | undefined) ?? code_token;
              answers.push(answer);
            } else if (kind === 'code') answers.push(await sendCode(t, { code_token, code: 'x' }));
            else answers.push(await t.login(email, 'wrong'));
          }
          return answers.map(shape);
        };
        expect(await answersFor(ADA)).toEqual(await answersFor(UNKNOWN));
      }),
      { numRuns: rounds(6) },
    );
  });

  it('is shared by codes and passwords', async () => {
    await member(t, ADA, verified);
    const most = name === 'a lock' ? 5 : 4;
    const refused = name === 'a lock' ? 423 : 429;
    const mailed = await mailedCode(t, mailbox);
    for (let i = 0; i < 3; i++) await sendCode(t, { ...mailed, code: 'x' }).expect(422);
    for (let i = 3; i < most; i++) await t.login(ADA, 'wrong').expect(422);
    await t.login(ADA).expect(refused);
    const { body } = await sendCode(t, mailed).expect(refused);
    expect(Object.keys(body.errors)).toEqual(['code']);
  });

  it('is cleared by a sign-in with a code', async () => {
    await member(t, ADA, verified);
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 3; i++) await t.login(ADA, 'wrong').expect(422);
      await sendCode(t, await mailedCode(t, mailbox)).expect(200);
    }
    expect(await t.database.query('SELECT 1 FROM svc_lockouts')).toEqual([]);
  });
});
