import { PasskeyBackupChanged, PasskeyCloneDetected } from '@svc/auth';
import { TestApp, claimsOf } from '../support/hosts/app';
import { ENCRYPTION_KEY } from '../support/hosts/host.module';
import { type Confirmed, NOT_VERIFIED, ORIGIN, PASSKEYS, PasskeyApp, UNKNOWN_PASSKEY } from '../support/flows/passkeys';
import { SoftAuthenticator } from '@svc/auth/testing';
import { VerifiablePerson } from '../support/hosts/user-entities';
import { userProvidersOf } from '../support/stores/user-reads';

describe('the stored key of a passkey', () => {
  const app = PasskeyApp.forFile();
  const authenticator = new SoftAuthenticator(ORIGIN);
  let ada: Confirmed;

  beforeEach(async () => {
    ada = await app.confirmed();
    await app.enrol(ada, authenticator);
  });

  const tamper = (set: string): Promise<unknown> => app.t.database.query(`UPDATE svc_passkeys SET ${set}`);

  it('is encrypted', async () => {
    const [{ public_key: sealed }] = (await app.rows()) as [{ public_key: string }];
    expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]{130,}$/);
  });

  it.each([
    ['damaged', "public_key = left(public_key, -2) || 'AA'"],
    ['not encrypted', "public_key = 'pQECAyYgASFYIA'"],
    ['encrypted under an unknown key', "public_key = replace(public_key, split_part(public_key, '.', 2), '00000000')"],
  ])('that is %s is a fault of the server and not a wrong passkey', async (_, set) => {
    const sessions = await app.sessions();
    await tamper(set);
    const { status, body } = await app.attempt(authenticator);
    expect({ status, body }).toEqual({ status: 500, body: { message: 'Something went wrong on our side.' } });
    expect(await app.sessions()).toBe(sessions);
  });

  it('is valid in its own row only, not for another owner or another passkey', async () => {
    await tamper("user_id = '2'");
    const bob = Buffer.from('2').toString('base64url');
    expect((await app.attempt(authenticator, { userHandle: bob })).status).toBe(500);
    await tamper("user_id = '1'");
    const other = await app.enrol(ada, new SoftAuthenticator(ORIGIN));
    await app.t.database.query(
      'UPDATE svc_passkeys SET public_key = (SELECT public_key FROM svc_passkeys WHERE credential_id <> $1) WHERE credential_id = $1',
      [other],
    );
    const { ceremony_id, options } = await app.requestOptions();
    const forged = { ...authenticator.get(options), id: other, rawId: other };
    await app.login(ceremony_id, forged).expect(500);
  });

  it('is valid for its own guard only', async () => {
    const next = await TestApp.start({ databaseUrl: app.t.databaseUrl, options: { ...PASSKEYS, guard: 'members' } });
    const signIn = async () => {
      const { body } = await next.http.post('/auth/passkeys/login-options').expect(200);
      const answer = { ceremony_id: body.ceremony_id, credential: authenticator.get(body.options) };
      return (await next.http.post('/auth/passkeys/login').send(answer)).status;
    };
    expect(await signIn()).toBe(422);
    await tamper("guard = 'members'");
    expect(await signIn()).toBe(500);
    await next.stop();
    await tamper("guard = 'api'");
    expect((await app.attempt(authenticator)).status).toBe(200);
  });

  it('that was encrypted under a former key signs in', async () => {
    const next = await TestApp.start({
      databaseUrl: app.t.databaseUrl,
      options: {
        ...PASSKEYS,
        encryption: { key: 'the-next-key-of-encryption-at-rest-0123', previousKeys: [ENCRYPTION_KEY] },
      },
    });
    const { body } = await next.http.post('/auth/passkeys/login-options').expect(200);
    const answer = { ceremony_id: body.ceremony_id, credential: authenticator.get(body.options) };
    await next.http.post('/auth/passkeys/login').send(answer).expect(200);
    await next.stop();
  });

  it('that cannot be read because the table is missing is a fault of the server', async () => {
    const creation = await app.creationOptions(ada);
    await app.t.database.query('ALTER TABLE svc_passkeys RENAME TO elsewhere');
    try {
      expect((await app.attempt(authenticator)).status).toBe(500);
      expect((await app.register(ada, new SoftAuthenticator(ORIGIN).create(creation))).status).toBe(500);
    } finally {
      await app.t.database.query('ALTER TABLE elsewhere RENAME TO passkeys');
    }
  });
});

