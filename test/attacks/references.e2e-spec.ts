import { randomUUID } from 'node:crypto';
import { type Attack, Attacked, type Visitor } from './support/attacked';
import { ROUTES, credentials, routeNamed } from './support/routes';
import { CONFIRMATION, claimsOf, proofFor, purposeToken } from './support/jws';
import { HEADER } from '../support/confirming';
import { linkIn } from '../support/members';
import { describeWithRedis } from '../support/with-redis';

const NEW = { password: 'plum-violin-harbour-7', password_confirmation: 'plum-violin-harbour-7' };

describeWithRedis('what belongs to somebody else', () => {
  let host: Attacked;
  let mine: Visitor;
  let other: Visitor;
  let admin: Visitor;

  beforeAll(async () => {
    host = await Attacked.start();
    [mine, other, admin] = [await host.visitor(), await host.visitor(), await host.visitor('admin')];
    for (const [id, { id: user, guard }] of [
      ['cGFzc2tleS1vdGhlcg', other],
      ['cGFzc2tleS1hZG1pbg', admin],
    ] as const)
      await host.sql(
        `INSERT INTO passkeys (credential_id, user_id, guard, name, public_key, sign_count, transports, aaguid, backup_eligible, backed_up, created_at, updated_at)
         VALUES ($1, $2, $3, 'theirs', 'x', 0, '[]', $4, false, false, now(), now())`,
        [id, user, guard, randomUUID()],
      );
  });
  afterAll(() => host.stop());

  const as = (visitor: Visitor): Record<string, string> => credentials({ needs: 'proof' } as never, visitor);
  const sessionOf = ({ access }: Visitor): string => String(claimsOf(access).fid);
  const works = async (visitor: Visitor): Promise<number> =>
    (await host.wire.send({ path: `${host.paths[visitor.guard]}/sessions`, headers: as(visitor) })).status;

  it('a session: it is not there, and goes on', async () => {
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

  it('all sessions: ending one`s own ends nobody else`s', async () => {
    const own = await host.visitor();
    for (const path of ['/auth/sessions/others', '/auth/sessions'])
      expect((await host.wire.send({ method: 'DELETE', path, headers: as(own) })).status).toBe(204);
    expect([await works(own), await works(other), await works(admin)]).toEqual([401, 200, 200]);
  });

  it('a passkey: it is not there, keeps its name, and stays', async () => {
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
    expect(await host.sql('SELECT name FROM passkeys')).toEqual([{ name: 'theirs' }, { name: 'theirs' }]);
  });

  it('no list and no export shows any of it', async () => {
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

  it('what names an owner in a body or in a query counts for nothing', async () => {
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

  it('a step-up: another`s, another session`s, another guard`s', async () => {
    const again = await host.visitor();
    const [second] = await host.sql<{ id: string }>('SELECT id FROM svc_sessions WHERE user_id = $1', [again.id]);
    const proofs = [
      proofFor(other),
      proofFor(admin),
      purposeToken(CONFIRMATION, mine, { fid: second!.id }),
      purposeToken(CONFIRMATION, mine, { fid: undefined }),
    ];
    const attacks = ROUTES.filter(({ needs }) => needs === 'proof').flatMap(({ name, method, path }) =>
      proofs.map((proof, i): Attack => ({
        name: `${name} ${i}`,
        send: { method, path, headers: { ...as(mine), [HEADER]: proof }, body: {} },
        status: [423],
      })),
    );
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('a reset link: with another address it resets nobody', async () => {
    const [first, second] = [await host.visitor(), await host.visitor()];
    await host.post('/auth/forgot-password', { email: first.email });
    const token = linkIn(await host.mailTo(first.email, 1)).searchParams.get('token');
    const reset = (email: string) => host.post('/auth/reset-password', { token, email, ...NEW });
    for (const email of [second.email, admin.email]) expect((await reset(email)).status).toBe(422);
    expect((await reset(first.email)).status).toBe(200);
    expect((await reset(first.email)).status).toBe(422);
  });

  it('an account: whoever registers with its address, in any spelling, does not get in', async () => {
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

  it.each(['api', 'admin'])('a session of %s that is pinned to nothing manages nothing', async (guard) => {
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
  });

  it('leaves the process whole', async () => {
    expect(await host.aftermath()).toEqual([]);
  });
});
