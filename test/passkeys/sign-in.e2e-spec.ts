import { PasskeyAdded, PasskeyRemoved } from '@svc/auth';
import { claimsOf } from '../support/hosts/app';
import { ADA, CONFIRMATION_HEADER, confirmPassword } from '../support/flows/step-up';
import { eventually } from '../support/runtime/eventually';
import { UNLIMITED } from '../support/hosts/host.module';
import { type Confirmed, ORIGIN, PasskeyApp, UNKNOWN_PASSKEY } from '../support/flows/passkeys';
import { SoftAuthenticator } from '@svc/auth/testing';

const NO_STORE = 'no-store, private';

describe('passkeys', () => {
  const app = PasskeyApp.forFile();
  let ada: Confirmed;
  let authenticator: SoftAuthenticator;

  beforeEach(async () => {
    ada = await app.confirmed();
    authenticator = new SoftAuthenticator(ORIGIN);
  });

  it('are registered with these options', async () => {
    const first = await app.enrol(ada, authenticator);
    const { body, headers } = await app.call('post', 'passkeys/registration-options', ada).expect(200);
    expect(headers['cache-control']).toBe(NO_STORE);
    expect(body).toEqual({
      rp: { id: 'example.com', name: 'Example' },
      user: { id: Buffer.from('1').toString('base64url'), name: ADA, displayName: ADA },
      challenge: expect.stringMatching(/^[\w-]{22}$/),
      pubKeyCredParams: [
        { type: 'public-key', alg: -7 },
        { type: 'public-key', alg: -257 },
      ],
      timeout: 120_000,
      excludeCredentials: [{ id: first, type: 'public-key', transports: ['hybrid', 'internal'] }],
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      attestation: 'none',
    });
  });

  it('are requested with these options, which identify no user', async () => {
    const { body, headers } = await app.t.http.post('/auth/passkeys/login-options').expect(200);
    expect(headers['cache-control']).toBe(NO_STORE);
    expect(body).toEqual({
      ceremony_id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      options: {
        challenge: expect.stringMatching(/^[\w-]{22}$/),
        rpId: 'example.com',
        timeout: 120_000,
        allowCredentials: [],
        userVerification: 'required',
      },
    });
  });

  it.each(['ES256', 'RS256'] as const)('of %s sign in, and amr names the method', async (algorithm) => {
    authenticator = new SoftAuthenticator(ORIGIN, algorithm);
    await app.enrol(ada, authenticator);
    const { body, headers, status } = await app.attempt(authenticator);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe(NO_STORE);
    expect(claimsOf(body.access_token)).toMatchObject({ sub: '1', amr: ['webauthn'] });
    await app.t.get('/private', body.access_token).expect(200);
    const { body: renewed } = await app.t.refresh(body.refresh_token).expect(200);
    expect(claimsOf(renewed.access_token)).toMatchObject({ amr: ['webauthn'] });
  });

  it('are listed with the credential ids for the Signal API of the browser', async () => {
    const named = await app.enrol(ada, authenticator, {}, ' Laptop ');
    const plain = await app.enrol(ada, authenticator);
    const before = Math.floor(Date.now() / 1000);
    await app.signIn(authenticator);
    const after = Math.ceil(Date.now() / 1000);
    const { body, headers } = await app.call('get', 'passkeys', ada).expect(200);
    expect(headers['cache-control']).toBe(NO_STORE);
    expect(body).toEqual({
      passkeys: [
        { id: named, name: 'Laptop', last_used_at: null },
        { id: plain, name: null, last_used_at: expect.any(Number) },
      ],
      rp_id: 'example.com',
      user_handle: 'MQ',
      user_name: ADA,
      all_accepted_credential_ids: [named, plain],
    });
    const used = body.passkeys[1].last_used_at;
    // The clock of the database, rounded down to seconds.
    expect([Number.isInteger(used), used >= before - 1, used <= after]).toEqual([true, true, true]);
  });

  it('are renamed and deleted by their owner, and do not sign in once deleted', async () => {
    const id = await app.enrol(ada, authenticator);
    const names = async () =>
      (await app.call('get', 'passkeys', ada)).body.passkeys.map(({ name }: { name: unknown }) => name);
    await app.call('patch', `passkeys/${id}`, ada).send({ name: ' Phone\0 ' }).expect(204);
    expect(await names()).toEqual(['Phone']);
    await app
      .call('patch', `passkeys/${id}`, ada)
      .send({ name: 'x'.repeat(256) })
      .expect(422);
    await app.call('patch', `passkeys/${id}`, ada).send({ name: 7 }).expect(422);
    expect(await names()).toEqual(['Phone']);
    await app.call('patch', `passkeys/${id}`, ada).send({}).expect(204);
    expect(await names()).toEqual([null]);
    for (const _time of ['first', 'second']) await app.call('delete', `passkeys/${id}`, ada).expect(204);
    expect((await app.attempt(authenticator)).body).toEqual(UNKNOWN_PASSKEY);
  });

  it('accept any name of up to 255 characters unchanged, and no empty name', async () => {
    const nameOf = async (id: string) =>
      (await app.call('get', 'passkeys', ada)).body.passkeys.find((passkey: { id: string }) => passkey.id === id).name;
    for (const name of ['💥'.repeat(255), 'é'.repeat(255)]) {
      const id = await app.enrol(ada, authenticator, {}, name);
      expect(await nameOf(id)).toBe(name);
      await app
        .call('patch', `passkeys/${id}`, ada)
        .send({ name: ` ${name} ` })
        .expect(204);
      expect(await nameOf(id)).toBe(name);
    }
    // Every code point counts, variation selectors included.
    const drawn = '☎\uFE0F'.repeat(127);
    expect(await nameOf(await app.enrol(ada, authenticator, {}, drawn))).toBe(drawn);
    const credential = authenticator.create(await app.creationOptions(ada));
    await app.register(ada, credential, `${drawn}☎\uFE0F`).expect(422);
    for (const name of ['', ' ', '\0']) expect(await nameOf(await app.enrol(ada, authenticator, {}, name))).toBeNull();
  });

  it('cannot be listed, renamed or deleted by another user', async () => {
    const id = await app.enrol(ada, authenticator);
    const bob = await app.confirmed('bob@example.com');
    expect((await app.call('get', 'passkeys', bob)).body.passkeys).toEqual([]);
    for (const other of [id, 'AAAA', 'A', '%00', '..%2f', 'x'.repeat(300)]) {
      const { body } = await app.call('patch', `passkeys/${other}`, bob).send({ name: 'mine' }).expect(404);
      expect(body).toEqual({ message: 'There is nothing here.' });
      await app.call('delete', `passkeys/${other}`, bob).expect(204);
    }
    expect(await app.rows()).toMatchObject([{ credential_id: id, user_id: '1', name: null }]);
  });

  it('require a fresh confirmation to be added, renamed or deleted', async () => {
    const bare = { ...ada, proof: '' };
    for (const [method, path] of [
      ['post', 'passkeys/registration-options'],
      ['post', 'passkeys'],
      ['patch', 'passkeys/AAAA'],
      ['delete', 'passkeys/AAAA'],
    ] as const) {
      await app.call(method, path, bare).expect(423);
      await app.t.http[method](`/auth/${path}`).expect(401);
    }
    for (const path of ['passkeys', 'confirm-passkey']) {
      await app.t.http[path === 'passkeys' ? 'get' : 'post'](`/auth/${path}`).expect(401);
    }
  });

  it('confirm their owner, in the session of the request', async () => {
    await app.enrol(ada, authenticator);
    const { ceremony_id, options } = await app.requestOptions();
    const { access_token } = await app.t.session();
    const { body, headers } = await app.t
      .call('post', '/auth/confirm-passkey', access_token)
      .send({ ceremony_id, credential: authenticator.get(options) })
      .expect(200);
    expect(headers['cache-control']).toBe(NO_STORE);
    expect(Object.keys(body)).toEqual(['confirmation_token']);
    const proof = body.confirmation_token;
    await app.call('post', 'passkeys/registration-options', { ...ada, access_token, proof }).expect(200);
    const elsewhere = await app.call('post', 'passkeys/registration-options', { ...ada, proof }).expect(423);
    expect(elsewhere.body.reason).toBe('confirmation_session_mismatch');
  });

  it('confirm no other user', async () => {
    await app.enrol(ada, authenticator);
    const { ceremony_id, options } = await app.requestOptions();
    const { access_token } = await app.t.session('bob@example.com');
    const { body } = await app.t
      .call('post', '/auth/confirm-passkey', access_token)
      .send({ ceremony_id, credential: authenticator.get(options) })
      .expect(422);
    expect(body.errors).toEqual({ credential: ['This passkey belongs to another account.'] });
  });

  it('reset the failure count of passwords, at sign-in and at step-up', async () => {
    await app.enrol(ada, authenticator);
    const counted = () => app.t.database.query("SELECT 1 FROM svc_lockouts WHERE purpose = 'confirm'");
    await confirmPassword(app.t, ada.access_token, { password: 'wrong' }).expect(422);
    expect(await counted()).toHaveLength(1);
    await app.signIn(authenticator);
    expect(await counted()).toEqual([]);
    await confirmPassword(app.t, ada.access_token, { password: 'wrong' }).expect(422);
    const { ceremony_id, options } = await app.requestOptions();
    const body = { ceremony_id, credential: authenticator.get(options) };
    await app.t
      .call('post', '/auth/confirm-passkey', ada.access_token)
      .set(CONFIRMATION_HEADER, '')
      .send(body)
      .expect(200);
    expect(await counted()).toEqual([]);
  });

  describe('in events', () => {
    let added: PasskeyAdded[];
    let removed: PasskeyRemoved[];

    beforeEach(() => {
      [added, removed] = [app.t.recorded(PasskeyAdded), app.t.recorded(PasskeyRemoved)];
    });

    it('are reported when they are added and deleted, after the commit', async () => {
      const stored: number[] = [];
      const count = async (): Promise<void> => void stored.push((await app.rows()).length);
      for (const event of [PasskeyAdded, PasskeyRemoved]) app.t.on(event, count);
      const id = await app.enrol(ada, authenticator);
      await eventually(async () => stored.length === 1);
      expect([added, removed]).toEqual([[new PasskeyAdded('1', id, 'api', 'platform')], []]);
      await app.call('delete', `passkeys/${id}`, ada).expect(204);
      await eventually(async () => stored.length === 2);
      expect([added.length, removed]).toEqual([1, [new PasskeyRemoved('1', id, 'api', 'platform')]]);
      expect(stored).toEqual([1, 0]);
    });

    it('are reported once for concurrent requests that add or delete one passkey', async () => {
      const credential = authenticator.create(await app.creationOptions(ada));
      const registered = await Promise.all(Array.from({ length: 10 }, () => app.register(ada, credential)));
      expect(registered.filter(({ status }) => status === 204)).toHaveLength(1);
      const remove = () => app.call('delete', `passkeys/${credential.id}`, ada).expect(204);
      await Promise.all(Array.from({ length: 10 }, remove));
      expect([added.length, removed.length]).toEqual([1, 1]);
    });

    it('are not reported when one is refused, belongs to another user or does not exist', async () => {
      const id = await app.enrol(await app.confirmed('bob@example.com'), authenticator);
      expect(added.splice(0)).toEqual([new PasskeyAdded('2', id, 'api', 'platform')]);
      await app.register(ada, {}).expect(422);
      for (const other of [id, 'AAAA', '%20']) await app.call('delete', `passkeys/${other}`, ada).expect(204);
      expect([added, removed]).toEqual([[], []]);
    });

    it('are not reported when they are deleted with their account, which has its own event', async () => {
      await app.enrol(ada, authenticator);
      await app.call('delete', 'account', ada).expect(204);
      expect([await app.rows(), removed]).toEqual([[], []]);
    });
  });
});