describe('the user of a passkey', () => {
  let beforeTokens: () => unknown;
  const app = PasskeyApp.forFile({
    users: { entity: VerifiablePerson },
    emailVerification: { blockUnverifiedLogin: true },
    hooks: { tokenClaims: async () => ({ host: await beforeTokens() }) },
  });
  const authenticator = new SoftAuthenticator(ORIGIN);
  let ada: Confirmed;

  beforeEach(async () => {
    beforeTokens = () => undefined;
    await app.verifyEmails();
    ada = await app.confirmed();
    await app.enrol(ada, authenticator);
  });

  it('who was deleted gets no session', async () => {
    await app.t.database.query('DELETE FROM people WHERE id = 1');
    const sessions = await app.sessions();
    const { status, body, headers } = await app.attempt(authenticator);
    expect({ status, body }).toEqual({ status: 401, body: { message: 'Authentication is required.' } });
    expect(headers['www-authenticate']).toBe('Bearer');
    expect(await app.sessions()).toBe(sessions);
  });

  it('who is deleted before the session is stored gets no session', async () => {
    beforeTokens = () => app.t.database.query('DELETE FROM people');
    const sessions = await app.sessions();
    const { status, body } = await app.attempt(authenticator);
    expect({ status, body }).toEqual({ status: 401, body: { message: 'Authentication is required.' } });
    expect(await app.sessions()).toBe(sessions);
  });

  it('who must verify the email first gets no session, and the answer says so', async () => {
    for (const users of userProvidersOf(app.t)) jest.spyOn(users, 'isEmailVerified').mockReturnValue(false);
    const sessions = await app.sessions();
    const { status, body } = await app.attempt(authenticator);
    expect({ status, body }).toEqual({
      status: 403,
      body: { message: 'Please verify your email address before you sign in.' },
    });
    expect(await app.sessions()).toBe(sessions);
  });

  it('is the subject of an access token that is valid at its own guard only', async () => {
    const { access_token } = await app.signIn(authenticator);
    expect(claimsOf(access_token)).toMatchObject({ sub: '1' });
    await app.t.get('/private', access_token).expect(200);
    await app.t.get('/staff', access_token).expect(401);
    await app.t.http.post('/admin/auth/passkeys/login-options').expect(404);
    await app.t.http.post('/admin/auth/confirm-passkey').expect(404);
  });

  it('loses the session that the passkey opened when the passkey is deleted in another one', async () => {
    const { access_token } = await app.signIn(authenticator);
    const [{ credential_id }] = (await app.rows()) as [{ credential_id: string }];
    await app.call('delete', `passkeys/${credential_id}`, ada).expect(204);
    await app.t.get('/private', access_token).expect(401);
    expect((await app.attempt(authenticator)).body).toEqual(UNKNOWN_PASSKEY);
  });

  it('may have at most 50 passkeys', async () => {
    await app.t.database.query(`
      INSERT INTO svc_passkeys (credential_id, user_id, guard, public_key, aaguid, backup_eligible, backed_up, created_at, updated_at)
      SELECT n::text, '1', 'api', '', gen_random_uuid(), false, false, now(), now() FROM generate_series(1, 48) n`);
    const next = new SoftAuthenticator(ORIGIN);
    await app.enrol(ada, next);
    expect((await app.call('get', 'passkeys', ada)).body.passkeys).toHaveLength(50);
    const credential = next.create(await app.creationOptions(ada));
    expect((await app.register(ada, credential)).status).toBe(422);
    await app.enrol(await app.confirmed('bob@example.com'), next);
  });

  it('has no access to the passkeys of a user with the same id at another guard', async () => {
    await app.t.database.query(`
      INSERT INTO svc_passkeys (credential_id, user_id, guard, public_key, aaguid, backup_eligible, backed_up, created_at, updated_at)
      SELECT 'AAA' || n, '1', 'admin', '', gen_random_uuid(), false, false, now(), now() FROM generate_series(0, 9) n`);
    const others = (await app.rows()).filter(({ guard }) => guard === 'admin');
    expect(others).toHaveLength(10);
    expect((await app.call('get', 'passkeys', ada)).body.all_accepted_credential_ids).toEqual([
      [...authenticator.held.keys()].at(-1),
    ]);
    expect((await app.creationOptions(ada)).excludeCredentials).toHaveLength(1);
    await app.call('patch', 'passkeys/AAA0', ada).send({ name: 'mine' }).expect(404);
    await app.call('delete', 'passkeys/AAA0', ada).expect(204);
    expect((await app.rows()).filter(({ guard }) => guard === 'admin')).toEqual(others);
    // Passkeys of another guard do not count towards the limit of 50.
    await app.t.database.query(`
      INSERT INTO svc_passkeys (credential_id, user_id, guard, public_key, aaguid, backup_eligible, backed_up, created_at, updated_at)
      SELECT 'BBB' || n, '1', 'admin', '', gen_random_uuid(), false, false, now(), now() FROM generate_series(1, 50) n`);
    await app.enrol(ada, new SoftAuthenticator(ORIGIN));
  });

  it('whose identifier is not a text is shown to the authenticator by the id', async () => {
    for (const users of userProvidersOf(app.t)) jest.spyOn(users, 'identifierOf').mockReturnValue(null);
    expect((await app.creationOptions(ada)).user).toMatchObject({ name: '1', displayName: '1' });
    expect((await app.call('get', 'passkeys', ada)).body.user_name).toBe('1');
  });
});

