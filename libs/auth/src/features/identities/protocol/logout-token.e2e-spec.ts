import { Logger } from '@nestjs/common';
import { signingKey } from '../../../../../../test/support/hosts/key-server';
import { IdentityProviderHost, json } from '../../../../../../test/support/identity-provider/identity-provider';
import { TestClients, unavailable } from './clients.testkit';

const BAD = { code: 'bad_logout_token', failure: { status: 400 } };

describe('the logout token of a provider', () => {
  let host: IdentityProviderHost;
  let t: TestClients;
  let lines: string[];

  beforeAll(async () => (host = await IdentityProviderHost.start()));
  afterAll(() => host.stop());
  beforeEach(() => {
    host.reset();
    t = new TestClients(host);
    lines = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: string) => void lines.push(line));
  });

  const now = (): number => Math.floor(Date.now() / 1000);
  const verify = (claims: object, header = {}) =>
    t.clients.verifyLogout('main', host.logoutToken('app', { ...claims }, header));

  it.each([
    ['subject', { sub: 'ada' }, { subject: 'ada', sid: null }],
    ['session', { sid: 'session-1' }, { subject: null, sid: 'session-1' }],
  ])('names a %s', async (_, claims, named) => {
    const iat = now();
    expect(await verify({ ...claims, jti: 'once', iat, exp: iat + 120 })).toEqual({
      issuer: host.issuer,
      jti: 'once',
      expiresAt: iat + 120 + 60,
      ...named,
    });
  });

  it('is no token: it is refused before the provider is asked, and without a line in the log', async () => {
    host.answer('discovery', (_, response) => response.writeHead(503).end());
    for (const text of ['', 'x', 'a.b.c', '{}', 'e30.e30.e30'])
      await expect(t.clients.verifyLogout('main', text)).rejects.toMatchObject(BAD);
    expect(lines).toEqual([]);
  });

  it('is refused with at most 60 lines a minute in the log', async () => {
    t.clock.stop();
    for (let i = 0; i < 70; i++) await expect(verify({})).rejects.toMatchObject(BAD);
    expect(lines).toHaveLength(60);
    t.clock.advance(60);
    await expect(verify({})).rejects.toMatchObject(BAD);
    expect(lines).toHaveLength(61);
  });

  it('has a bounded time in which it is remembered, whatever it says', async () => {
    const iat = now();
    expect((await verify({ sub: 'ada', iat, exp: iat + 1_000_000 })).expiresAt).toBe(iat + 600 + 60);
  });

  it('is accepted without a type, as older providers send it', async () => {
    expect(await verify({ sub: 'ada' }, { typ: undefined })).toMatchObject({ subject: 'ada' });
    expect(await verify({ sub: 'ada' }, { typ: 'JWT' })).toMatchObject({ subject: 'ada' });
  });

  it.each<[string, string, object, object?]>([
    ['names no person', 'neither', {}],
    ['has a nonce', 'ID token', { nonce: 'n' }],
    ['has no event', 'events', { events: undefined }],
    ['has another event', 'logout event', { events: { 'https://example.com/other': {} } }],
    ['has no jti', 'jti', { jti: undefined }],
    ['has a long jti', 'jti', { jti: 'x'.repeat(256) }],
    ['has a subject that is no text', 'subject', { sub: 1 }],
    ['has a subject that no provider may have', 'subject', { sub: 'a\u0000' }],
    ['has a long session', 'session', { sid: 'x'.repeat(256) }],
    ['is for another client', '"aud"', { aud: 'another' }],
    ['is of another issuer', '"iss"', { iss: 'https://evil.example.com' }],
    ['has expired', '"exp"', { iat: now() - 300, exp: now() - 180 }],
    ['is old, although it has not expired', '"iat"', { iat: now() - 700, exp: now() + 700 }],
    ['is of the future', '"iat"', { iat: now() + 300, exp: now() + 600 }],
    ['never expires', 'exp', { exp: undefined }],
    ['has no signature', 'alg', {}, { alg: 'none' }],
    ["is signed with the client's secret", 'alg', {}, { alg: 'HS256' }],
    ['is an access token', 'type', {}, { typ: 'at+jwt' }],
  ])('is refused if it %s', async (what, cause, claims, header = {}) => {
    const named = what === 'names no person' ? claims : { sub: 'ada', ...claims };
    await expect(verify(named, header)).rejects.toMatchObject(BAD);
    expect(lines).toEqual([expect.stringContaining(cause)]);
  });

  it('is refused with a foreign signature, and without one', async () => {
    host.wrong.key = signingKey('first');
    await expect(verify({ sub: 'ada' })).rejects.toMatchObject(BAD);
    for (const text of ['', 'a.b', 'a.b.c', '{}'])
      await expect(t.clients.verifyLogout('main', text)).rejects.toMatchObject(BAD);
  });

  it('is not an ID token of the same provider', async () => {
    const { sub, ...others } = { sub: 'ada', events: undefined, nonce: 'n' };
    await expect(verify({ sub, ...others }, { typ: 'JWT' })).rejects.toMatchObject(BAD);
  });

  it('is verified with keys that the sign-in has read, and with new ones after ten seconds', async () => {
    await t.signIn();
    await verify({ sub: 'ada' });
    expect(host.requests.filter((endpoint) => endpoint === 'jwks')).toHaveLength(1);
    host.rotateKeys('second');
    await expect(verify({ sub: 'ada' })).rejects.toMatchObject(BAD);
    await t.clock.advance(10);
    expect(await verify({ sub: 'ada' })).toMatchObject({ subject: 'ada' });
    expect(host.requests.filter((endpoint) => endpoint === 'jwks')).toHaveLength(2);
  });

  it('is refused with the signature of a key that the provider has withdrawn, after five minutes', async () => {
    await verify({ sub: 'ada' });
    const [withdrawn] = host.keys;
    host.rotateKeys('second');
    host.wrong.key = withdrawn;
    await verify({ sub: 'ada' });
    await t.clock.advance(300);
    const iat = now() + 300;
    await expect(verify({ sub: 'ada', iat, exp: iat + 120 })).rejects.toMatchObject(BAD);
    expect(lines).toEqual([expect.stringContaining('no applicable key')]);
  });

  it('is answered 503 while the keys cannot be read, so that the provider sends it again', async () => {
    host.answer('jwks', (_, response) => json(response, {}, 503));
    await expect(verify({ sub: 'ada' })).rejects.toMatchObject(unavailable(false));
    host.answer('jwks', (_, response) => json(response, { keys: 'none' }));
    await expect(verify({ sub: 'ada' })).rejects.toMatchObject(unavailable(false));
  });
});