describe('the limit of passkeys', () => {
  const THREE = { maxAttempts: 3, decaySeconds: 60 };
  const app = PasskeyApp.forFile({
    rateLimits: { ...UNLIMITED, passkeys: THREE, confirm: THREE },
  });

  it('counts options and sign-ins together, whatever their outcome, before the body is validated', async () => {
    const start = performance.now();
    const { headers } = await app.t.http.post('/auth/passkeys/login-options').expect(200);
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '2' });
    await app.login('x', {}).expect(422);
    await app.login(7, 7).expect(422);
    const refused = await app.login(7, 7).expect(429);
    expect(refused.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0' });
    const passed = Math.ceil((performance.now() - start) / 1000);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(60 - passed);
    await app.t.http.post('/auth/passkeys/login-options').expect(429);
    // Passwords have a separate limit.
    await app.t.session();
  });

  it('of a confirmation also counts passwords, before the body is validated', async () => {
    const ada: Confirmed = { ...(await app.t.session()), proof: '' };
    const attempt = (body: object) => app.call('post', 'confirm-passkey', ada).set(CONFIRMATION_HEADER, '').send(body);
    await attempt({ ceremony_id: 'x', credential: {} }).expect(422);
    await attempt({}).expect(422);
    await confirmPassword(app.t, ada.access_token).expect(200);
    await attempt({}).expect(429);
    await confirmPassword(app.t, ada.access_token).expect(429);
    await app.requestOptions();
  });
});

describe('the lockout', () => {
  const app = PasskeyApp.forFile({ lockout: { maxAttempts: 2 } });

  it('never locks passkeys, after any number of failures', async () => {
    const ada = await app.confirmed();
    const authenticator = new SoftAuthenticator(ORIGIN);
    await app.enrol(ada, authenticator);
    const attempt = async (credential: object, ceremony_id: unknown) =>
      (await app.call('post', 'confirm-passkey', ada).send({ ceremony_id, credential })).status;
    for (let i = 0; i < 5; i++) expect(await attempt({}, 'x')).toBe(422);
    for (let i = 0; i < 2; i++) await confirmPassword(app.t, ada.access_token, { password: 'wrong' }).expect(422);
    await confirmPassword(app.t, ada.access_token).expect(423);
    const { ceremony_id, options } = await app.requestOptions();
    expect(await attempt(authenticator.get(options), ceremony_id)).toBe(200);
    await confirmPassword(app.t, ada.access_token).expect(200);
  });
});
