import { SessionEnded } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { ORIGIN, PASSKEYS } from '../support/flows/passkeys';
import { GRACE, IdentityHost, LIVE, OVER } from '../support/flows/identities';
import { signingKey } from '../support/hosts/key-server';
import { whileStatementsFail } from '../support/faults/failing-statements';

const SID = { ...GRACE, sid: 'first' };

describe('a logout of the provider', () => {
  const host = IdentityHost.forFile({}, { endSession: { returnTo: 'https://app.example.test/bye' } });
  const { t } = host;

  it('ends the sessions of the person before it answers, and no session of another person', async () => {
    const own = [await host.session(), await host.session(SID)];
    const other = await host.session({ ...GRACE, sub: 'bob', email: 'bob@example.com' });
    const ended = t.recorded(SessionEnded);
    const { body } = await host.logOut(host.acme.logoutToken('app', { sub: GRACE.sub })).expect(200);
    expect(body).toEqual({});
    expect(ended.map(({ reason }) => reason)).toEqual(['provider_logout', 'provider_logout']);
    for (const session of own) expect(await host.isLive(session)).toEqual(OVER);
    expect(await host.isLive(other)).toEqual(LIVE);
    expect(await host.isLive(await host.session())).toEqual(LIVE);
  });

  it.each([
    ['with the person', { sub: GRACE.sub, sid: 'first' }],
    ['without the person', { sid: 'first' }],
  ])('ends only one session of the person there, %s', async (_, claims) => {
    const [first, second] = [await host.session(SID), await host.session({ ...GRACE, sid: 'second' })];
    await host.logOut(host.acme.logoutToken('app', claims)).expect(200);
    expect([await host.isLive(first), await host.isLive(second)]).toEqual([OVER, LIVE]);
    // The provider says that the session lives again.
    expect(await host.isLive(await host.session(SID))).toEqual(LIVE);
  });

  it('of one session there ends also those whose session there is not known', async () => {
    const [unknown, second] = [await host.session(), await host.session({ ...GRACE, sid: 'second' })];
    const begun = await host.begin();
    await host.logOut(host.acme.logoutToken('app', { sub: GRACE.sub, sid: 'first' })).expect(200);
    expect([await host.isLive(unknown), await host.isLive(second)]).toEqual([OVER, LIVE]);
    host.acme.wrong.claims = {};
    const { status } = await host.send(await host.signedIn(begun.authorization_url, GRACE), begun.attempt_token);
    expect(status).toBe(422);
  });

  it.each([[{ sub: GRACE.sub }], [{ sid: 'first' }]])('refuses a sign-in that began before: %j', async (claims) => {
    await host.session(SID);
    const begun = await host.begin();
    await host.logOut(host.acme.logoutToken('app', claims)).expect(200);
    // A later sign-in of the person makes the earlier one no more valid.
    const later = await host.session(SID);
    const { status } = await host.send(await host.signedIn(begun.authorization_url, SID), begun.attempt_token);
    expect(status).toBe(422);
    expect(await host.isLive(later)).toEqual(LIVE);
  });

  it('of a person without an account is no error', async () => {
    await host.logOut(host.acme.logoutToken('app', { sub: 'unknown' })).expect(200);
  });

  it('is refused a second time', async () => {
    const token = host.acme.logoutToken('app', { sub: GRACE.sub });
    await host.logOut(token).expect(200);
    const later = await host.session();
    await host.logOut(token).expect(400);
    expect(await host.isLive(later)).toEqual(LIVE);
  });

  it('is accepted again after a failure, and ends the sessions then', async () => {
    const session = await host.session();
    const token = host.acme.logoutToken('app', { sub: GRACE.sub });
    await whileStatementsFail(t, 'UPDATE ON svc_sessions', () => host.logOut(token).expect(503));
    await host.logOut(token).expect(200);
    expect(await host.isLive(session)).toEqual(OVER);
  });

  it('is refused with any fault, and ends no session', async () => {
    const session = await host.session(SID);
    const sub = { sub: GRACE.sub };
    const good = host.acme.logoutToken('app', sub);
    host.acme.wrong.key = signingKey('evil');
    const forged = [host.acme.logoutToken('app', sub), host.acme.logoutToken('app', sub, { kid: 'first' })];
    host.acme.wrong.key = undefined;
    const bad = [
      ...forged,
      host.acme.logoutToken('app', sub, { alg: 'none' }),
      host.acme.logoutToken('app', sub, { alg: 'HS256' }),
      host.acme.logoutToken('app', { ...sub, iss: host.other.issuer }),
      host.acme.logoutToken('app', { ...sub, aud: 'another' }),
      host.acme.logoutToken('app', { ...sub, nonce: 'n' }),
      host.acme.logoutToken('app', { ...sub, events: undefined }),
      host.acme.logoutToken('app', { ...sub, events: { 'https://example.test/other': {} } }),
      host.acme.logoutToken('app', { ...sub, jti: undefined }),
      host.acme.logoutToken('app', {}),
      host.acme.logoutToken('app', { ...sub, iat: 1, exp: 2 }),
      host.other.logoutToken('app', sub),
      'x',
      '',
    ];
    for (const [i, token] of bad.entries()) expect([i, (await host.logOut(token)).status]).toEqual([i, 400]);
    await host.logOut(good, 'other').expect(400);
    await host.logOut(good, 'nowhere').expect(400);
    expect(await host.isLive(session)).toEqual(LIVE);
  });
});

