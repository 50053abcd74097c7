import { claimsOf } from '../support/hosts/app';
import { hangingMails, member } from '../support/hosts/members';
import { DEVICE_HEADER, deviceRows, knownDeviceOptions } from '../support/flows/known-devices';
import { GRACE, IdentityHost, type Person, REFUSED, pageOf } from '../support/flows/identities';
import { HELD_MS, StoreTimeouts } from '../support/faults/store-timeouts';
import { RedisServer } from '../support/stores/redis';
import { RoundTrips } from '../support/stores/round-trips';
import { describeWithOwnRedis } from '../support/stores/with-redis';
import { ADA } from '../support/flows/step-up';
import { codeOf, completeChallenge, enrol } from '../support/flows/two-factor';

const cookieOf = (answer: { headers: Record<string, unknown> }): string =>
  ([answer.headers['set-cookie'] ?? []].flat() as string[]).find((cookie) => cookie.includes('.identity='))!;

/** Links a person of `acme` with an account, as an import does. */
const linkRow = (host: IdentityHost, userId: string, { sub }: Person) =>
  host.t.database.query(
    `INSERT INTO svc_identities (id, guard, user_id, provider, issuer, subject, linked_at)
     VALUES (gen_random_uuid(), 'api', $1, 'acme', $2, $3, now())`,
    [userId, host.acme.issuer, sub],
  );

