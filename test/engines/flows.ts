import { SoftAuthenticator } from '@svc/auth/testing';
import type { Tokens } from '../support/app';
import { linkIn } from '../support/members';
import { ORIGIN } from '../support/passkeys';
import { codeAt, secretIn, stepOf } from '../support/totp';
import type { Engine } from './engine';
import { Account, type Node, TwoNodes, refreshOf } from './nodes';

const NEXT = 'another horse entirely';
const chosen = (password = NEXT) => ({ password, password_confirmation: password });

const GRACE = 30;
const LOCK_AFTER = 4;
const REFRESHES_A_MINUTE = 20;

/** The duration of a time step of a one-time password in seconds. */
const STEP = 30;

const statuses = (answers: { status: number }[]): number[] => answers.map(({ status }) => status).toSorted();

/** What clients do, on two nodes of an application that share the stores of an engine. */
export function flows(engine: Engine): void {
  const suite = engine.missing ? describe.skip : describe;
  const needs = engine.missing ? ` (needs ${engine.missing})` : '';
  suite(`two nodes on ${engine.name}${needs}`, () => {
    const nodes = new TwoNodes();
    let a: Node;
    let b: Node;
    let user: Account;

    beforeAll(async () => {
      await nodes.start(await engine.start(), {
        lockout: { maxAttempts: LOCK_AFTER },
        rateLimits: {
          login: { maxAttempts: 1e6, ipMaxAttempts: 1e6, accountMaxAttempts: 1e6 },
          refresh: { maxAttempts: REFRESHES_A_MINUTE },
          twoFactor: { maxAttempts: 1e6 },
          confirm: { maxAttempts: 1e6 },
        },
      });
      [a, b] = [nodes.a, nodes.b];
    });
    afterAll(() => nodes.stop());
    beforeEach(async () => void (user = await Account.create(nodes)));

    /** The session is refused on both nodes, with its access token and with its refresh token. */
    async function expectEnded(session: Tokens): Promise<void> {
      for (const node of nodes.all) {
        await user.guarded(node, session.access_token, 401);
        await user.refresh(node, session.refresh_token, 401);
      }
    }

    /** Enrols a second factor on the first node. */
    async function enrol(): Promise<{ secret: string; recoveryCodes: string[] }> {
      const { access_token: token } = await user.session(a);
      const proof = await user.confirm(b, token);
      const begun = await user.call(a, 200, { path: '/auth/two-factor', token, proof });
      const secret = secretIn(begun.otpauth_uri!);
      const body = { code: codeAt(secret, stepOf(b.t.clock)) };
      await user.call(b, 204, { path: '/auth/two-factor/confirm', body, token, proof });
      nodes.advance(STEP);
      return { secret, recoveryCodes: begun.recovery_codes as unknown as string[] };
    }

    const challenge = async (node: Node): Promise<string> => (await user.login(node)).challenge_token!;
    const answer = (body: object) => ({ path: '/auth/two-factor-challenge', body });

    it('login: a session of one node is accepted by the other', async () => {
      await user.login(a, 422, 'wrong');
      const { access_token: token } = await user.session(a);
      const seen = await user.guarded(b, token);
      expect(seen.user).toMatchObject({ email: user.email });
      await user.guarded(a, token);
      await user.guarded(b, token.slice(0, -3), 401);
      await user.call(b, 401, { method: 'GET', path: '/private' });
    });

    it('refresh: each node continues a session of the other', async () => {
      let tokens = await user.session(a);
      for (const node of [b, a, b]) {
        const next = await user.refresh(node, tokens.refresh_token);
        expect(next.refresh_token).not.toBe(tokens.refresh_token);
        tokens = next;
      }
      await user.guarded(a, tokens.access_token);
    });

    it('refresh: eight at once with one token get one successor, and every answer is usable', async () => {
      const { refresh_token: token } = await user.session(a);
      const all = await Promise.all(Array.from({ length: 8 }, (_, i) => user.refresh(i % 2 ? a : b, token)));
      expect(new Set(all.map((one) => one.refresh_token)).size).toBe(1);
      for (const [i, { access_token: access }] of all.entries()) await user.guarded(i % 2 ? b : a, access);
      const rows = await a.t.database.query('SELECT generation FROM svc_sessions s WHERE user_id = $1', [
        (await a.t.database.query('SELECT id FROM members WHERE email = $1', [user.email]))[0].id,
      ]);
      expect(rows).toEqual([{ generation: 1 }]);
      await user.refresh(a, all[0]!.refresh_token);
    });

    it('refresh: a replay after the grace period ends the session on both nodes', async () => {
      const first = await user.session(a);
      const next = await user.refresh(b, first.refresh_token);
      expect((await user.refresh(a, first.refresh_token)).refresh_token).toBe(next.refresh_token);
      nodes.advance(GRACE + 1);
      await user.guarded(a, next.access_token);
      await user.refresh(a, first.refresh_token, 401);
      await expectEnded(next);
    });

    it('logout: the other node refuses the session at once', async () => {
      const [leaving, staying] = [await user.session(a), await user.session(a)];
      await user.guarded(b, leaving.access_token);
      await user.call(a, 204, { path: '/auth/logout', token: leaving.access_token });
      await expectEnded(leaving);
      await user.guarded(b, staying.access_token);
    });

    it('logout: one request ends all sessions of the user, or all others', async () => {
      const [own, other, third] = [await user.session(a), await user.session(b), await user.session(a)];
      await user.call(b, 204, { method: 'DELETE', path: '/auth/sessions/others', token: own.access_token });
      await expectEnded(other);
      await expectEnded(third);
      await user.guarded(a, own.access_token);
      const another = await user.session(a);
      await user.call(b, 204, { method: 'DELETE', path: '/auth/sessions', token: another.access_token });
      await expectEnded(own);
      await expectEnded(another);
    });

    it('second factor: a code answers the challenge of the other node, once', async () => {
      const { secret } = await enrol();
      const code = codeAt(secret, stepOf(a.t.clock));
      const { access_token: token } = await user.call(b, 200, answer({ challenge_token: await challenge(a), code }));
      await user.guarded(a, token!);
      await user.call(a, 422, answer({ challenge_token: await challenge(b), code }));
    });

    it('second factor: a challenge and a recovery code are used once, also at the same time', async () => {
      const [first, second] = (await enrol()).recoveryCodes;
      const token = await challenge(a);
      const codes = [first, second];
      const answers = await Promise.all(
        codes.map((recovery_code, i) => user.ask([a, b][i]!, answer({ challenge_token: token, recovery_code }))),
      );
      expect(statuses(answers)).toEqual([200, 422]);
      const recovery_code = codes[answers.findIndex(({ status }) => status === 422)];
      const challenges = [await challenge(a), await challenge(b)];
      const both = challenges.map((challenge_token, i) =>
        user.ask([a, b][i]!, answer({ challenge_token, recovery_code })),
      );
      expect(statuses(await Promise.all(both))).toEqual([200, 422]);
    });

    it('registration: the other node knows the account, and verifies its address', async () => {
      const newcomer = new Account();
      const body = { name: 'Bob', email: newcomer.email, ...chosen(newcomer.password) };
      const { access_token: token } = await newcomer.call(a, 200, { path: '/auth/register', body });
      await newcomer.guarded(b, token!);
      await newcomer.call(b, 422, { path: '/auth/register', body });
      const { pathname, search } = linkIn(await nodes.mailbox.to(newcomer.email));
      const state = 'SELECT email_verified_at IS NOT NULL AS verified FROM members WHERE email = $1';
      expect(await b.t.database.query(state, [newcomer.email])).toEqual([{ verified: false }]);
      const { status } = await fetch((await b.t.app.getUrl()) + pathname + search, {
        headers: { Accept: 'application/json' },
        redirect: 'manual',
      });
      expect([204, 302]).toContain(status);
      expect(await a.t.database.query(state, [newcomer.email])).toEqual([{ verified: true }]);
    });

    it('confirmation: the other node accepts it, for its session only', async () => {
      const { access_token: token } = await user.session(a);
      const proof = await user.confirm(a, token);
      const data = { method: 'GET', path: '/auth/account/export', token } as const;
      await user.call(b, 423, data);
      expect(await user.call(b, 200, { ...data, proof })).toMatchObject({ account: { identifier: user.email } });
      const { access_token: another } = await user.session(b);
      await user.call(a, 423, { ...data, token: another, proof });
    });

    it('forgotten password: the other node accepts the link, once, and every session ends', async () => {
      const session = await user.session(a);
      await user.call(a, 200, { path: '/auth/forgot-password', body: { email: user.email } });
      const token = linkIn(await nodes.mailbox.to(user.email)).searchParams.get('token');
      const reset = { path: '/auth/reset-password', body: { email: user.email, token, ...chosen() } };
      const answers = await Promise.all([user.ask(a, reset), user.ask(b, reset)]);
      expect(statuses(answers)).toEqual([200, 422]);
      await expectEnded(session);
      await user.login(a, 422);
      await user.login(b, 200, NEXT);
    });

    it('change of the password: every other session ends on both nodes', async () => {
      const [own, other] = [await user.session(a), await user.session(b)];
      const body = { current_password: user.password, ...chosen() };
      await user.call(a, 200, { path: '/auth/password', body, token: own.access_token });
      await expectEnded(other);
      await user.guarded(b, own.access_token);
      await user.login(b, 422);
      await user.login(b, 200, NEXT);
    });

    it('deletion: after it both nodes refuse the account', async () => {
      const [session, other] = [await user.session(a), await user.session(b)];
      const proof = await user.confirm(a, session.access_token);
      await user.call(a, 204, { method: 'DELETE', path: '/auth/account', token: session.access_token, proof });
      await expectEnded(session);
      await expectEnded(other);
      await user.login(b, 422);
    });

    it('rate limits: both nodes count together, also at the same time', async () => {
      const sent = Array.from({ length: REFRESHES_A_MINUTE + 4 }, (_, i) =>
        user.ask(i % 2 ? a : b, refreshOf('not a token')),
      );
      const counts = statuses(await Promise.all(sent));
      expect(counts.filter((status) => status === 401)).toHaveLength(REFRESHES_A_MINUTE);
      expect(new Set(counts)).toEqual(new Set([401, 429]));
      for (const node of nodes.all) expect((await user.ask(node, refreshOf('not a token'))).status).toBe(429);
      const someone = new Account();
      expect((await someone.ask(b, refreshOf('not a token'))).status).toBe(401);
    });

    it('lockout: both nodes count together, and no guess is admitted beyond the limit', async () => {
      const body = { email: user.email, password: 'wrong' };
      const guesses = Array.from({ length: 3 * LOCK_AFTER }, (_, i) =>
        user.ask(i % 2 ? a : b, { path: '/auth/login', body }),
      );
      const counts = statuses(await Promise.all(guesses));
      expect(counts.filter((status) => status === 422)).toHaveLength(LOCK_AFTER);
      expect(new Set(counts)).toEqual(new Set([422, 423]));
      for (const node of nodes.all) await user.login(node, 423);
    });

    it('passkey: each step of a ceremony can be on the other node, and the ceremony is used once', async () => {
      const { access_token: token } = await user.session(a);
      const proof = await user.confirm(b, token);
      const authenticator = new SoftAuthenticator(ORIGIN);
      const creation = await user.call(a, 200, { path: '/auth/passkeys/registration-options', token, proof });
      const credential = authenticator.create(creation as never);
      await user.call(b, 204, { path: '/auth/passkeys', body: { credential }, token, proof });
      const begun = await user.call(a, 200, { path: '/auth/passkeys/login-options' });
      const body = { ceremony_id: begun.ceremony_id, credential: authenticator.get(begun.options as never) };
      const answers = await Promise.all(
        nodes.all.map((node) => user.ask(node, { path: '/auth/passkeys/login', body })),
      );
      expect(statuses(answers)).toEqual([200, 422]);
      await user.guarded(a, answers.find(({ status }) => status === 200)!.body.access_token!);
    });
  });
}