describe('signing out here', () => {
  const host = IdentityHost.forFile({}, { endSession: { returnTo: 'https://app.example.test/bye' } });

  it('ends the session, and says where the browser signs out at the provider', async () => {
    const session = await host.session();
    const { body } = await host.call('post', 'identities/end-session', session).expect(200);
    const url = new URL(body.end_session_url);
    expect(url.origin + url.pathname).toBe(`${host.acme.issuer}/session/end`);
    expect(url.searchParams.get('post_logout_redirect_uri')).toBe('https://app.example.test/bye');
    expect(await host.isLive(session)).toEqual(OVER);
  });

  it('says nothing for a session that no provider has started', async () => {
    const session = await host.session({ sub: 'o', name: 'O', email: 'o@example.org' }, 'other');
    const { body } = await host.call('post', 'identities/end-session', session).expect(200);
    expect(body).toEqual({ end_session_url: null });
    expect(await host.isLive(session)).toEqual(OVER);
  });
});

describe('a logout of the provider, with a second factor', () => {
  const host = IdentityHost.forFile({ ...PASSKEYS, passkeys: { ...PASSKEYS.passkeys, required: true } });
  const { t } = host;
  const device = new SoftAuthenticator(ORIGIN);
  const answered = async (challenge_token: string) => {
    const { ceremony_id, options } = (await t.http.post('/auth/passkeys/login-options').expect(200)).body;
    return t.http
      .post('/auth/two-factor-challenge')
      .send({ challenge_token, ceremony_id, credential: device.get(options) });
  };

  it.each([[{ sub: GRACE.sub }], [{ sid: 'first' }], [{ sub: GRACE.sub, sid: 'first' }]])(
    'ends the sign-in: %j',
    async (claims) => {
      const grace = await host.session(SID);
      await host.enrolPasskey(grace, await host.proofOf(grace), device);
      const { body: challenge } = await host.signIn(SID);
      await host.logOut(host.acme.logoutToken('app', claims)).expect(200);
      const refused = await answered(challenge.challenge_token);
      expect([refused.status, Object.keys(refused.body)]).toEqual([422, ['message', 'errors']]);
      const { body: next } = await host.signIn(SID);
      const tokens = await answered(next.challenge_token);
      expect(tokens.status).toBe(200);
      // A session that is completed with a second factor is of the provider, too.
      await host.logOut(host.acme.logoutToken('app', claims)).expect(200);
      expect(await host.isLive(tokens.body)).toEqual(OVER);
    },
  );

  it('is answered 503 while the provider is away', async () => {
    // No test of this host has asked it before, so its keys are not known.
    host.other.answer('jwks', (_, response) => response.writeHead(503).end());
    await host.logOut(host.other.logoutToken('app', { sub: GRACE.sub }), 'other').expect(503);
    host.other.answer('jwks');
    await host.logOut(host.other.logoutToken('app', { sub: GRACE.sub }), 'other').expect(200);
  });
});
