import { type AuthModuleOptions, UserProvider } from '@svc/auth';
import { Realms } from '../../libs/auth/src/realm/realm';
import { TokenClaims } from '../../libs/auth/src/sessions/token-claims';
import { claimsOf } from '../support/app';
import { type Confirmed, NOT_VERIFIED, ORIGIN, PasskeyApp } from '../support/passkeys';
import { SoftAuthenticator } from '../support/soft-authenticator';

const BLOCKING: Partial<AuthModuleOptions> = { emailVerification: { blockUnverifiedLogin: true } };

describe('the user of a passkey', () => {
  let app: PasskeyApp;
  let ada: Confirmed;
  const authenticator = new SoftAuthenticator(ORIGIN);

  beforeEach(async () => {
    app = await PasskeyApp.start(BLOCKING);
    ada = await app.confirmed();
    await app.enrol(ada, authenticator);
  });
  afterEach(() => app.stop());

  const users = (): UserProvider => app.t.app.get(Realms).default.get(UserProvider);

  it('who is gone gets no session', async () => {
    await app.t.database.query('DELETE FROM people WHERE id = 1');
    const sessions = await app.sessions();
    const { status, body, headers } = await app.attempt(authenticator);
    expect({ status, body }).toEqual({ status: 401, body: { message: 'Authentication is required.' } });
    expect(headers['www-authenticate']).toBe('Bearer');
    expect(await app.sessions()).toBe(sessions);
  });

  it('who is gone by the time the session is stored gets none either', async () => {
    const claims = app.t.app.get(Realms).default.get(TokenClaims);
    jest.spyOn(claims, 'of').mockImplementationOnce(async () => app.t.database.query('DELETE FROM people'));
    const sessions = await app.sessions();
    const { status, body } = await app.attempt(authenticator);
    expect({ status, body }).toEqual({ status: 401, body: { message: 'Authentication is required.' } });
    expect(await app.sessions()).toBe(sessions);
  });

  it('who has to verify the email first gets no session, and is told so', async () => {
    jest.spyOn(users(), 'isEmailVerified').mockReturnValue(false);
    const sessions = await app.sessions();
    const { status, body } = await app.attempt(authenticator);
    expect({ status, body }).toEqual({
      status: 403,
      body: { message: 'Please verify your email address before you sign in.' },
    });
    expect(await app.sessions()).toBe(sessions);
  });

  it('is known by the session`s id to the letter, and never by another guard`s', async () => {
    const { access_token } = await app.signIn(authenticator);
    expect(claimsOf(access_token)).toMatchObject({ sub: '1' });
    await app.t.get('/private', access_token).expect(200);
    await app.t.get('/staff', access_token).expect(401);
    await app.t.http.post('/admin/auth/passkeys/login-options').expect(404);
    await app.t.http.post('/admin/auth/confirm-passkey').expect(404);
  });

  it('who is signed in elsewhere stays so when the passkey goes', async () => {
    const { access_token } = await app.signIn(authenticator);
    const [{ credential_id }] = (await app.rows()) as [{ credential_id: string }];
    await app.call('delete', `passkeys/${credential_id}`, ada).expect(204);
    await app.t.get('/private', access_token).expect(200);
    expect((await app.attempt(authenticator)).body).toEqual(NOT_VERIFIED);
  });

  it('may have a hundred passkeys, and no more', async () => {
    await app.t.database.query(`
      INSERT INTO passkeys (credential_id, user_id, guard, public_key, aaguid, backup_eligible, backed_up, created_at, updated_at)
      SELECT n::text, '1', 'api', '', gen_random_uuid(), false, false, now(), now() FROM generate_series(1, 98) n`);
    const next = new SoftAuthenticator(ORIGIN);
    await app.enrol(ada, next);
    expect((await app.call('get', 'passkeys', ada)).body.passkeys).toHaveLength(100);
    const one = next.create(await app.creationOptions(ada));
    expect((await app.register(ada, one)).status).toBe(422);
    await app.enrol(await app.confirmed('bob@example.com'), next);
  });

  it('has no part in what a user of the same id has at another guard', async () => {
    await app.t.database.query(`
      INSERT INTO passkeys (credential_id, user_id, guard, public_key, aaguid, backup_eligible, backed_up, created_at, updated_at)
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
    // Nor do they count towards the hundred.
    await app.t.database.query(`
      INSERT INTO passkeys (credential_id, user_id, guard, public_key, aaguid, backup_eligible, backed_up, created_at, updated_at)
      SELECT 'BBB' || n, '1', 'admin', '', gen_random_uuid(), false, false, now(), now() FROM generate_series(1, 100) n`);
    await app.enrol(ada, new SoftAuthenticator(ORIGIN));
  });

  it('whose identifier is no text is shown to the authenticator by the id', async () => {
    jest.spyOn(users(), 'findById').mockResolvedValue({ id: 1, email: null });
    expect((await app.creationOptions(ada)).user).toMatchObject({ name: '1', displayName: '1' });
  });
});
