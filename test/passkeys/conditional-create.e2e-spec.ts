import { PasskeyAdded } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { type Tokens, claimsOf } from '../support/hosts/app';
import { NOT_REGISTERED, NOT_VERIFIED, ORIGIN, PasskeyApp } from '../support/flows/passkeys';
import { ADA } from '../support/hosts/user-entities';

/** As the authenticator creates a passkey without a question: the user is neither present nor verified. */
const SILENT = { up: false, uv: false };

describe('a passkey that the browser creates without a question', () => {
  const app = PasskeyApp.forFile({ features: { conditionalCreate: true }, storeTimeoutMs: 20_000 });
  let device: SoftAuthenticator;
  let session: Tokens;
  beforeEach(async () => {
    device = new SoftAuthenticator(ORIGIN);
    session = await app.t.session(ADA);
  });
  const post = (path: string, { access_token } = session) => app.t.call('post', `/auth/passkeys/${path}`, access_token);
  const options = async () => (await post('conditional-options').expect(200)).body;
  const store = (credential: object, name?: string) => post('conditional').send({ credential, name });

  it('is stored after a login with the password, without a confirmation', async () => {
    const added = app.t.recorded(PasskeyAdded);
    const given = await options();
    expect(given).toMatchObject({
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'preferred' },
    });
    await store(device.create(given, SILENT), 'Laptop').expect(204);
    expect(await app.rows()).toEqual([expect.objectContaining({ user_id: '1', name: 'Laptop', user_handle: null })]);
    expect(added).toHaveLength(1);
  });

  it('verifies the user at every later sign-in', async () => {
    await store(device.create(await options(), SILENT)).expect(204);
    expect((await app.attempt(device, { uv: false })).body).toEqual(NOT_VERIFIED);
    expect((await app.attempt(device, { up: false })).body).toEqual(NOT_VERIFIED);
    expect(claimsOf((await app.signIn(device)).access_token).amr).toEqual(['webauthn']);
  });

  it('is refused as the response to a ceremony that asks the user', async () => {
    const confirmed = await app.confirmed(ADA);
    const silent = device.create(await app.creationOptions(confirmed), SILENT);
    expect((await app.register(confirmed, silent).expect(422)).body).toEqual(NOT_REGISTERED);
    await store(device.create(await app.creationOptions(confirmed))).expect(422);
    const { access_token } = session;
    await post('conditional-options').expect(200);
    await app.register({ ...confirmed, access_token }, device.create(await options(), SILENT)).expect(423);
    expect(await app.rows()).toEqual([]);
  });

  it('is refused for a user with a passkey', async () => {
    const late = device.create(await options(), SILENT);
    await app.enrol(await app.confirmed(ADA), new SoftAuthenticator(ORIGIN));
    expect((await post('conditional-options').expect(422)).body).toEqual(NOT_REGISTERED);
    expect((await store(late).expect(422)).body).toEqual(NOT_REGISTERED);
    expect(await app.rows()).toHaveLength(1);
  });

  it('is stored once, for any number of concurrent responses', async () => {
    const credential = device.create(await options(), SILENT);
    const answers = await Promise.all(Array.from({ length: 5 }, () => store(credential)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 422, 422, 422, 422]);
    expect(await app.rows()).toHaveLength(1);
  });

  it('is refused when the login is older than confirm.ttl, at the options and at the response', async () => {
    const given = await options();
    app.t.clock.advance(290);
    await post('conditional-options').expect(200);
    app.t.clock.advance(20);
    const late = await post('conditional-options').expect(423);
    expect(late.headers['x-svc-confirmation-methods']).toBe('password');
    await store(device.create(given, SILENT)).expect(423);
    expect(await app.rows()).toEqual([]);
  });

  it('is refused after the password was changed', async () => {
    await app.t.database.query("UPDATE people SET password_hash = password_hash || 'x' WHERE id = 1");
    await post('conditional-options').expect(423);
  });

  it.each([
    ['a login with another method', { amr: ['fed'] }, undefined],
    ['a session of the host without a login', {}, undefined],
    ['a pinned session', { amr: ['pwd'] }, ['svc.account']],
    ['a session in which another party acts', { amr: ['pwd'], claims: { act: { sub: '2' } } }, undefined],
  ])('is refused in %s', async (_, start, abilities) => {
    const { accessToken } = await app.t.auth.startSession('1', start, abilities);
    await post('conditional-options', { ...session, access_token: accessToken }).expect(423);
  });

  it('is a server call, too', async () => {
    const source = { headers: { authorization: `Bearer ${session.access_token}` } };
    const given = (await app.t.auth.passkeys.conditionalOptions(source)) as Parameters<SoftAuthenticator['create']>[0];
    await app.t.auth.passkeys.registerConditionally(device.create(given, SILENT), source);
    expect(await app.rows()).toHaveLength(1);
  });
});

describe('a passkey without a question, where a confirmation needs two factors', () => {
  const app = PasskeyApp.forFile({
    features: { conditionalCreate: true, twoFactor: true },
    confirm: { factors: 'all' },
  });
  const status = async (amr: string[]): Promise<number> => {
    const { accessToken } = await app.t.auth.startSession('1', { amr });
    return (await app.t.call('post', '/auth/passkeys/conditional-options', accessToken)).status;
  };

  it('needs a login with both factors of a user who has two', async () => {
    expect(await status(['pwd'])).toBe(200);
    await app.t.auth.twoFactor.importFactor('1', { secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' });
    expect([await status(['pwd']), await status(['pwd', 'otp'])]).toEqual([423, 200]);
  });
});

describe('without features.conditionalCreate', () => {
  const app = PasskeyApp.forFile({ confirm: { afterLogin: true } });

  it('no passkey is created without a question', async () => {
    const { access_token } = await app.t.session(ADA);
    for (const path of ['conditional-options', 'conditional'])
      await app.t.call('post', `/auth/passkeys/${path}`, access_token).expect(404);
    const source = { headers: { authorization: `Bearer ${access_token}` } };
    await expect(app.t.auth.passkeys.conditionalOptions(source)).rejects.toMatchObject({
      cause: { message: expect.stringContaining('features.conditionalCreate') },
    });
  });
});

describe('an application with features.conditionalCreate', () => {
  it('does not start without features.passkeys', async () => {
    const features = { conditionalCreate: true, passkeys: false };
    await expect(PasskeyApp.start({ features })).rejects.toThrow('features.conditionalCreate needs features.passkeys');
  });
});
