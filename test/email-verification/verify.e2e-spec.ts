import { UserProvider, Verified } from '@svc/auth';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { ENCRYPTION_KEY } from '../support/hosts/host.module';
import { API_URL, linkIn, member, membersForFile, startMembers } from '../support/hosts/members';
import { ADA, Member } from '../support/hosts/user-entities';

const FRONTEND = 'https://app.example.test/verified?from=mail';
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('an email verification link', () => {
  const { t, mailbox } = membersForFile({ emailVerification: { frontendUrl: FRONTEND } });
  let id: string;
  let token: string;

  beforeEach(async () => {
    id = await member(t, ADA);
    token = (await t.session()).access_token;
  });

  const resend = (as = token) => t.call('post', '/auth/email/verification-notification', as);
  async function link(): Promise<URL> {
    const before = mailbox.mails.length;
    await resend().expect(202);
    return mailbox.linkAfter(before);
  }
  const open = (url: URL | string, accept = 'application/json') =>
    t.http.get(String(url).replace(API_URL, '')).set('Accept', accept);
  const isVerified = async (): Promise<boolean> =>
    (await t.database.query('SELECT email_verified_at IS NOT NULL AS yes FROM members WHERE id = $1', [id]))[0].yes;

  it('is mailed on request and begins with the configured URL, whatever headers the request has', async () => {
    t.clock.stop();
    const { body, headers } = await resend()
      .set('Host', 'evil.test')
      .set('X-Forwarded-Host', 'evil.test')
      .set('X-Forwarded-Proto', 'gopher')
      .expect(202);
    expect(body).toEqual({ status: 'verification-link-sent' });
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    const mail = await mailbox.nth(1);
    expect(mail).toMatchObject({ to: ADA, subject: 'Confirm your email address for api.example.com' });
    const hash = createHash('sha1').update(ADA).digest('hex');
    const url = linkIn(mail);
    expect(url.href).toMatch(
      new RegExp(`^${API_URL}/auth/email/verify/${id}/${hash}\\?expires=\\d+&signature=[0-9a-f]{64}$`),
    );
    expect(Number(url.searchParams.get('expires'))).toBe(t.clock.seconds() + 3600);
    expect(mail.text).not.toContain('evil');
  });

  it('verifies, and answers a JSON client 204 and redirects a browser to the configured page', async () => {
    const { headers } = await open(await link()).expect(204);
    expect(headers['cache-control']).toBe('no-store, private');
    expect(await isVerified()).toBe(true);
    await t.database.query('UPDATE members SET email_verified_at = NULL');
    const browser = await open(await link(), 'text/html,application/xhtml+xml,*/*;q=0.8').expect(302);
    expect(browser.headers.location!.split('#')[0]).toBe(`${FRONTEND}&verified=1`);
    expect(browser.headers['referrer-policy']).toBe('no-referrer');
    expect(await isVerified()).toBe(true);
  });

  it('works without a token and repeatedly, and emits one event', async () => {
    const verified = t.recorded(Verified);
    const url = await link();
    await Promise.all(Array.from({ length: 20 }, () => open(url).expect(204)));
    await open(url).expect(204);
    expect(verified).toEqual([{ user: expect.objectContaining({ id, email: ADA }) }]);
  });

  it('is not mailed to a user who has opened one with a session', async () => {
    await open(await link())
      .set('Authorization', `Bearer ${token}`)
      .expect(204);
    const before = mailbox.mails.length;
    const { body } = await resend().expect(202);
    expect(body).toEqual({ status: 'verification-link-sent' });
    await t.calm();
    expect(mailbox.mails).toHaveLength(before);
  });

  it.each<[string, (url: URL) => string]>([
    ['a second expiry', (url) => `${url}&expires=9999999999`],
    ['a later expiry', (url) => url.href.replace(/expires=\d+/, 'expires=9999999999')],
    ['no signature', (url) => url.href.replace(/&signature=.*/, '')],
    ['an empty signature', (url) => url.href.replace(/signature=.*/, 'signature=')],
    ['a flipped signature', (url) => url.href.replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
    ['a signature in capitals', (url) => url.href.replace(/signature=.*/, (text) => text.toUpperCase())],
    ['a list of signatures', (url) => url.href.replace('signature=', 'signature[]=')],
    ['no query', (url) => url.href.split('?')[0]!],
    ['another user', (url) => url.href.replace(/verify\/[^/]+/, 'verify/00000000-0000-4000-8000-000000000000')],
    ['another hash', (url) => url.href.replace(/[0-9a-f]{40}/, 'f'.repeat(40))],
  ])('is refused with %s, with and without a token', async (_, change) => {
    const url = change(await link());
    const { body, headers } = await open(url).expect(403);
    expect(body).toEqual({ message: 'This link is not valid, or not any more.' });
    expect(headers.location).toBeUndefined();
    const browser = await open(url, BROWSER).expect(302);
    expect(browser.headers.location).toBe(`${FRONTEND}&verification=invalid`);
    expect(await isVerified()).toBe(false);
  });

  it.each<[string, (url: URL) => string]>([
    ['parameters that a tracker adds', (url) => `${url}&utm_source=mail&redirect=https://evil.test`],
    ['the parameters in another order', (url) => url.href.replace(/\?(.*)&(.*)/, '?a=b&$2&$1')],
    ['&amp; and the > after it in the mail', (url) => `${url.href.replace('&', '&amp;')}>`],
    ['an encoded query', (url) => url.href.replace(/\?.*/, (query) => `?${encodeURIComponent(query.slice(1))}.`)],
    ['an encoded question mark', (url) => url.href.replace(/\?.*/, encodeURIComponent)],
  ])('verifies with %s, and leads to the configured page with the mailed link', async (_, change) => {
    const url = await link();
    const { headers } = await open(change(url), BROWSER).expect(302);
    expect(headers.location).toBe(`${FRONTEND}&verified=1#link=${encodeURIComponent(url.href)}`);
    expect(await isVerified()).toBe(true);
  });

  it('is valid for an hour', async () => {
    const [late, last] = [await link(), await link()];
    t.clock.advance(3590);
    await open(last).expect(204);
    t.clock.advance(11);
    await open(late).expect(403);
    const browser = await open(late, BROWSER).expect(302);
    expect(browser.headers).toMatchObject({
      location: `${FRONTEND}&verification=expired`,
      'cache-control': 'no-store, private',
      'referrer-policy': 'no-referrer',
    });
  });

  it('verifies only the address that it was mailed to', async () => {
    const old = await link();
    await t.database.getRepository(Member).update({ id }, { email: 'new@example.com' });
    const { body } = await open(old).expect(403);
    expect(body).toEqual({ message: 'This link is for another email address.' });
    const browser = await open(old, BROWSER).expect(302);
    expect(browser.headers.location).toBe(`${FRONTEND}&verification=outdated`);
    expect(await isVerified()).toBe(false);
    const current = await link();
    await t.database.getRepository(Member).update({ id }, { email: ADA });
    await open(current).expect(403);
    await open(old).expect(204);
  });

  it.each([
    ['application/json', 403, undefined],
    ['text/html', 302, `${FRONTEND}&verification=outdated`],
  ])(
    'is refused and verifies nothing if the address changes during the request (%s)',
    async (accept, status, location) => {
      const url = await link();
      const verified = t.recorded(Verified);
      const users = t.app.get<Required<UserProvider>>(UserProvider as never);
      const mark = users.markEmailVerified.bind(users);
      jest.spyOn(users, 'markEmailVerified').mockImplementation(async (...args) => {
        await t.database.getRepository(Member).update({ id }, { email: 'new@example.com' });
        return mark(...args);
      });
      const { headers } = await open(url, accept).expect(status);
      expect(headers.location).toBe(location);
      expect([await isVerified(), verified]).toEqual([false, []]);
    },
  );

  it('is refused if its user is deleted during the request', async () => {
    const url = await link();
    const users = t.app.get(UserProvider);
    jest.spyOn(users, 'markEmailVerified').mockImplementation(async () => {
      await t.database.getRepository(Member).delete({ id });
      return false;
    });
    await open(url).expect(403);
  });

  it('has no effect in a HEAD request, valid or not', async () => {
    const url = await link();
    const head = (path: string) => t.http.head(path.replace(API_URL, ''));
    const [genuine, bad] = [await head(url.href), await head('/auth/email/verify/x/y')];
    expect([genuine.status, bad.status]).toEqual([204, 204]);
    expect(genuine.headers['cache-control']).toBe('no-store, private');
    expect(await isVerified()).toBe(false);
    await open(url).expect(204);
  });

  it('is refused after the deletion of its user', async () => {
    const url = await link();
    await t.database.getRepository(Member).delete({ id });
    await open(url).expect(403);
  });

  it('is counted before its signature is checked', async () => {
    const limited = await startMembers({
      rateLimits: { emailVerification: { maxAttempts: 2 } },
      emailVerification: { frontendUrl: FRONTEND },
      keyPrefix: `${id}:`,
    });
    const bad = '/auth/email/verify/x/y';
    for (const status of [403, 403, 429])
      await limited.t.http.get(bad).set('Accept', 'application/json').expect(status);
    const { headers } = await limited.t.http.get(bad).set('Accept', BROWSER).expect(302);
    expect(headers.location).toBe(`${FRONTEND}&verification=unavailable`);
    await limited.t.http.head(bad).expect(429);
    await limited.t.stop();
  });

  it('does not depend on the token keys: its key is derived from the encryption key', async () => {
    const url = await link();
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = (key: typeof publicKey, type: 'spki' | 'pkcs8'): string => String(key.export({ type, format: 'pem' }));
    const keys = { private: pem(privateKey, 'pkcs8'), public: { default: pem(publicKey, 'spki') } };
    const former = { key: 'another key of encryption at rest 0123456789', previousKeys: [ENCRYPTION_KEY] };
    const options = { algorithm: 'ES256' as const, keys, encryption: former };
    const other = await startMembers(options, { databaseUrl: t.databaseUrl });
    const path = url.href.replace(API_URL, '');
    await other.t.http.get(path).expect(204);
    await other.t.stop();
    const stranger = { encryption: { key: former.key } };
    const third = await startMembers(stranger, { databaseUrl: t.databaseUrl });
    await third.t.http.get(path).expect(403);
    await third.t.stop();
  });

  it('is answered without a redirect to all clients without a configured page', async () => {
    const pageless = await startMembers({}, { databaseUrl: t.databaseUrl });
    const path = (await link()).href.replace(API_URL, '');
    await pageless.t.http.get(path).set('Accept', BROWSER).expect(204);
    await pageless.t.http.get(`${path}0`).set('Accept', BROWSER).expect(403);
    await pageless.t.stop();
  });
});

describe('a login that requires a verified address', () => {
  it('succeeds after the mailed link was opened', async () => {
    const { t, mailbox } = await startMembers({ emailVerification: { blockUnverifiedLogin: true } });
    const password = 'a horse to be verified';
    const form = { name: 'Ada', email: ADA, password, password_confirmation: password };
    await t.http.post('/auth/register').send(form).expect(201);
    await t.login(ADA, password).expect(403);
    await t.http.get(linkIn(await mailbox.nth(1)).href.replace(API_URL, '')).expect(204);
    await t.login(ADA, password).expect(200);
    await t.stop();
  });
});
