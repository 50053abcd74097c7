import { AccountReleased, SessionEnded, TwoFactorDisabled } from '@svc/auth';
import { AuthConsoleModule } from '@svc/auth/console';
import { OPERATOR_ABILITIES, OperatorActed } from '@svc/auth/operators';
import { CommandFactory } from 'nest-commander';
import { runInProcess } from '../console/in-process';
import {
  type SignedInOperator,
  act,
  granted,
  operatorOptions,
  operatorSession,
  resetGranted,
} from '../support/flows/operators';
import { CONFIRMATION_HEADER } from '../support/flows/step-up';
import { enrol } from '../support/flows/two-factor';
import { Mailbox, RESET_URL, linkIn, member, membersForFile } from '../support/hosts/members';
import { ADA, Member, PASSWORD } from '../support/hosts/user-entities';

const ROOT = 'root@example.com';
const OPERATORS = '/admin/auth/operators';

/** Each action with a body that is right, and the ability that it needs. */
const ACTIONS: [action: string, ability: keyof typeof OPERATOR_ABILITIES, body: object][] = [
  ['end-sessions', 'sessions', { all: true }],
  ['release', 'locks', {}],
  ['remove-credential', 'credentials', { kind: 'two_factor' }],
  ['require-password', 'passwords', {}],
  ['suspend', 'suspensions', {}],
  ['restore', 'suspensions', {}],
  ['act', 'act', {}],
];

