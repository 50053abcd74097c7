import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestApp, Tokens } from '../support/hosts/app';
import { CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { type Mailbox, linkIn, member, startMembers } from '../support/hosts/members';
import { PASSWORD } from '../support/hosts/user-entities';
import { type Answer, type HostProcess, send, startProcesses } from '../support/hosts/processes';
import { RACES_MS, rounds } from '../support/runtime/rounds';
import { asConfirmed, codeOf, secretIn } from '../support/flows/two-factor';
import { describeWithRedis, sharedRedisUrl } from '../support/stores/with-redis';

const NEXT = 'another horse entirely';
const CHOSEN = { password: NEXT, password_confirmation: NEXT };
/** A long timeout: even on a slow machine, no request to the surviving process times out. */
const OPTIONS = {
  features: { twoFactor: true, lockout: true },
  hashing: { memoryCost: 64, timeCost: 1, maxQueue: 1000, maxWaitMs: 20_000 },
  storeTimeoutMs: 20_000,
};
/** The number of killed processes, and the number of requests of each kind that they are working on. */
const ROUNDS = rounds(1);
const OF_EACH = 6;

describeWithRedis('a process that is killed during', () => {
  let t: TestApp;
  let mailbox: Mailbox;

  beforeAll(async () => {
    ({ t, mailbox } = await startMembers(OPTIONS));
  });
  afterAll(() => t.stop());

  const launch = async (): Promise<HostProcess> => {
    const stores = { databaseUrl: t.databaseUrl, redisUrl: sharedRedisUrl()! };
    return (await startProcesses(1, stores, OPTIONS, 'member-host-process.ts'))[0]!;
  };

  /** A request to the killed process, and what must be true afterwards at the surviving one. */
  interface Operation {
    send(url: string): Promise<Answer>;
    check(answered: number | null): Promise<void>;
  }

  const passwordsThatWork = async (email: string): Promise<string[]> => {
    const tried = await Promise.all([PASSWORD, NEXT].map(async (one) => (await t.login(email, one)).status === 200));
    return [PASSWORD, NEXT].filter((_, i) => tried[i]);
  };

  async function signedIn(): Promise<{ email: string; tokens: Tokens }> {
    const email = `${randomUUID()}@example.com`;
    await member(t, email);
    return { email, tokens: await t.session(email) };
  }

  const operations: Record<string, () => Promise<Operation>> = {
    'a login': async () => {
      const { email } = await signedIn();
      return {
        send: (url) => send(`${url}/auth/login`, 'POST', { email, password: PASSWORD }),
        check: async () => void (await t.login(email).expect(200)),
      };
    },
    'a second step': async () => {
      const { email, tokens } = await signedIn();
      const proof = await confirmationTokenOf(t, tokens.access_token);
      const { body } = await asConfirmed(t, 'post', '/auth/two-factor', tokens.access_token, proof).expect(200);
      const code = codeOf(t, secretIn(body.otpauth_uri));
      const confirm = asConfirmed(t, 'post', '/auth/two-factor/confirm', tokens.access_token, proof);
      await confirm.send({ code }).expect(204);
      const answer = async (recovery_code: string) => {
        const { body: challenge } = await t.login(email).expect(200);
        return { challenge_token: challenge.challenge_token, recovery_code };
      };
      const first = await answer(body.recovery_codes[0]);
      return {
        send: (url) => send(`${url}/auth/two-factor-challenge`, 'POST', first),
        // Whether the first code was used or not, another one signs the user in.
        check: async () => {
          const again = await answer(body.recovery_codes[1]);
          await t.http.post('/auth/two-factor-challenge').send(again).expect(200);
        },
      };
    },
    'a change of password': async () => {
      const { email, tokens } = await signedIn();
      const change = { current_password: PASSWORD, ...CHOSEN };
      return {
        send: (url) => send(`${url}/auth/password`, 'POST', change, tokens.access_token),
        check: async (answered) => {
          const working = await passwordsThatWork(email);
          expect(working).toHaveLength(1);
          if (answered === 200) expect(working).toEqual([NEXT]);
          await t.refresh(tokens.refresh_token).expect(200);
        },
      };
    },
    'a reset of a password': async () => {
      const { email } = await signedIn();
      await t.http.post('/auth/forgot-password').send({ email }).expect(200);
      const token = linkIn(await mailbox.to(email)).searchParams.get('token');
      return {
        send: (url) => send(`${url}/auth/reset-password`, 'POST', { email, token, ...CHOSEN }),
        check: async (answered) => {
          const working = await passwordsThatWork(email);
          expect(working).toHaveLength(1);
          if (answered === 200) expect(working).toEqual([NEXT]);
          // Without a response, the client can repeat the request: it succeeds, or the link has been used.
          const { status } = await t.http.post('/auth/reset-password').send({ email, token, ...CHOSEN });
          expect([200, 422]).toContain(status);
        },
      };
    },
    'the end of an account': async () => {
      const { email, tokens } = await signedIn();
      const proof = await confirmationTokenOf(t, tokens.access_token);
      return {
        send: (url) =>
          send(`${url}/auth/account`, 'DELETE', undefined, tokens.access_token, { [CONFIRMATION_HEADER]: proof }),
        check: async (answered) => {
          const { status, body } = await t.login(email);
          if (answered === 204) expect(status).toBe(422);
          if (status === 422) return;
          // The account exists completely and can be deleted again.
          const again = await confirmationTokenOf(t, body.access_token);
          // A process deletes two accounts at a time, and refuses others before anything has ended.
          const erase = () => asConfirmed(t, 'delete', '/auth/account', body.access_token, again);
          let erased = (await erase()).status;
          while (erased === 503) erased = (await erase()).status;
          expect(erased).toBe(204);
        },
      };
    },
  };

  const names = Object.keys(operations).join(', ');

  it.each(Array.from({ length: ROUNDS }, (_, i) => i + 1))(
    `${names}: keeps every account intact and accessible to its owner, process %i`,
    async () => {
      const all = Object.values(operations);
      const [victim, first, prepared] = await Promise.all([
        launch(),
        Promise.all(all.map((operation) => operation())),
        Promise.all(Array.from({ length: OF_EACH }, () => all.map((operation) => operation())).flat()),
      ]);
      // The first requests of a process are slower than later ones.
      const start = performance.now();
      await Promise.all(first.map((operation) => operation.send(victim.url)));
      const duration = performance.now() - start;
      const sent = prepared.map((operation) => operation.send(victim.url).catch(() => null));
      await sleep(Math.random() * duration);
      victim.stop();
      const answers = await Promise.all(sent);
      await Promise.all(prepared.map((operation, i) => operation.check(answers[i]?.status ?? null)));
    },
    RACES_MS,
  );
});
