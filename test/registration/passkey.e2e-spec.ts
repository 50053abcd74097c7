import { Auth, type AuthModuleOptions, PasskeyAdded, PasswordHasher, Registered, UserProvider } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import { type Tokens, claimsOf } from '../support/hosts/app';
import { linkIn, member, membersForFile, startMembers } from '../support/hosts/members';
import { NOT_REGISTERED, ORIGIN, PASSKEYS, storePasskey } from '../support/flows/passkeys';
import { recordStatements } from '../support/stores/query-plans';
import { CONFIRMATION_HEADER } from '../support/flows/step-up';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

@Entity('members')
class WithPassword {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Index({ unique: true })
  @Column({ type: 'text' })
  email!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ name: 'password_hash', type: 'text', select: false })
  passwordHash!: string;

  @Column({ name: 'email_verified_at', type: 'timestamptz', nullable: true })
  emailVerifiedAt!: Date | null;
}

const GRACE = 'grace@example.com';
const FIELDS = { name: 'Grace Hopper', email: GRACE };

const WITH_PASSKEYS: Partial<AuthModuleOptions> = {
  features: { passkeys: true, passkeyRegistration: true },
  passkeys: PASSKEYS.passkeys,
};

describe('a registration with a passkey', () => {
  const { t, mailbox } = membersForFile({
    ...WITH_PASSKEYS,
    storeTimeoutMs: 20_000,
    sessions: { ttlWithoutRemember: 3600 },
  });
  let device: SoftAuthenticator;
  beforeEach(() => void (device = new SoftAuthenticator(ORIGIN)));
  const begin = async (fields: object = FIELDS) =>
    (await t.http.post('/auth/register/passkey/options').send(fields).expect(200)).body;
  const finish = (body: object) => t.http.post('/auth/register/passkey').send(body);
  const answered = async (fields: object = FIELDS) => {
    const { ceremony_id, options } = await begin(fields);
    return { ...fields, ceremony_id, credential: device.create(options) };
  };
  const register = async (fields: object = FIELDS): Promise<Tokens> =>
    (await finish(await answered(fields)).expect(200)).body;
  const accounts = () => t.database.query('SELECT email, name, password_hash FROM members ORDER BY email');
  const passkeys = () => t.database.query('SELECT credential_id, user_id, user_handle, guard FROM svc_passkeys');
  const loginOptions = async () => (await t.http.post('/auth/passkeys/login-options').expect(200)).body;
  const signIn = async (id?: string) => {
    const { ceremony_id, options } = await loginOptions();
    return t.http.post('/auth/passkeys/login').send({ ceremony_id, credential: device.get(options, {}, id) });
  };
  const read = (path: string, token: string) => t.http.get(path).set('Authorization', `Bearer ${token}`).expect(200);
  const proofOf = async (token: string): Promise<string> => {
    const { ceremony_id, options } = await loginOptions();
    const body = { ceremony_id, credential: device.get(options) };
    return (await t.call('post', '/auth/confirm-passkey', token).send(body).expect(200)).body.confirmation_token;
  };

  it('starts a ceremony for a discoverable credential that verifies the user, with a random user handle', async () => {
    const [first, second] = [await begin(), await begin()];
    expect(first).toEqual({
      ceremony_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      options: expect.objectContaining({
        user: { id: expect.stringMatching(/^[\w-]{86}$/), name: GRACE, displayName: GRACE },
        excludeCredentials: [],
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      }),
    });
    expect(second.options.user.id).not.toBe(first.options.user.id);
    expect(await accounts()).toEqual([]);
  });

  it('creates the account and its passkey without a password, and signs the user in', async () => {
    const [registered, added] = [t.recorded(Registered), t.recorded(PasskeyAdded)];
    const tokens = await register();
    const [{ id }] = await t.database.query('SELECT id FROM members');
    expect(claimsOf(tokens.access_token)).toMatchObject({ sub: id, amr: ['webauthn'] });
    expect(await accounts()).toEqual([{ ...FIELDS, password_hash: null }]);
    const [passkey] = await passkeys();
    expect(passkey).toMatchObject({ user_id: id, guard: 'api', credential_id: [...device.held.keys()][0] });
    expect(registered).toEqual([{ user: expect.objectContaining({ email: GRACE }) }]);
    expect(added).toMatchObject([{ userId: id, credentialId: passkey.credential_id, guard: 'api' }]);
    expect(linkIn(await mailbox.to(GRACE)).pathname).toContain('/email/verify/');
  });

  it('stores an account that can sign in with the passkey, and with no password', async () => {
    await register();
    const { status, body } = await signIn();
    expect({ status, body }).toMatchObject({ status: 200 });
    expect(claimsOf(body.access_token).amr).toEqual(['webauthn']);
    for (const password of [PASSWORD, '', 'null'])
      await t.http.post('/auth/login').send({ email: GRACE, password }).expect(422);
  });

  it('does the same work for a password login to this account as for an unknown one', async () => {
    await register();
    const { library } = t.app.get(PasswordHasher) as unknown as { library: { verify: () => Promise<boolean> } };
    const verify = jest.spyOn(library, 'verify');
    const workOf = async (email: string) => {
      const { statements, stop } = recordStatements(/"(?:members|svc_\w+)"/);
      verify.mockClear();
      const { body } = await t.http.post('/auth/login').send({ email, password: PASSWORD }).expect(422);
      stop();
      return { body, hashes: verify.mock.calls.length, statements: statements.map(({ text }) => text) };
    };
    await workOf(GRACE);
    const own = await workOf(GRACE);
    expect(own).toEqual(await workOf('unknown@example.com'));
    expect(own.hashes).toBe(1);
    verify.mockRestore();
  });

  it('is deleted after a confirmation with the passkey', async () => {
    const { access_token } = await register();
    const refused = await t.call('delete', '/auth/account', access_token).expect(423);
    expect(refused.headers['x-svc-confirmation-methods']).toBe('passkey');
    const proof = await proofOf(access_token);
    await t.call('delete', '/auth/account', access_token).set(CONFIRMATION_HEADER, proof).expect(204);
    expect([await accounts(), await passkeys()]).toEqual([[], []]);
  });

  it('reads remember before the ceremony is used up', async () => {
    const body = await answered();
    const { body: refused } = await finish({ ...body, remember: 'maybe' }).expect(422);
    expect(Object.keys(refused.errors)).toEqual(['remember']);
    expect(await accounts()).toEqual([]);
    const { body: tokens } = await finish({ ...body, remember: 'off' }).expect(200);
    const [session] = await t.database.query(
      'SELECT extract(epoch FROM expires_at - created_at)::int AS ttl, remembered FROM svc_sessions WHERE id = $1',
      [claimsOf(tokens.access_token).fid],
    );
    expect(session).toEqual({ ttl: 3600, remembered: false });
  });

  it('keeps the user handle for later passkeys of the account, and lists it', async () => {
    const { access_token } = await register();
    const [{ user_handle }] = await passkeys();
    const proof = await proofOf(access_token);
    const call = (path: string) => t.call('post', `/auth/${path}`, access_token).set(CONFIRMATION_HEADER, proof);
    const { body: options } = await call('passkeys/registration-options').expect(200);
    expect(options.user.id).toBe(user_handle);
    await call('passkeys')
      .send({ credential: device.create(options) })
      .expect(204);
    expect((await signIn()).status).toBe(200);
    const { body: list } = await read('/auth/passkeys', access_token);
    expect(list.user_handle).toBe(user_handle);
    expect(list.passkeys).toHaveLength(2);
  });

  it.each([
    ['a name', { email: GRACE }, 'name'],
    ['an address', { name: 'Grace' }, 'email'],
    ['a valid address', { name: 'Grace', email: 'grace' }, 'email'],
  ])('is refused without %s, and does not use the ceremony up', async (_, fields, field) => {
    await t.http.post('/auth/register/passkey/options').send(fields).expect(422);
    const body = await answered();
    const { body: refused } = await finish({ ...fields, ceremony_id: body.ceremony_id, credential: body.credential });
    expect(Object.keys(refused.errors)).toEqual([field]);
    await finish(body).expect(200);
  });

  it.each([
    [
      'the user was not verified',
      (body: Body) => ({ ...body, credential: device.create(body.options, { uv: false }) }),
    ],
    ['the user was not present', (body: Body) => ({ ...body, credential: device.create(body.options, { up: false }) })],
    ['the page has another origin', (body: Body) => ({ ...body, credential: other.create(body.options) })],
    ['the address is not that of the ceremony', (body: Body) => ({ ...body, email: 'eve@example.com' })],
    ['the ceremony does not exist', (body: Body) => ({ ...body, ceremony_id: 'x' })],
    [
      'the credential is that of a login',
      (body: Body) => ({ ...body, credential: device.get({ ...body.options, rpId: 'example.com' }) }),
    ],
  ])('is refused if %s, and creates nothing', async (_, spoil) => {
    const { ceremony_id, options } = await begin();
    const body = { ...FIELDS, ceremony_id, options, credential: device.create(options) };
    expect((await finish(spoil(body)).expect(422)).body).toEqual(NOT_REGISTERED);
    expect([await accounts(), await passkeys()]).toEqual([[], []]);
  });
  type Body = { ceremony_id: string; options: Parameters<SoftAuthenticator['create']>[0]; credential: object };
  const other = new SoftAuthenticator('https://evil.example');

  it('creates no account for a passkey whose id exists', async () => {
    const body = await answered();
    await storePasskey(t, body.credential.id, 'another', null);
    expect((await finish(body).expect(422)).body).toEqual(NOT_REGISTERED);
    expect(await accounts()).toEqual([]);
  });

  it('creates no account when the passkey cannot be stored, and can be repeated', async () => {
    await t.database.query('ALTER TABLE svc_passkeys RENAME COLUMN aaguid TO gone');
    const failed = await finish(await answered());
    await t.database.query('ALTER TABLE svc_passkeys RENAME COLUMN gone TO aaguid');
    expect(failed.status).toBe(500);
    expect(await accounts()).toEqual([]);
    await register();
  });

  it('is refused for a taken address, in any spelling, and changes nothing', async () => {
    await member(t, ADA);
    const before = await accounts();
    const { body } = await finish(await answered({ ...FIELDS, email: ` ${ADA.toUpperCase()} ` })).expect(422);
    expect(Object.keys(body.errors)).toEqual(['email']);
    expect([await accounts(), await passkeys()]).toEqual([before, []]);
  });

  it('is refused when the address is taken during the request', async () => {
    const body = await answered();
    const users = t.app.get<Required<UserProvider>>(UserProvider as never);
    const create = users.create.bind(users);
    jest.spyOn(users, 'create').mockImplementationOnce(async (...given) => {
      await member(t, GRACE);
      return create(...given);
    });
    const refused = await finish(body).expect(422);
    expect(Object.keys(refused.body.errors)).toEqual(['email']);
    expect([await t.database.query('SELECT 1 FROM members'), await passkeys()]).toEqual([[expect.anything()], []]);
  });

  it('creates one account for many concurrent registrations of one address', async () => {
    const bodies = await Promise.all(
      Array.from({ length: 8 }, (_, i) => answered({ name: `Grace ${i}`, email: GRACE })),
    );
    const answers = await Promise.all(bodies.map((body) => finish(body)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 7 }, () => 422)]);
    expect([(await accounts()).length, (await passkeys()).length]).toEqual([1, 1]);
  });

  it('answers a ceremony once, for any number of concurrent answers', async () => {
    const body = await answered();
    const answers = await Promise.all(Array.from({ length: 8 }, () => finish(body)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 7 }, () => 422)]);
    expect([(await accounts()).length, (await passkeys()).length]).toEqual([1, 1]);
  });

  it('ends a ceremony with its first answer, also with a refused one', async () => {
    const body = await answered();
    await finish({ ...body, credential: { id: 'x' } }).expect(422);
    expect((await finish(body).expect(422)).body).toEqual(NOT_REGISTERED);
    expect(await accounts()).toEqual([]);
  });

  it('sets a first password after a confirmation with the passkey', async () => {
    const { access_token } = await register();
    const body = { password: PASSWORD, password_confirmation: PASSWORD };
    await t.call('post', '/auth/password', access_token).send(body).expect(423);
    const proof = await proofOf(access_token);
    await t.call('post', '/auth/password', access_token).set(CONFIRMATION_HEADER, proof).send(body).expect(200);
    await t.login(GRACE).expect(200);
  });

  it('is recovered by a reset link: a verified address gets a password and keeps the passkey', async () => {
    await register();
    // The mail of the registration is sent after its answer, and only while the address is not verified.
    await mailbox.to(GRACE);
    mailbox.clear();
    await t.database.query('UPDATE members SET email_verified_at = now()');
    await t.http.post('/auth/forgot-password').send({ email: GRACE }).expect(200);
    const token = linkIn(await mailbox.to(GRACE)).searchParams.get('token');
    const body = { email: GRACE, token, password: PASSWORD, password_confirmation: PASSWORD };
    await t.http.post('/auth/reset-password').send(body).expect(200);
    await t.login(GRACE).expect(200);
    expect((await signIn()).status).toBe(200);
  });

  it('verifies its address by the mailed link', async () => {
    const { access_token } = await register();
    const { pathname, search } = linkIn(await mailbox.to(GRACE));
    await t.http
      .get(pathname + search)
      .set('Accept', 'application/json')
      .expect(204);
    expect(await t.database.query('SELECT 1 FROM members WHERE email_verified_at IS NOT NULL')).toHaveLength(1);
    await read('/auth/sessions', access_token);
  });

  it('is a server call, too', async () => {
    const { passkeys: flow } = t.app.get(Auth);
    const source = { ip: '203.0.113.7' };
    const { ceremonyId, options } = await flow.accountOptions(FIELDS, source);
    const credential = device.create(options as never);
    const answer = await flow.registerAccount({ ceremonyId, credential }, FIELDS, source);
    expect(answer).toMatchObject({ accessToken: expect.any(String) });
    await expect(flow.registerAccount({ ceremonyId, credential }, FIELDS, source)).rejects.toMatchObject({
      status: 422,
    });
  });
});