describe('the actions of an operator', () => {
  const mailbox = new Mailbox();
  const { t } = membersForFile(
    operatorOptions({
      mail: { mailer: mailbox, notices: true },
      lockout: { maxAttempts: 3 },
      confirm: { ttl: 120 },
      features: { twoFactor: true, lockout: true, audit: true, knownDevices: true, emailCode: true },
      knownDevices: { mail: false },
    }),
  );
  let user: string;
  let operator: SignedInOperator;

  beforeEach(async () => {
    mailbox.clear();
    resetGranted();
    user = await member(t, ADA, { emailVerifiedAt: new Date(0) });
    await t.person(ROOT, 'admin');
    operator = await operatorSession(t);
  });

  const subjects = async (): Promise<string[]> => {
    await t.calm();
    return mailbox.mails.filter(({ to }) => to === ADA).map(({ subject }) => subject);
  };

  it('show an account without a secret, found by its identifier in another spelling or by its id', async () => {
    await enrol(t, ADA);
    const found = await t.call('post', `${OPERATORS}/find`, operator.token).send({ identifier: 'ADA@Example.com' });
    expect(found.body.data).toEqual([{ id: user, identifier: ADA, email: ADA, email_verified: true }]);
    const none = await t.call('post', `${OPERATORS}/find`, operator.token).send({ identifier: 'bob@example.com' });
    expect([none.status, none.body]).toEqual([200, { data: [] }]);
    const { body, text } = await t.get(`${OPERATORS}/users/${user}`, operator.token).expect(200);
    expect(body).toMatchObject({ user: { id: user }, suspension: null, locks: [], sessions: [{ current: false }] });
    expect(body.credentials).toMatchObject({ two_factor: { enabled: true }, recovery_codes: 8 });
    expect(body).toMatchObject({
      has_password: true,
      last_sign_in_at: expect.stringMatching(/Z$/),
      created_at: expect.any(String),
    });
    const { passwordHash, twoFactorSecret } = await t.database.getRepository(Member).findOneOrFail({
      where: { id: user },
      select: { passwordHash: true, twoFactorSecret: true },
    });
    for (const secret of [passwordHash, twoFactorSecret]) expect(text).not.toContain(secret);
    await t.database.getRepository(Member).update(user, { passwordHash: null as never });
    expect((await t.get(`${OPERATORS}/users/${user}`, operator.token)).body.has_password).toBe(false);
  });

  it('end one session or all of them, and tell the user', async () => {
    const [first, second, third] = [await t.session(), await t.session(), await t.session()];
    const ended = t.recorded(SessionEnded);
    const { body } = await t.get(`${OPERATORS}/users/${user}`, operator.token);
    const [{ id: latest }] = body.sessions;
    await act(t, operator, user, 'end-sessions', { session: latest }).expect(204);
    await t.get('/private', third.access_token).expect(401);
    await t.get('/private', first.access_token).expect(200);
    await act(t, operator, user, 'end-sessions', { all: true }).expect(204);
    for (const { access_token: token } of [first, second]) await t.get('/private', token).expect(401);
    await t.refresh(first.refresh_token).expect(401);
    expect(ended.map(({ reason }) => reason)).toEqual(['operator', 'operator', 'operator']);
    expect(await subjects()).toContainEqual(expect.stringMatching(/signed out/));
    await t.session();
  });

  it('release a locked account', async () => {
    for (let i = 0; i < 3; i++) await t.login(ADA, 'wrong').expect(422);
    await t.login(ADA).expect(423);
    const { body } = await t.get(`${OPERATORS}/users/${user}`, operator.token);
    expect(body.locks).toEqual([{ purpose: 'login', seconds: null }]);
    const limit = { name: 'account-failures', failures: 3, most: expect.any(Number), seconds: expect.any(Number) };
    expect(body.limits).toEqual([limit]);
    const again = await t.get(`${OPERATORS}/users/${user}`, operator.token);
    expect(again.body.limits).toEqual([limit]);
    const released = t.recorded(AccountReleased);
    await act(t, operator, user, 'release').expect(204);
    expect(released).toHaveLength(1);
    expect((await t.get(`${OPERATORS}/users/${user}`, operator.token)).body).toMatchObject({ locks: [], limits: [] });
    await t.session();
  });

  it('remove a second factor that the user has lost', async () => {
    await enrol(t, ADA);
    expect((await t.login(ADA)).body).toMatchObject({ two_factor: true });
    const disabled = t.recorded(TwoFactorDisabled);
    await act(t, operator, user, 'remove-credential', { kind: 'two_factor' }).expect(204);
    expect(disabled).toHaveLength(1);
    expect((await t.login(ADA)).body).toHaveProperty('access_token');
    expect(await subjects()).toContainEqual(expect.stringMatching(/factor/));
    const again = await act(t, operator, user, 'remove-credential', { kind: 'two_factor' }).expect(409);
    expect(again.body.reason).toBe('nothing_to_remove');
    for (const kind of ['passkeys', 'recovery_codes', 'sessions', '__proto__', 'x'.repeat(200)]) {
      const unknown = await act(t, operator, user, 'remove-credential', { kind, credential: 'x' }).expect(422);
      expect(unknown.body.errors.kind).toEqual([
        'Name one of these kinds: trusted_devices, two_factor, known_devices.',
      ]);
    }
    await t.session();
    const { credentials } = (await t.get(`${OPERATORS}/users/${user}`, operator.token)).body;
    const device = { kind: 'known_devices', credential: credentials.known_devices[0].id };
    await act(t, operator, user, 'remove-credential', device).expect(204);
    await act(t, operator, user, 'remove-credential', device).expect(409);
  });

  it('require a new password, which the owner of the mailbox chooses', async () => {
    const session = await t.session();
    await act(t, operator, user, 'require-password').expect(204);
    await t.get('/private', session.access_token).expect(401);
    await t.login(ADA).expect(422);
    const link = linkIn(await mailbox.after(0, ({ text }) => text.includes(RESET_URL)));
    const password = 'another horse entirely';
    const reset = { email: ADA, token: link.searchParams.get('token'), password, password_confirmation: password };
    await t.http.post('/auth/reset-password').send(reset).expect(200);
    await t.login(ADA, password).expect(200);
  });

  it('suspend a user until an operator restores it', async () => {
    const session = await t.session();
    await act(t, operator, user, 'suspend').expect(204);
    await t.get('/private', session.access_token).expect(401);
    await t.refresh(session.refresh_token).expect(401);
    const { body } = await t.login(ADA).expect(401);
    expect(body.message).toMatch(/sign in/);
    await t.login(ADA, 'wrong').expect(422);
    await expect(t.auth.startSession(user)).rejects.toThrow();
    expect(await subjects()).toContainEqual(expect.stringMatching(/suspended/));
    mailbox.clear();
    const asked = await Promise.all(
      [ADA, 'no-one@example.com'].map((email) => t.http.post('/auth/login/code').send({ email }).expect(202)),
    );
    for (const { body: sent } of asked) {
      const answer = { code_token: sent.code_token, code: '000000' };
      expect((await t.http.post('/auth/login/code/verify').send(answer)).body).toHaveProperty('errors.code');
    }
    expect(await subjects()).toEqual([]);
    const shown = await t.get(`${OPERATORS}/users/${user}`, operator.token);
    expect(shown.body.suspension).toMatchObject({ reason: 'ticket 7', ends_at: null });
    expect((await act(t, operator, user, 'act').expect(409)).body.reason).toBe('cannot_act');
    await act(t, operator, user, 'restore').expect(204);
    expect((await act(t, operator, user, 'restore').expect(409)).body.reason).toBe('not_suspended');
    await t.session();
    await t.refresh(session.refresh_token).expect(401);
  });

  it('suspend a user for a time', async () => {
    const until = new Date(t.clock.now() + 3600_000).toISOString();
    await act(t, operator, user, 'suspend', { until }).expect(204);
    t.clock.advance(3500);
    await t.login(ADA).expect(401);
    t.clock.advance(101);
    await t.session();
    operator = await operatorSession(t);
    for (const wrong of [
      'tomorrow',
      '2020-01-01T00:00:00Z',
      '2999-01-01T00:00:00Z',
      '2027-01-31',
      '2027-02-31T00:00:00Z',
      '2027-13-01T00:00:00Z',
      7,
      {},
      [],
      '',
      ' \t',
    ])
      await act(t, operator, user, 'suspend', { until: wrong }).expect(422);
    for (const wrong of [{ seconds: '' }, { seconds: 0 }, { abilities: ' ' }])
      await act(t, operator, user, 'act', wrong).expect(422);
    await t.session();
  });

  describe.each(ACTIONS)('%s', (action, ability, body) => {
    const name = OPERATOR_ABILITIES[ability];
    const others = Object.values(OPERATOR_ABILITIES).filter((other) => other !== name);

    it('needs its own ability, a confirmation of this session and a reason', async () => {
      const acted = t.recorded(OperatorActed);
      const path = `${OPERATORS}/users/${user}/${action}`;
      await t.http.post(path).send(body).expect(401);
      await t
        .call('post', path, operator.token)
        .send({ reason: 'x', ...body })
        .expect(423);
      const { access_token: ofUser } = await t.session();
      await act(t, { token: ofUser, proof: operator.proof }, user, action, body).expect(401);
      for (const reason of ['', '   ', null, 7, ['x'], 'x'.repeat(256)])
        await act(t, operator, user, action, { ...body, reason }).expect(422);
      await act(
        t,
        await operatorSession(t).then((other) => ({ ...other, proof: operator.proof })),
        user,
        action,
        body,
      ).expect(423);
      t.clock.advance(200);
      await act(t, operator, user, action, body).expect(423);
      granted.admin = others;
      const without = await operatorSession(t);
      await act(t, without, user, action, body).expect(403);
      granted.admin = [];
      await act(t, await operatorSession(t), user, action, body).expect(403);
      expect(acted).toEqual([]);
      await t.get('/private', ofUser).expect(200);
    });

    it('does not find a user that does not exist', async () => {
      for (const id of ['0b3c7c1e-6f0e-4a58-9c8e-000000000000', '7', 'nobody', '%00', "'--", '__proto__'])
        expect([404, 400]).toContain((await act(t, operator, id, action, body)).status);
      expect((await act(t, operator, '7', action, body)).body.reason).toBe('no_such_user');
    });

    it('works for a user in every state, and says so when it has no effect', async () => {
      const members = t.database.getRepository(Member);
      const states: ((email: string, id: string) => Promise<unknown>)[] = [
        async () => undefined,
        (email) => t.session(email),
        async (email) => {
          for (let i = 0; i < 3; i++) await t.login(email, 'wrong');
        },
        (_, id) => members.update(id, { emailVerifiedAt: null }),
        (email) => enrol(t, email),
        (_, id) => members.update(id, { passwordHash: null as never }),
        (_, id) => act(t, operator, id, 'suspend').expect(204),
      ];
      for (const [i, reach] of states.entries()) {
        const email = `state${i}@example.com`;
        const id = await member(t, email, { emailVerifiedAt: new Date(0) });
        await reach(email, id);
        const first = await act(t, operator, id, action, body);
        expect([200, 204, 409]).toContain(first.status);
        await t.get(`${OPERATORS}/users/${id}`, operator.token).expect(200);
      }
    });

    it('is announced with the operator, and without the reason in the log', async () => {
      if (action === 'restore') await act(t, operator, user, 'suspend').expect(204);
      if (action === 'remove-credential') await enrol(t, ADA);
      const acted = t.recorded(OperatorActed);
      const { status } = await act(t, operator, user, action, body);
      expect([200, 204]).toContain(status);
      const by = { guard: 'admin', userId: '1' };
      expect(acted).toEqual([
        { guard: 'api', userId: user, action: action.replaceAll('-', '_'), operator: by, reason: 'ticket 7' },
      ]);
    });
  });

  it('are refused with 422 for a text that cannot be stored, and with 404 for no session', async () => {
    const { access_token: token } = await t.session();
    await act(t, operator, user, 'suspend', { reason: '\u0000x' }).expect(422);
    for (const abilities of [[{ toString: null }], [null], [['orders.read']], 'orders.read'])
      await act(t, operator, user, 'act', { abilities }).expect(422);
    const { body } = await act(t, operator, user, 'act', { abilities: Array(101).fill('orders.read') }).expect(422);
    expect(body.message).toContain('more than 100 items');
    for (const wrong of [{}, { session: ' ' }, { all: false }, { session: 'x', all: true }, { session: '\u0000' }])
      await act(t, operator, user, 'end-sessions', wrong).expect(422);
    for (const session of ['x', '0b3c7c1e-6f0e-4a58-9c8e-000000000000'])
      await act(t, operator, user, 'end-sessions', { session }).expect(404);
    for (const id of ['%00', 'x', user]) await t.get(`${OPERATORS}/users/${id}/history`, operator.token).expect(200);
    await t.get('/private', token).expect(200);
  });

  it('are in the history with the operator, the reason, and the sessions that they ended', async () => {
    await t.session();
    await act(t, operator, user, 'suspend').expect(204);
    await act(t, operator, user, 'remove-credential', { kind: 'two_factor' }).expect(409);
    await t.calm();
    const { body } = await t.get(`${OPERATORS}/users/${user}/history`, operator.token).expect(200);
    const by = { actor: 'operator', actor_guard: 'admin', actor_id: '1' };
    expect(body.data.slice(0, 4).toReversed()).toMatchObject([
      { operation: 'auth.operator.acted', outcome: 'succeeded', reason: 'suspend', text: 'ticket 7', ...by },
      { operation: 'auth.session.ended', reason: 'suspended', ...by },
      { operation: 'auth.operator.acted', outcome: 'succeeded', reason: 'remove_credential two_factor', ...by },
      { operation: 'auth.operator.acted', outcome: 'failed', reason: 'remove_credential two_factor', ...by },
    ]);
    expect((await t.get(`${OPERATORS}/users/${user}`, operator.token)).body.credentials).not.toHaveProperty('audit');
    await act(t, operator, user, 'restore').expect(204);
    const { access_token: token } = await t.session();
    const { text } = await t.get('/auth/history', token).expect(200);
    expect(text).toContain('"actor":"operator"');
    expect(text).not.toMatch(/ticket 7|actor_id/);
  });

  it('leave a line that says that they failed, if PostgreSQL writes their line after their answer', async () => {
    const { access_token: token } = await t.session();
    await t.database.transaction(async (manager) => {
      await manager.query('LOCK TABLE svc_audit IN EXCLUSIVE MODE');
      await act(t, operator, user, 'end-sessions', { all: true }).expect(503);
    });
    await t.calm();
    const lines = await t.database.query<{ outcome: string }[]>(
      `SELECT outcome FROM svc_audit WHERE user_id = $1 AND operation = 'auth.operator.acted' ORDER BY id`,
      [user],
    );
    expect(lines.at(-1)).toEqual({ outcome: 'failed' });
    await t.get('/private', token).expect(200);
  });

  it('concern the user of the call, whatever a body names', async () => {
    const other = await member(t, 'bob@example.com', { emailVerifiedAt: new Date(0) });
    const source = { headers: { authorization: `Bearer ${operator.token}` }, confirmationToken: operator.proof };
    const body = { reason: 'x', svcUser: other };
    await t.auth.guard('admin').operators.suspend(user, body, source);
    await t.session('bob@example.com');
    await t.login(ADA).expect(401);
  });

  it('are commands of the console, each with a reason, which show what they did', async () => {
    const application = { get: t.app.get.bind(t.app), close: async () => undefined };
    const module = AuthConsoleModule.forApplication(async () => application);
    const run = (...args: string[]) =>
      runInProcess(() => CommandFactory.run(module, ['error']), ['svc:user', ...args, '--yes']);
    await t.session();
    expect((await run('suspend', ADA)).status).toBe(1);
    for (const wrong of [
      ['suspend', 'bob@example.com'],
      ['remove', ADA],
      ['restore', ADA, '--reason', 'x'],
      ['remove-factor', ADA, '--reason', 'x'],
      ['show', ADA, '--guard', 'admin'],
      ['show', ROOT],
      ['show', ROOT, '--guard', 'x'],
    ])
      expect((await run(...wrong)).status).toBe(1);
    const [done] = JSON.parse(`[${(await run('sessions', ADA, '--json')).stdout}]`);
    expect(done).toMatchObject([{ actor: 'user' }]);
    const suspended = await run('suspend', ADA, '--reason', 'ticket 7');
    expect(suspended).toMatchObject({ status: 0, stdout: `Done: suspend of ${user}.\n` });
    await t.login(ADA).expect(401);
    expect((await run('show', ADA)).stdout).toContain('"reason":"ticket 7"');
    expect((await run('sessions', ADA)).stdout).toBe('The user has no session.\n');
    expect((await run('restore', user, '--reason', 'x')).status).toBe(0);
    expect((await run('show', ROOT, '--guard', 'admin')).stdout).toContain(ROOT);
    await t.session();
  });

  it('answer a proof of another guard with 423', async () => {
    const { access_token: token } = await t.session();
    const proof = await t.call('post', '/auth/confirm-password', token).send({ password: PASSWORD }).expect(200);
    await act(t, { ...operator, proof: proof.body.confirmation_token }, user, 'suspend').expect(423);
    await t
      .call('post', `${OPERATORS}/users/${user}/suspend`, token)
      .set(CONFIRMATION_HEADER, proof.body.confirmation_token)
      .send({ reason: 'x' })
      .expect(401);
  });
});