/** The flags of a passkey that cannot leave its device. */
const BOUND = { be: false, bs: false };

describe('a passkey that is used', () => {
  const app = PasskeyApp.forFile();
  let ada: Confirmed;
  let authenticator: SoftAuthenticator;
  let id: string;
  let clones: PasskeyCloneDetected[];
  let backups: PasskeyBackupChanged[];

  beforeEach(async () => {
    [clones, backups] = [app.t.recorded(PasskeyCloneDetected), app.t.recorded(PasskeyBackupChanged)];
    ada = await app.confirmed();
    authenticator = new SoftAuthenticator(ORIGIN);
    id = await app.enrol(ada, authenticator);
  });

  const stored = async () => (await app.rows())[0]!;

  it.each([
    [10, 0],
    [10, 10],
    [10, 9],
    [1, 0],
    [1, 1],
    [4_294_967_295, 4_294_967_295],
    [4_294_967_295, 0],
  ])(
    'with the count %d and then %d is refused and reported where it is bound to its device, and its stored count does not change',
    async (count, next) => {
      await app.t.database.query('DELETE FROM svc_passkeys');
      Object.assign(authenticator.flags, BOUND);
      id = await app.enrol(ada, authenticator);
      await app.setCount(count);
      const [row, sessions] = [await stored(), await app.sessions()];
      const { status, body } = await app.attempt(authenticator, { count: next });
      expect({ status, body }).toEqual({ status: 422, body: NOT_VERIFIED });
      expect(clones).toEqual([new PasskeyCloneDetected('1', id, 'api')]);
      expect(await stored()).toEqual(row);
      expect(await app.sessions()).toBe(sessions);
      if (count < 4_294_967_295) await app.signIn(authenticator, { count: count + 1 });
    },
  );

  it('is accepted with a count that goes back where it is synced, and keeps the highest count', async () => {
    await app.setCount(10);
    for (const count of [0, 10, 9]) await app.signIn(authenticator, { count });
    expect(await stored()).toMatchObject({ sign_count: '10' });
    expect(clones).toEqual([]);
    // Once it is not synced any more, there is one device that counts.
    expect(await app.attempt(authenticator, { count: 9, bs: false })).toMatchObject({ status: 422 });
    expect(clones).toEqual([new PasskeyCloneDetected('1', id, 'api')]);
  });

  it('always with the count 0 is accepted permanently', async () => {
    for (let i = 0; i < 5; i++) await app.signIn(authenticator, { count: 0 });
    expect(clones).toEqual([]);
    expect(await stored()).toMatchObject({ sign_count: '0' });
  });

  it.each([
    [0, 1],
    [0, 4_294_967_295],
    [10, 11],
    [10, 3_000_000_000],
    [4_294_967_294, 4_294_967_295],
  ])('with the count %d and then %d is accepted, and the new count is stored', async (count, next) => {
    await app.setCount(count);
    await app.signIn(authenticator, { count: next });
    expect(await stored()).toMatchObject({ sign_count: String(next) });
    expect(clones).toEqual([]);
  });

  it('is not reported for a response that another authenticator signed', async () => {
    await app.setCount(10);
    const other = new SoftAuthenticator(ORIGIN);
    other.create(await app.creationOptions(ada), { credentialId: Buffer.from(id, 'base64url') });
    expect(await app.attempt(other, { count: 0 })).toMatchObject({ status: 422 });
    expect(clones).toEqual([]);
  });

  it('is reported when its backup state changes', async () => {
    expect(await stored()).toMatchObject({ backup_eligible: true, backed_up: true });
    await app.signIn(authenticator, { bs: true });
    expect(backups).toEqual([]);
    await app.signIn(authenticator, { bs: false });
    await app.signIn(authenticator, { bs: false });
    expect(backups).toEqual([new PasskeyBackupChanged('1', id, 'api', false, 'unchanged')]);
    expect(await stored()).toMatchObject({ backed_up: false });
    await app.signIn(authenticator, { bs: true });
    expect(backups.at(-1)).toEqual(new PasskeyBackupChanged('1', id, 'api', true, 'unchanged'));
    expect(await stored()).toMatchObject({ backup_eligible: true, backed_up: true });
  });

  it('is refused and reported when its backup eligibility changes', async () => {
    const before = await stored();
    expect(await app.attempt(authenticator, BOUND)).toMatchObject({ status: 422, body: NOT_VERIFIED });
    expect(await stored()).toEqual(before);
    expect(backups).toEqual([new PasskeyBackupChanged('1', id, 'api', false, 'refused')]);
    await app.t.database.query('DELETE FROM svc_passkeys');
    const key = new SoftAuthenticator(ORIGIN);
    await app.enrol(ada, key, BOUND);
    expect(await app.attempt(key, { be: true, bs: false })).toMatchObject({ status: 422 });
    await app.signIn(key, BOUND);
    expect(backups.map(({ eligibility }) => eligibility)).toEqual(['refused', 'refused']);
  });
});

describe('a passkey whose backup eligibility may change', () => {
  const app = PasskeyApp.forFile({ passkeys: { backupChange: 'accept' } });

  it('is accepted and reported once, and its count is compared as before the change', async () => {
    const [changes, clones] = [app.t.recorded(PasskeyBackupChanged), app.t.recorded(PasskeyCloneDetected)];
    const authenticator = new SoftAuthenticator(ORIGIN);
    const id = await app.enrol(await app.confirmed(), authenticator, BOUND);
    await app.setCount(10);
    expect(await app.attempt(authenticator, { count: 9, be: true, bs: true })).toMatchObject({ status: 422 });
    expect(clones).toHaveLength(1);
    expect(await app.rows()).toMatchObject([{ backup_eligible: false, backed_up: false }]);
    expect(changes).toEqual([]);
    await app.signIn(authenticator, { count: 11, be: true, bs: true });
    expect(await app.rows()).toMatchObject([{ backup_eligible: true, backed_up: true }]);
    await app.signIn(authenticator, { count: 1, be: true, bs: true });
    expect(changes).toEqual([new PasskeyBackupChanged('1', id, 'api', true, 'accepted')]);
    expect(clones).toHaveLength(1);
  });
});
