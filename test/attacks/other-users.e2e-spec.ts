import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, AttackedHost, type Visitor } from './support/attacked-host';
import { ROUTES, credentials, routeNamed } from './support/routes';
import { CHALLENGE, CONFIRMATION, claimsOf, confirmationTokenFor, purposeToken } from './support/jws';
import type { Answer, RawRequest } from './support/raw-client';
import { CONFIRMATION_HEADER } from '../support/flows/step-up';
import { altered } from '../support/clients/forge';
import { linkIn } from '../support/hosts/members';
import { describeWithRedis } from '../support/stores/with-redis';

const PASSWORDS = { password: 'plum-violin-harbour-7', password_confirmation: 'plum-violin-harbour-7' };

/** Headers that differ between any two responses. */
const OWN = new Set(['date', 'x-ratelimit-remaining', 'keep-alive']);

describeWithRedis('accounts of other users', () => {
  let host: AttackedHost;

  beforeAll(async () => (host = await AttackedHost.start()));
  afterAll(() => host.stop());

  describe('cannot be distinguished from unknown accounts by', () => {
    let known: Visitor;

    beforeAll(async () => {
      known = await host.visitor();
    });
    const seen = ({ status, text, headers }: Answer): object => ({
      status,
      text,
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.has(name))),
    });

    /** The visible parts of a response and its cost, after all background work has finished. */
    async function measured(send: RawRequest): Promise<{ seen: object; hashes: number; queries: number }> {
      const before = await settled();
      const answer = await host.wire.send(send);
      const after = await settled();
      return { seen: seen(answer), hashes: after.hashes - before.hashes, queries: after.queries - before.queries };
    }

    async function settled(): Promise<{ hashes: number; queries: number }> {
      let last = await host.ask('work');
      for (;;) {
        await sleep(25);
        const now = await host.ask('work');
        if (now.queries === last.queries && now.hashes === last.hashes) return now;
        last = now;
      }
    }

    const post = (path: string, body: object): RawRequest => ({ method: 'POST', path, body });

    it.each(['api', 'admin'])('the response or the work of a failed login at %s', async (guard) => {
      const { email } = await host.visitor(guard);
      const passwordless = await host.visitor(guard);
      const table = guard === 'api' ? 'members' : 'operators';
      await host.sql(`UPDATE ${table} SET password_hash = NULL WHERE email = $1`, [passwordless.email]);
      const login = (identifier: unknown): RawRequest =>
        post(`${host.paths[guard]}/login`, { email: identifier, password: 'wrong' });
      const right = await measured(login(email));
      expect(right.hashes).toBe(1);
      for (const other of [`${randomUUID()}@example.com`, passwordless.email, 'x', `${email}\0`, "' OR 1=1 --"]) {
        const one = await measured(login(other));
        expect({ other, seen: one.seen, hashes: one.hashes }).toEqual({ other, seen: right.seen, hashes: 1 });
      }
      const unknown = await measured(login(`${randomUUID()}@example.com`));
      expect(unknown.queries).toBe(right.queries);
    });

    it('the response or the work of a request for a verification mail by address', async () => {
      const ask = (email: string): RawRequest => post('/auth/email/verification-request', { email });
      const { email: unverified } = await host.visitor();
      const first = await measured(ask(unverified));
      expect(first.seen).toMatchObject({ status: 202 });
      for (const email of [unverified, `${randomUUID()}@example.com`])
        expect(await measured(ask(email))).toEqual(first);
    });

    it('the response or the number of hashes of a forgotten password', async () => {
      const forgot = (email: string): RawRequest => post('/auth/forgot-password', { email });
      const first = await measured(forgot(known.email));
      const second = await measured(forgot(known.email));
      const unknown = await measured(forgot(`${randomUUID()}@example.com`));
      expect([second.seen, unknown.seen]).toEqual([first.seen, first.seen]);
      expect([second.hashes, unknown.hashes]).toEqual([first.hashes, first.hashes]);
    });

    it('the response or the work of a failed reset', async () => {
      await host.post('/auth/forgot-password', { email: known.email });
      const token = linkIn(await host.mailTo(known.email, 1)).searchParams.get('token')!;
      const stranger = await host.visitor();
      const reset = (email: string, secret: string): RawRequest =>
        post('/auth/reset-password', { email, token: secret, ...PASSWORDS });
      const wrong = await measured(reset(known.email, 'f'.repeat(64)));
      expect(wrong.hashes).toBe(1);
      const others = [
        await measured(reset(`${randomUUID()}@example.com`, token)),
        await measured(reset(stranger.email, token)),
        await measured(reset(stranger.email, 'f'.repeat(64))),
        await measured(reset(known.email, token.toUpperCase())),
      ];
      expect(others).toEqual(others.map(() => wrong));
    });

    it('the response to a failed refresh, for any invalid token', async () => {
      const [revoked, expired] = [await host.visitor(), await host.visitor()];
      await host.wire.send({
        method: 'POST',
        path: '/auth/logout',
        headers: credentials({ needs: 'token' } as never, revoked),
      });
      await host.sql(`UPDATE svc_sessions SET expires_at = now() - interval '1 minute' WHERE id = $1`, [
        claimsOf(expired.access).fid,
      ]);
      const admin = await host.visitor('admin');
      const tokens = [
        revoked.refresh,
        expired.refresh,
        admin.refresh,
        altered(known.refresh),
        'f'.repeat(64),
        'f'.repeat(71),
        'x',
        '',
        known.access,
        ['x'],
        null,
        7,
      ];
      const answers: object[] = [];
      for (const refresh_token of tokens) answers.push(seen(await host.post('/auth/refresh', { refresh_token })));
      expect(answers).toEqual(answers.map(() => answers[0]));
      expect(answers[0]).toMatchObject({ status: 401 });
    });

    it('the response to a failed login challenge of any user', async () => {
      const answers: object[] = [];
      for (const visitor of [known, await host.visitor(), await host.visitor()])
        answers.push(
          seen(
            await host.post('/auth/two-factor-challenge', {
              challenge_token: purposeToken(CHALLENGE, visitor),
              code: '000000',
            }),
          ),
        );
      expect(answers).toEqual(answers.map(() => answers[0]));
    });

    it('the passkey request options, which do not depend on a user', async () => {
      const shape = async (body: object): Promise<object> => {
        const { status, text } = await host.post('/auth/passkeys/login-options', body);
        const { ceremony_id, options } = JSON.parse(text);
        return { status, named: typeof ceremony_id, options: { ...options, challenge: typeof options.challenge } };
      };
      expect(await shape({ email: known.email })).toEqual(await shape({ email: 'nobody@example.com' }));
      expect(JSON.stringify(await shape({ email: known.email }))).not.toMatch(/allowCredentials":\[\{/);
    });

    it('the response to an invalid email verification link, whatever is wrong with it', async () => {
      const route = routeNamed('POST /auth/email/verification-notification');
      const visitor = await host.visitor();
      await host.post(route.path, {}, credentials(route, visitor));
      const { pathname, search } = linkIn(await host.mailTo(visitor.email, 1));
      const [start, id, hash] = [pathname.split('/').slice(0, -2).join('/'), ...pathname.split('/').slice(-2)];
      const forged = [
        `${start}/${known.id}/${hash}${search}`,
        `${start}/${randomUUID()}/${hash}${search}`,
        `${start}/${id}/${'a'.repeat(40)}${search}`,
        `${pathname}${search}&${search.slice(1)}`,
        `${pathname}?expires=1&${search.slice(1)}`,
        `${pathname}${search.replace(/expires=\d/, 'expires=9')}`,
        `${pathname}${search.slice(0, -1)}`,
        `${pathname}`,
        `${pathname}?signature=x&expires=1`,
        `${pathname}?expires=1&expires=2&signature[]=x`,
      ];
      const answers: object[] = [];
      for (const path of forged) answers.push(seen(await host.wire.send({ path })));
      expect(answers).toEqual(answers.map(() => answers[0]));
      expect(answers[0]).toMatchObject({ status: 403 });
      const rows = await host.sql('SELECT 1 FROM members WHERE email_verified_at IS NOT NULL');
      expect(rows).toEqual([]);
    });

    it('the response of any guarded route without a token', async () => {
      const answers = ROUTES.filter(({ needs, guard }) => needs !== 'nothing' && guard === 'api').map(
        ({ method, path }) => host.wire.send({ method, path, body: { email: known.email } }),
      );
      const all = (await Promise.all(answers)).map(({ status, text }) => ({ status, text }));
      expect(all).toEqual(all.map(() => ({ status: 401, text: '{"message":"Authentication is required."}' })));
    });
  });

  describe('are protected:', () => {
    let mine: Visitor;
    let other: Visitor;
    let admin: Visitor;

    beforeAll(async () => {
      [mine, other, admin] = [await host.visitor(), await host.visitor(), await host.visitor('admin')];
      for (const [id, { id: user, guard }] of [
        ['cGFzc2tleS1vdGhlcg', other],
        ['cGFzc2tleS1hZG1pbg', admin],
      ] as const)
        await host.sql(
          `INSERT INTO svc_passkeys (credential_id, user_id, guard, name, public_key, sign_count, transports, aaguid, backup_eligible, backed_up, created_at, updated_at)
         VALUES ($1, $2, $3, 'theirs', 'x', 0, '[]', $4, false, false, now(), now())`,
          [id, user, guard, randomUUID()],
        );
    });
    const as = (visitor: Visitor): Record<string, string> => credentials({ needs: 'proof' } as never, visitor);
    const sessionOf = ({ access }: Visitor): string => String(claimsOf(access).fid);
    const works = async (visitor: Visitor): Promise<number> =>
      (await host.wire.send({ path: `${host.paths[visitor.guard]}/sessions`, headers: as(visitor) })).status;

    it('a session is answered 404 and continues', async () => {
      const ids = [
        sessionOf(other),
        sessionOf(other).toUpperCase(),
        sessionOf(admin),
        randomUUID(),
        'x',
        `${sessionOf(other)}%20`,
      ];
      const answers = await Promise.all(
        ids.map((id) => host.wire.send({ method: 'DELETE', path: `/auth/sessions/${id}`, headers: as(mine) })),
      );
      expect(answers.map(({ status, text }) => [status, text])).toEqual(
        ids.map(() => [404, '{"message":"There is nothing here."}']),
      );
      const crossed = { method: 'DELETE', path: `/admin/auth/sessions/${sessionOf(mine)}`, headers: as(admin) };
      expect((await host.wire.send(crossed)).status).toBe(404);
      expect([await works(mine), await works(other), await works(admin)]).toEqual([200, 200, 200]);
    });

    it('ending all own sessions ends no session of another user', async () => {
      const own = await host.visitor();
      for (const path of ['/auth/sessions/others', '/auth/sessions'])
        expect((await host.wire.send({ method: 'DELETE', path, headers: as(own) })).status).toBe(204);
      expect([await works(own), await works(other), await works(admin)]).toEqual([401, 200, 200]);
    });

    it('a passkey is answered 404 and keeps its name', async () => {
      const ids = ['cGFzc2tleS1vdGhlcg', 'cGFzc2tleS1hZG1pbg', 'bm9ib2R5'];
      for (const [method, status] of [
        ['PATCH', 404],
        ['DELETE', 204],
      ] as const) {
        const answers = await Promise.all(
          ids.map((id) =>
            host.wire.send({ method, path: `/auth/passkeys/${id}`, headers: as(mine), body: { name: 'stolen' } }),
          ),
        );
        const [first] = answers;
        expect(first!.status).toBe(status);
        expect(answers.map(({ text }) => text)).toEqual(ids.map(() => first!.text));
      }
      expect(await host.sql('SELECT name FROM svc_passkeys')).toEqual([{ name: 'theirs' }, { name: 'theirs' }]);
    });

    it('no list and no export contains it', async () => {
      const strange = [other, admin].flatMap((visitor) => [visitor.email, sessionOf(visitor)]);
      for (const path of [
        '/auth/sessions',
        '/auth/passkeys',
        '/auth/account/export',
        '/auth/two-factor/recovery-codes',
      ]) {
        const { status, text } = await host.wire.send({ path, headers: as(mine) });
        expect(status).toBe(200);
        for (const one of [...strange, 'cGFzc2tleS']) expect(text).not.toContain(one);
      }
    });

    it('a user id in a body or in a query has no effect', async () => {
      const claims = {
        id: other.id,
        user_id: other.id,
        userId: other.id,
        sub: other.id,
        fid: sessionOf(other),
        guard: 'admin',
      };
      const query = new URLSearchParams(claims).toString();
      for (const route of ROUTES.filter(({ needs, guard }) => needs !== 'nothing' && guard === 'api')) {
        const victim = await host.visitor();
        const { method, path, body } = route;
        await host.wire.send({
          method,
          path: `${path}?${query}`,
          body: { ...body?.(victim), ...claims },
          headers: credentials(route, victim),
        });
      }
      expect([await works(other), await works(admin)]).toEqual([200, 200]);
    });

    it('a confirmation of another user, session or guard is refused', async () => {
      const again = await host.visitor();
      const [second] = await host.sql<{ id: string }>('SELECT id FROM svc_sessions WHERE user_id = $1', [again.id]);
      const proofs = [
        confirmationTokenFor(other),
        confirmationTokenFor(admin),
        purposeToken(CONFIRMATION, mine, { fid: second!.id }),
        purposeToken(CONFIRMATION, mine, { fid: undefined }),
      ];
      const attacks = ROUTES.filter(({ needs }) => needs === 'proof').flatMap(({ name, method, path }) =>
        proofs.map((proof, i): Attack => ({
          name: `${name} ${i}`,
          send: { method, path, headers: { ...as(mine), [CONFIRMATION_HEADER]: proof }, body: {} },
          status: [423],
        })),
      );
      expect(await host.withstand(attacks)).toEqual([]);
    });

    it('a reset link with another address resets no password', async () => {
      const [first, second] = [await host.visitor(), await host.visitor()];
      await host.post('/auth/forgot-password', { email: first.email });
      const token = linkIn(await host.mailTo(first.email, 1)).searchParams.get('token');
      const reset = (email: string) => host.post('/auth/reset-password', { token, email, ...PASSWORDS });
      for (const email of [second.email, admin.email]) expect((await reset(email)).status).toBe(422);
      expect((await reset(first.email)).status).toBe(200);
      expect((await reset(first.email)).status).toBe(422);
    });

    it('a registration with the address of an account, in any spelling, is refused', async () => {
      const route = routeNamed('POST /auth/register');
      for (const email of [other.email, other.email.toUpperCase(), ` ${other.email}\n`, `\ufeff${other.email}`]) {
        const { status } = await host.post(route.path, { ...route.body!(other), email, id: other.id, role: 'admin' });
        expect(status).toBe(422);
      }
      const { text } = await host.post(route.path, {
        ...route.body!(other),
        role: 'admin',
        emailVerifiedAt: new Date(),
        id: other.id,
      });
      const { sub } = claimsOf((JSON.parse(text) as { access_token: string }).access_token);
      expect(sub).not.toBe(other.id);
      expect(await host.sql('SELECT role, email_verified_at AS at FROM members WHERE id = $1', [sub])).toEqual([
        { role: 'customer', at: null },
      ]);
    });

    it.each(['api', 'admin'])(
      'a session of %s that is pinned to no ability cannot manage the account',
      async (guard) => {
        const [pinned] = await host.ask('visitors', 1, guard, []);
        const open = [
          'two-factor',
          'two-factor/confirm',
          'passkeys/registration-options',
          'email/verification-notification',
          'logout',
        ];
        const gated = ROUTES.filter((route) => route.guard === guard && route.needs !== 'nothing').filter(
          ({ method, path }) =>
            !(method !== 'GET' && open.some((one) => path.endsWith(one))) &&
            !/^(POST|PATCH|DELETE) \S*\/(passkeys\S*|two-factor\/recovery-codes)$/.test(`${method} ${path}`),
        );
        expect(gated.length).toBeGreaterThanOrEqual(guard === 'api' ? 10 : 5);
        const attacks = gated.map((route): Attack => {
          const { name, method, path, body } = route;
          return {
            name,
            send: { method, path, body: body?.(pinned!) ?? {}, headers: credentials(route, pinned!) },
            status: [403],
          };
        });
        expect(await host.withstand(attacks)).toEqual([]);
      },
    );
  });

  it('are attacked without harm to the process', async () => {
    expect(await host.aftermath()).toEqual([]);
  });
});