describe('operators among the users whom they help', () => {
  const { t } = membersForFile(operatorOptions({ features: { twoFactor: true } }, { users: { entity: Member } }));
  let self: string;
  let colleague: string;
  let user: string;
  let operator: SignedInOperator;

  beforeEach(async () => {
    resetGranted();
    granted.admin = [];
    [self, colleague, user] = [await member(t, ROOT), await member(t, 'eve@example.com'), await member(t, ADA)];
    granted[`admin:${self}`] = ['svc.operators.*'];
    granted[`admin:${colleague}`] = [OPERATOR_ABILITIES.read];
    operator = await operatorSession(t, ROOT);
  });

  it.each(ACTIONS)('cannot %s another operator or themselves', async (action, _, body) => {
    const refused = await Promise.all([self, colleague].map((id) => act(t, operator, id, action, body).expect(403)));
    expect(refused.map((answer) => answer.body.reason)).toEqual(['own_account', 'operator_protected']);
    await t.get(`${OPERATORS}/users/${colleague}`, operator.token).expect(200);
  });

  it('suspend a user at every guard with these users', async () => {
    granted[`admin:${user}`] = [];
    const staff = await t.session(ADA, 'admin');
    await act(t, operator, user, 'suspend').expect(204);
    await t.get('/staff', staff.access_token).expect(401);
    await t.login(ADA, PASSWORD, 'admin').expect(401);
    await t.login(ADA).expect(401);
  });
});
