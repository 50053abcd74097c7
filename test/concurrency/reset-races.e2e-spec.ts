import type { Response } from 'supertest';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tokens } from '../support/hosts/app';
import { linkIn, member, membersForFile } from '../support/hosts/members';
import { PASSWORD } from '../support/hosts/user-entities';
import { RACES_MS, rounds } from '../support/runtime/rounds';

const ROUNDS = rounds(2);
const AT_ONCE = 30;
const LOGINS = 8;

/** Cheap hashes and a long timeout: even on a slow machine, no request times out. */
const RACED = { hashing: { memoryCost: 8, timeCost: 1, maxQueue: 1000, maxWaitMs: 20_000 }, storeTimeoutMs: 20_000 };

describe('one reset link that many requests send at once', () => {
  // Callbacks of a host take time. Meanwhile a reset can overtake a login.
  const tokenClaims = async () => sleep(Math.random() * 20, {});
  const { t, mailbox } = membersForFile({ ...RACED, hooks: { tokenClaims } });

  it(
    `sets one of ${AT_ONCE} passwords and leaves no session of the former one`,
    async () => {
      let overtaken = 0;
      // The race needs some logins that are faster than the reset, so it continues until there were some.
      for (let round = 0; round < ROUNDS || overtaken === 0; round++) {
        const email = `racer${round}@example.com`;
        await member(t, email);
        const before = await t.session(email);
        await t.http.post('/auth/forgot-password').send({ email }).expect(200);
        const token = linkIn(await mailbox.to(email)).searchParams.get('token');
        const passwords = Array.from({ length: AT_ONCE }, (_, i) => `horse number ${i} of ${round}`);
        const reset = (password: string) =>
          t.http.post('/auth/reset-password').send({ token, email, password, password_confirmation: password });

        const logins = Array.from({ length: LOGINS }, async () => t.login(email));
        const answers = await Promise.all(passwords.map(reset));
        const late = await Promise.all([...logins, ...Array.from({ length: LOGINS }, async () => t.login(email))]);

        const won = passwords.filter((_, i) => answers[i]!.status === 200);
        expect(won).toHaveLength(1);
        expect(answers.filter(({ status }) => status === 422)).toHaveLength(AT_ONCE - 1);
        expect(late.filter(({ status }) => ![200, 422].includes(status))).toEqual([]);
        const opened = late.filter(({ status }) => status === 200).map(({ body }: Response): Tokens => body);
        overtaken += opened.length;
        for (const { access_token, refresh_token } of [before, ...opened]) {
          await t.get('/private', access_token).expect(401);
          await t.refresh(refresh_token).expect(401);
        }
        await t.login(email, won[0]).expect(200);
        for (const lost of [PASSWORD, passwords.find((one) => one !== won[0])]) await t.login(email, lost).expect(422);
      }
    },
    RACES_MS,
  );
});

describe('a login during the replacement of its password', () => {
  const TIMES = rounds(4);
  const { t, mailbox } = membersForFile(RACED);

  it.each(['reset', 'changed'])(
    'leaves no live session after it is %s',
    async (how) => {
      for (let round = 0; round < TIMES; round++) {
        const email = `racer${round}@example.com`;
        const userId = await member(t, email);
        const own = how === 'changed' ? await t.session(email) : undefined;
        const next = `horse number ${round} at last`;
        const chosen = { password: next, password_confirmation: next };
        const replaced = async (): Promise<unknown> => {
          if (own) {
            const body = { current_password: PASSWORD, ...chosen };
            return t.call('post', '/auth/password', own.access_token).send(body).expect(200);
          }
          await t.http.post('/auth/forgot-password').send({ email }).expect(200);
          const token = linkIn(await mailbox.to(email)).searchParams.get('token');
          return t.http
            .post('/auth/reset-password')
            .send({ token, email, ...chosen })
            .expect(200);
        };
        const over = new AbortController();
        const keepTrying = async (): Promise<void> => {
          while (!over.signal.aborted) expect([200, 422]).toContain((await t.login(email)).status);
        };
        const logins = [keepTrying(), keepTrying(), keepTrying(), keepTrying()];
        await Promise.all([replaced().finally(() => over.abort()), ...logins]);
        const living = await t.database.query('SELECT id FROM svc_sessions WHERE user_id = $1 AND revoked_at IS NULL', [
          userId,
        ]);
        expect(living).toHaveLength(own ? 1 : 0);
        if (own) await t.get('/private', own.access_token).expect(200);
      }
    },
    RACES_MS,
  );
});