describe('a sign-in with a provider in cookie mode', () => {
  const host = IdentityHost.forFile({ cookieMode: true });

  it('keeps the attempt and the registration in a cookie of the browser, which is removed at the end', async () => {
    const { http } = host.t;
    const begun = await http.post('/auth/identities/acme').expect(200);
    expect(Object.keys(begun.body)).toEqual(['authorization_url', 'expires_in']);
    const cookie = cookieOf(begun);
    expect(cookie).toMatch(
      /^__Host-refresh\.identity=[0-9a-f]{64}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    const parameters = await host.signedIn(begun.body.authorization_url, { ...GRACE, name: undefined });
    const callback = (sent: string) =>
      http
        .post('/auth/identities/acme/callback')
        .set('Cookie', sent.split(';')[0]!)
        .send({ parameters, redirect_uri: pageOf('acme') });
    await callback('other=x').expect(422);
    const required = await callback(cookie).expect(200);
    expect(Object.keys(required.body).toSorted()).toEqual(['email', 'expires_in', 'fields', 'name', 'status']);
    const registered = await http
      .post('/auth/identities/register')
      .set('Cookie', cookieOf(required).split(';')[0]!)
      .send({ name: 'Grace' })
      .expect(200);
    expect(cookieOf(registered)).toMatch(/^__Host-refresh\.identity=; Max-Age=0/);
    expect(registered.body).not.toHaveProperty('refresh_token');
  });

  it('refuses pages of other origins', async () => {
    const { http } = host.t;
    for (const path of ['acme', 'acme/callback', 'register'])
      await http.post(`/auth/identities/${path}`).set('Sec-Fetch-Site', 'cross-site').send({}).expect(403);
  });
});

describe('a provider that posts a form', () => {
  const page = 'https://app.example.test/signed-in/acme';
  const host = IdentityHost.forFile({}, { responseMode: 'form_post', pageUrl: page });
  const post = (form: object | string, provider = 'acme') =>
    host.t.http
      .post(`/auth/identities/${provider}/form`)
      .set('Sec-Fetch-Site', 'cross-site')
      .set('Origin', 'null')
      .type('form')
      .send(form as object);
  const handleOf = ({ headers }: { headers: Record<string, string> }) => new URL(headers.location!).searchParams;

  it('leads the browser to the page, whose callback signs in with the handle, once', async () => {
    const begun = await host.begin();
    const form = Object.fromEntries(new URLSearchParams(await host.signedIn(begun.authorization_url, GRACE)));
    const sent = await post(form).expect(303);
    expect(sent.headers.location).toMatch(new RegExp(`^${page}\\?handle=[0-9a-f]{64}$`));
    expect(sent.headers['set-cookie']).toBeUndefined();
    const query = `?handle=${handleOf(sent).get('handle')}`;
    const other = await host.begin();
    const { status } = await host.send(query, other.attempt_token);
    expect(status).toBe(422);
    const again = await post(form).expect(303);
    const usable = `?handle=${handleOf(again).get('handle')}`;
    await host.send(usable, begun.attempt_token).expect(200);
    await host.send(usable, begun.attempt_token).expect(422);
  });

  it('is kept only for such a provider, and up to 16,384 characters', async () => {
    await post({ state: 'x' }, 'other').expect(404);
    await post({ state: 'x' }, 'unknown').expect(404);
    await post({ state: 'x'.repeat(16_384) }).expect(413);
    await post({}).expect(303);
  });

  it.each([
    ['a list', 'a[]=1&a[]=2', 303],
    ['an object', 'a[b][c]=1', 303],
    ['the name of a prototype', '__proto__[x]=1&constructor[prototype][y]=2', 303],
    ['NUL and no text', 'state=%00%ff%fe', 303],
    ['the same field twice', 'state=a&state=b', 303],
    ['an object 60 deep', `a${'[b]'.repeat(60)}=1`, [303, 400]],
    ['200 KB', `a=${'x'.repeat(200_000)}`, 413],
  ])('takes no harm from %s', async (_, form, status) => {
    expect([status].flat()).toContain((await post(form)).status);
  });
});

describe('known devices', () => {
  const host = IdentityHost.forFile(knownDeviceOptions());

  it('are those of a login: the device gets a token, and a sign-in without it is that of a new one', async () => {
    const first = await host.session();
    const again = await host.signIn(GRACE, 'acme', { device_token: 'x' });
    expect(first).toMatchObject({ device_token: expect.any(String) });
    expect(await deviceRows(host.t)).toHaveLength(2);
    expect(again.body.device_token).not.toBe((first as { device_token?: string }).device_token);
    const begun = await host.begin();
    const parameters = await host.signedIn(begun.authorization_url, GRACE);
    await host.send(parameters, begun.attempt_token).set(DEVICE_HEADER, again.body.device_token).expect(200);
    expect(await deviceRows(host.t)).toHaveLength(2);
  });
});

describe.each(['ask', 'provider'] as const)('a user with a second factor, where secondFactor is %s', (secondFactor) => {
  const host = IdentityHost.forFile({ features: { twoFactor: true } }, { secondFactor });
  const { t } = host;

  it('presents it, unless the provider may verify it and has done so', async () => {
    const id = await member(t, ADA);
    const { secret } = await enrol(t, ADA);
    await linkRow(host, id, GRACE);
    const asked = await host.signIn();
    expect(asked.body).toMatchObject({ two_factor: true, methods: ['totp', 'recovery_code'] });
    const tokens = await completeChallenge(t, {
      challenge_token: asked.body.challenge_token,
      code: codeOf(t, secret),
    }).expect(200);
    expect(claimsOf(tokens.body.access_token).amr).toEqual(['fed', 'otp']);
    const [identity] = await t.database.query('SELECT id FROM svc_identities');
    const origins = 'SELECT origin FROM svc_sessions WHERE id = $1';
    expect(await t.database.query(origins, [claimsOf(tokens.body.access_token).fid])).toEqual([
      { origin: identity.id },
    ]);
    await t.refresh(tokens.body.refresh_token).expect(200);
    expect(await t.database.query(origins, [claimsOf(tokens.body.access_token).fid])).toEqual([
      { origin: identity.id },
    ]);
    const verified = await host.signIn({ ...GRACE, amr: ['pwd', 'mfa'] });
    if (secondFactor === 'ask') expect(verified.body).toHaveProperty('challenge_token');
    else expect(claimsOf(verified.body.access_token).amr).toEqual(['fed', 'mfa']);
  });

  it('does not complete a challenge of an identity that was removed', async () => {
    const id = await member(t, ADA);
    const { secret } = await enrol(t, ADA);
    await linkRow(host, id, GRACE);
    const { challenge_token } = (await host.signIn()).body;
    await t.database.query('DELETE FROM svc_identities');
    const { body } = await completeChallenge(t, { challenge_token, code: codeOf(t, secret) }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['challenge_token']);
  });
});

describe('the end of a sign-in with a provider', () => {
  let mayNotSignIn = false;
  const host = IdentityHost.forFile({
    emailVerification: { blockUnverifiedLogin: true },
    sessions: { ttlWithoutRemember: 3600 },
    hooks: { canSignIn: () => !mayNotSignIn },
  });
  beforeEach(() => void (mayNotSignIn = false));

  it('asks the host whether the user may sign in', async () => {
    await host.signIn();
    mayNotSignIn = true;
    expect((await host.signIn()).status).toBe(401);
  });

  it('is refused until the address is verified, which a provider without authority does not prove', async () => {
    const claim = { ...GRACE, email: 'grace@example.org' };
    expect((await host.signIn(claim)).body).toEqual({ registered: true, requires_verification: true });
    expect((await host.signIn(claim)).status).toBe(403);
    await host.mailbox.to('grace@example.org');
  });

  it('remembers the session unless the page says otherwise, and refuses another value before the attempt is used', async () => {
    const begun = await host.begin();
    const parameters = await host.signedIn(begun.authorization_url, GRACE);
    const invalid = await host.send(parameters, begun.attempt_token, 'acme', { remember: 'perhaps' });
    expect(Object.keys(invalid.body.errors)).toEqual(['remember']);
    await host.send(parameters, begun.attempt_token, 'acme', { remember: false }).expect(200);
    expect(await host.t.database.query('SELECT remembered FROM svc_sessions')).toEqual([{ remembered: false }]);
    await host.signIn();
    expect(await host.t.database.query('SELECT remembered FROM svc_sessions ORDER BY created_at')).toEqual([
      { remembered: false },
      { remembered: true },
    ]);
  });

  it('has server calls with the same results', async () => {
    const { identities } = host.t.auth;
    const source = { ip: '198.51.100.1', headers: {} };
    const { authorizationUrl, attemptToken } = await identities.begin('acme', source);
    const parameters = await host.signedIn(authorizationUrl, { ...GRACE, name: undefined });
    const required = await identities.callback(
      'acme',
      { parameters, attemptToken, redirectUri: pageOf('acme') },
      source,
    );
    expect(required).toMatchObject({ status: 'registration-required', fields: ['name'] });
    const { continuationToken } = required as { continuationToken: string };
    const tokens = await identities.register(continuationToken, { name: 'Grace' }, source);
    expect(tokens).toMatchObject({ accessToken: expect.any(String) });
    await expect(
      identities.callback('acme', { parameters, attemptToken, redirectUri: pageOf('acme') }, source),
    ).rejects.toMatchObject({
      code: 'identity_refused',
    });
  });

  it('gives the attempt back if no connection to the provider was possible', async () => {
    await host.signIn();
    const begun = await host.begin();
    const parameters = await host.signedIn(begun.authorization_url, GRACE);
    await host.acme.down();
    await host.send(parameters, begun.attempt_token).expect(503);
    await host.acme.up();
    await host.send(parameters, begun.attempt_token).expect(200);
  });

  it('refuses what is no query, without using the attempt up', async () => {
    const begun = await host.begin();
    const parameters = await host.signedIn(begun.authorization_url, GRACE);
    for (const wrong of [null, 7, ['x'], 'x'.repeat(8193)]) {
      const { status, body } = await host.send(wrong, begun.attempt_token);
      expect([status, Object.keys(body.errors)]).toEqual([422, ['parameters']]);
    }
    const { status, body } = await host.send('error=access_denied', begun.attempt_token);
    expect([status, body]).toEqual([422, REFUSED]);
    await host.send(parameters, begun.attempt_token).expect(200);
  });
});

/** What a registration waits for, with and without an account. */
const STEPS = ['Redis', 'Redis', ...Array<string>(11).fill('PostgreSQL')];

describe('a registration with a provider that conceals accounts', () => {
  const host = IdentityHost.forFile({
    emailVerification: { blockUnverifiedLogin: true },
    registration: { concealExisting: true },
  });

  it.each(['fresh@example.org', 'taken@example.org'])(
    'waits for the same answers of the stores for %s',
    async (email) => {
      const { t, mailbox } = host;
      await host.signIn({ ...GRACE, sub: 'first', email: 'first@example.org' });
      await member(t, 'taken@example.org', { emailVerifiedAt: new Date() });
      // The mails of the request do not run beside it.
      await hangingMails(t, mailbox);
      const begun = await host.begin();
      const parameters = await host.signedIn(begun.authorization_url, { ...GRACE, sub: email, email });
      await t.calm();
      const counted = new RoundTrips(t);
      await host.send(parameters, begun.attempt_token).expect(202);
      mailbox.release();
      expect(counted.trips.map(({ store }) => store)).toEqual(STEPS);
    },
  );
});

describe('an extra guard with providers', () => {
  const host = IdentityHost.forFile();

  it('knows no identity of the users of another guard, and registers no user unless its options say so', async () => {
    const { http } = host.t;
    await host.signIn();
    const { body } = await http.post('/admin/auth/identities/acme').expect(200);
    const parameters = await host.signedIn(body.authorization_url, GRACE);
    const answer = { parameters, attempt_token: body.attempt_token, redirect_uri: pageOf('acme') };
    // An attempt of one guard is none of another one.
    await http.post('/auth/identities/acme/callback').send(answer).expect(422);
    await http.post('/admin/auth/identities/acme/callback').send(answer).expect(409);
    expect(await host.t.database.query('SELECT 1 FROM operators')).toEqual([]);
  });
});

describeWithOwnRedis('without an answer from Redis', () => {
  it('no sign-in with a provider begins or ends', async () => {
    const redis = await RedisServer.start();
    const host = await IdentityHost.start({ storeTimeoutMs: HELD_MS }, { redisUrl: redis.url });
    const begun = await host.begin();
    const parameters = await host.signedIn(begun.authorization_url, GRACE);
    redis.freeze();
    const { t } = host;
    const timeouts = StoreTimeouts.of(t.app);
    await timeouts.during(() => t.http.post('/auth/identities/acme').expect(503));
    await timeouts.during(() => host.send(parameters, begun.attempt_token).expect(503));
    redis.thaw();
    await host.stop();
    await redis.stop();
  });
});