describe('a registration with a passkey that blocks unverified addresses', () => {
  const { t, mailbox } = membersForFile({ ...WITH_PASSKEYS, emailVerification: { blockUnverifiedLogin: true } });

  it('starts a session only after the address was verified', async () => {
    const device = new SoftAuthenticator(ORIGIN);
    const { ceremony_id, options } = (await t.http.post('/auth/register/passkey/options').send(FIELDS)).body;
    const body = { ...FIELDS, ceremony_id, credential: device.create(options) };
    const answer = await t.http.post('/auth/register/passkey').send(body).expect(201);
    expect(answer.body).toEqual({ registered: true, requires_verification: true });
    const signIn = async () => {
      const started = (await t.http.post('/auth/passkeys/login-options')).body;
      const credential = device.get(started.options);
      return t.http.post('/auth/passkeys/login').send({ ceremony_id: started.ceremony_id, credential });
    };
    expect((await signIn()).status).toBe(403);
    const { pathname, search } = linkIn(await mailbox.to(GRACE));
    await t.http
      .get(pathname + search)
      .set('Accept', 'application/json')
      .expect(204);
    expect((await signIn()).status).toBe(200);
  });
});

describe('a registration with a passkey that calls hooks.register', () => {
  const given: unknown[] = [];
  const { t } = membersForFile({
    ...WITH_PASSKEYS,
    hooks: {
      register: async (fields) => {
        given.push(fields);
        const { name, email } = fields as { name: string; email: string };
        const [user] = await t.database.query(
          'INSERT INTO members (name, email) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id',
          [name, email],
        );
        return user ?? null;
      },
    },
  });

  it('passes the fields without a password, and stores the passkey of the new user', async () => {
    const device = new SoftAuthenticator(ORIGIN);
    const { ceremony_id, options } = (await t.http.post('/auth/register/passkey/options').send(FIELDS)).body;
    const body = { ...FIELDS, password: PASSWORD, ceremony_id, credential: device.create(options) };
    const { body: tokens } = await t.http.post('/auth/register/passkey').send(body).expect(200);
    expect(given).toEqual([FIELDS]);
    expect(await t.database.query('SELECT user_id FROM svc_passkeys')).toEqual([
      { user_id: claimsOf(tokens.access_token).sub },
    ]);
  });
});

describe('without features.passkeyRegistration', () => {
  const { t } = membersForFile({ features: { passkeys: true }, passkeys: PASSKEYS.passkeys });

  it('no account is registered with a passkey', async () => {
    await t.http.post('/auth/register/passkey/options').send(FIELDS).expect(404);
    await t.http.post('/auth/register/passkey').send(FIELDS).expect(404);
    await expect(t.auth.passkeys.accountOptions(FIELDS, {})).rejects.toMatchObject({
      cause: { message: expect.stringContaining('features.passkeyRegistration') },
    });
  });
});

describe('an application with features.passkeyRegistration', () => {
  it.each([
    ['features.passkeys', { passkeys: false }],
    ['features.registration', { registration: false }],
  ])('does not start without %s', async (needed, features) => {
    const options = { ...WITH_PASSKEYS, features: { ...WITH_PASSKEYS.features, ...features } };
    await expect(startMembers(options)).rejects.toThrow(`features.passkeyRegistration needs ${needed}`);
  });

  it('does not start with users that need a password', async () => {
    const options = { ...WITH_PASSKEYS, users: { entity: WithPassword } };
    await expect(startMembers(options, { entities: [WithPassword] })).rejects.toThrow(
      'Make the column passwordHash nullable',
    );
  });
});
