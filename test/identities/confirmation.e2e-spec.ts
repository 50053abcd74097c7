import { SoftAuthenticator } from '@svc/auth/testing';
import { GRACE, IdentityHost, PAGES, REFUSED, nowSeconds } from '../support/flows/identities';
import { ORIGIN, PASSKEYS } from '../support/flows/passkeys';

const METHODS = 'x-svc-confirmation-methods';

describe('a confirmation at a provider', () => {
  const host = IdentityHost.forFile({ rateLimits: { confirm: { maxAttempts: 100 } } });
  const { t } = host;

  it('is the method of a user without a password, and asks the person to sign in again', async () => {
    const grace = await host.session();
    const asked = await host.call('post', 'identities/other/link', grace).expect(423);
    expect(asked.headers[METHODS]).toBe('identity');
    const { body } = await host.call('post', 'confirm-identity', grace).send({ provider: 'acme' }).expect(200);
    const query = new URL(body.authorization_url).searchParams;
    expect([query.get('prompt'), query.get('max_age')]).toEqual(['login', '0']);
    const proof = await host.proofOf(grace);
    await host.call('post', 'identities/other/link', grace, proof).expect(200);
  });

  it.each([
    ['without a time', () => ({ auth_time: undefined })],
    ['with an earlier sign-in', () => ({ auth_time: nowSeconds() - 120 })],
    ['with a time that is no number', () => ({ auth_time: `${nowSeconds()}` })],
    ['of another person', () => ({ sub: 'grace-2' })],
  ])('is refused %s', async (_, claims) => {
    const grace = await host.session();
    const { status, body } = await host.confirm(grace, { ...GRACE, ...claims() });
    expect([status, body]).toEqual([422, REFUSED]);
  });

  it('is refused for the identity of another account', async () => {
    await host.session({ ...GRACE, sub: 'bob', email: 'bob@example.com' });
    const grace = await host.session();
    const { status, body } = await host.confirm(grace, { ...GRACE, sub: 'bob' });
    expect([status, body]).toEqual([422, REFUSED]);
  });

  it('belongs to the session that has begun', async () => {
    const [first, second] = [await host.session(), await host.session()];
    const { body: begun } = await host.call('post', 'confirm-identity', first).send({ provider: 'acme' }).expect(200);
    const parameters = await host.signedIn(begun.authorization_url, GRACE);
    const answer = { provider: 'acme', parameters, attempt_token: begun.attempt_token, redirect_uri: PAGES[0] };
    const refused = await host.call('post', 'confirm-identity/callback', second).send(answer).expect(422);
    expect(refused.body).toEqual(REFUSED);
    const proof = await host.proofOf(first);
    await host.call('post', 'identities/other/link', second, proof).expect(423);
  });

  it('is not made with the attempt of a link, for which the provider does not ask the person again', async () => {
    const grace = await host.session();
    const link = await host.beginLink(grace, await host.proofOf(grace), 'acme');
    const parameters = await host.signedIn(link.authorization_url, GRACE);
    const answer = { provider: 'acme', parameters, attempt_token: link.attempt_token, redirect_uri: PAGES[0] };
    const refused = await host.call('post', 'confirm-identity/callback', grace).send(answer).expect(422);
    expect(refused.body).toEqual(REFUSED);
  });

  it('is not begun at a provider where the user has no account', async () => {
    const grace = await host.session();
    const { body } = await host.call('post', 'confirm-identity', grace).send({ provider: 'other' }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['provider']);
  });

  it('is refused after the end of its session, also one while the provider answers', async () => {
    const grace = await host.session();
    const { body: begun } = await host.call('post', 'confirm-identity', grace).send({ provider: 'acme' }).expect(200);
    const parameters = await host.signedIn(begun.authorization_url, GRACE);
    // After the access token was accepted.
    host.acme.before('token', () => t.database.query('UPDATE svc_sessions SET revoked_at = now()'));
    const answer = { provider: 'acme', parameters, attempt_token: begun.attempt_token, redirect_uri: PAGES[0] };
    await host.call('post', 'confirm-identity/callback', grace).send(answer).expect(401);
    expect(host.acme.requests).toContain('token');
  });
});

describe('a confirmation with all factors', () => {
  const host = IdentityHost.forFile({
    ...PASSKEYS,
    confirm: { factors: 'all' },
    rateLimits: { confirm: { maxAttempts: 100 } },
  });

  it('is not the provider alone for a user with a second factor', async () => {
    const grace = await host.session();
    const proof = await host.proofOf(grace);
    const begun = await host.call('post', 'confirm-identity', grace).send({ provider: 'acme' }).expect(200);
    const parameters = await host.signedIn(begun.body.authorization_url, GRACE);
    await host.enrolPasskey(grace, proof, new SoftAuthenticator(ORIGIN));
    const answer = { provider: 'acme', parameters, attempt_token: begun.body.attempt_token, redirect_uri: PAGES[0] };
    const refused = await host.call('post', 'confirm-identity/callback', grace).send(answer).expect(423);
    expect(refused.headers[METHODS]).toBe('passkey');
    await host.call('post', 'confirm-identity', grace).send({ provider: 'acme' }).expect(423);
  });
});
