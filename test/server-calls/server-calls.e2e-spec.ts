import * as library from '@svc/auth';
import * as accessKeys from '@svc/auth/access-keys';
import * as operators from '@svc/auth/operators';
import * as identities from '@svc/auth/identities';
import type { ExecutionContext } from '@nestjs/common';
import {
  type AuthException,
  AccessTokenGuard,
  AccountLocked,
  AuthConfigError,
  type CallSource,
  LoginFlow,
  Registered,
  SecurityStore,
  SessionFlow,
  type SessionTokens,
  StoreUnavailable,
  Unauthenticated,
  ValidationFailed,
} from '@svc/auth';
import { SoftAuthenticator, totpCode } from '@svc/auth/testing';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestApp, claimsOf } from '../support/hosts/app';
import { ROOT } from '../docs/blocks';
import { forge } from '../support/clients/forge';
import { member, membersForFile } from '../support/hosts/members';
import { ORIGIN, PASSKEYS } from '../support/flows/passkeys';
import { newAddress, rateLimitedForFile } from '../support/hosts/rate-limited-host';
import { SecurityLines } from '../support/views/security-lines';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

const CLIENT: CallSource = { ip: '203.0.113.7', userAgent: 'a job' };

const bearer = ({ accessToken }: SessionTokens, more: CallSource = CLIENT): CallSource => ({
  ...more,
  headers: { ...more.headers, authorization: `Bearer ${accessToken}` },
});

const tokensOf = (result: object): SessionTokens => {
  expect(result).toHaveProperty('accessToken');
  return result as SessionTokens;
};

/** The context of a guarded handler of the host. */
const contextOf = (request: object): ExecutionContext =>
  ({
    getType: () => 'http',
    getArgs: () => [],
    getClass: () => class {},
    getHandler: () => () => undefined,
    switchToHttp: () => ({ getRequest: () => request, getResponse: () => ({}) }),
  }) as never;

const outcome = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);

describe('the table of server calls', () => {
  const page = readFileSync(join(ROOT, 'docs/server-calls.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `((?:GET|HEAD|POST|PATCH|DELETE) [^`]+)` +\| (.+?) +\| (.+?) +\|$/gm)];

  it.each(
    rows.filter(([, , call]) => !call!.startsWith('–')).map(([, route, call, injectable]) => [route, call, injectable]),
  )('gives %s a call that exists: %s of %s', (_, call, injectable) => {
    const [, property, method] = /^`auth\.(\w+)(?:\.(\w+))?\(/.exec(call!)!;
    const type = ({ ...library, ...accessKeys, ...identities, ...operators } as Record<string, unknown>)[
      injectable!.replaceAll('`', '')
    ] as {
      prototype: object;
    };
    expect(type.prototype).toHaveProperty(method ?? property!, expect.any(Function));
    if (method) expect(Object.getOwnPropertyDescriptor(library.Auth.prototype, property!)?.get).toBeDefined();
  });
});

describe('a server call', () => {
  const lines = new SecurityLines();
  const { t, mailbox } = membersForFile({
    features: { twoFactor: true, passkeys: true, lockout: true },
    passkeys: PASSKEYS.passkeys,
    lockout: { maxAttempts: 3 },
    ...lines.options,
  });

  const signIn = async (client = CLIENT): Promise<SessionTokens> =>
    tokensOf(await t.auth.login.attempt({ identifier: ADA, password: PASSWORD }, client));

  it('signs in, and the session shows the client', async () => {
    await member(t, ADA);
    const tokens = await signIn();
    expect(await t.auth.sessions.list(bearer(tokens))).toMatchObject([
      { ip: '203.0.113.7', user_agent: 'a job', current: true, id: claimsOf(tokens.accessToken).fid },
    ]);
    await t.get('/private', tokens.accessToken).expect(200);
  });

  it('that starts or continues a session returns the id of the user, which is no part of the delivered body', async () => {
    await member(t, ADA);
    const tokens = await signIn();
    const next = await t.auth.sessions.refresh(tokens.refreshToken, CLIENT);
    const own = await t.auth.startSession(tokens.userId);
    const registered = tokensOf(
      await t.auth.registration.register({ name: 'Eve', email: 'eve@example.com', password: PASSWORD }, CLIENT),
    );
    const results = [tokens, next, own, registered];
    expect(results.map(({ userId }) => userId)).toEqual(results.map((each) => claimsOf(each.accessToken).sub));
    expect(new Set(results.map(({ userId }) => userId)).size).toBe(2);
    const response = { set: () => undefined, header: () => undefined };
    const fields = ['access_token', 'expires_in', 'refresh_token', 'token_type'];
    expect(Object.keys(t.auth.deliver(response, own)).sort()).toEqual(fields);
    expect(Object.keys((await t.login(ADA, PASSWORD).expect(200)).body).sort()).toEqual(fields);
  });

  it('refreshes and ends sessions as the routes do', async () => {
    await member(t, ADA);
    const [first, other, third] = [await signIn(), await signIn(), await signIn()];
    const next = await t.auth.sessions.refresh(first!.refreshToken, CLIENT);
    expect(claimsOf(next.accessToken).fid).toBe(claimsOf(first!.accessToken).fid);
    expect(await outcome(t.auth.sessions.refresh('nothing', CLIENT))).toMatchObject({ code: 'invalid_refresh_token' });
    expect(await outcome(t.auth.sessions.refresh(undefined as never, CLIENT))).toMatchObject({
      code: 'invalid_refresh_token',
    });
    await t.auth.sessions.end(claimsOf(other!.accessToken).fid as string, bearer(next));
    await t.get('/private', other!.accessToken).expect(401);
    await t.auth.sessions.endOthers(bearer(next));
    await t.get('/private', third!.accessToken).expect(401);
    await t.auth.sessions.logout(bearer(next));
    await t.get('/private', next.accessToken).expect(401);
    const last = await signIn();
    await t.auth.sessions.endAll(bearer(last));
    await t.refresh(last.refreshToken).expect(401);
    const accessToken = forge({ claims: { sub: claimsOf(last.accessToken).sub }, without: ['fid'] });
    await t.get('/private', accessToken).expect(200);
    await t.auth.sessions.endAll(bearer({ ...last, accessToken }));
    await t.get('/private', accessToken).expect(401);
  });

  it('counts failures together with the route, locks the account and writes the same log lines', async () => {
    await member(t, ADA);
    const locked = t.recorded(AccountLocked);
    const wrong = () => outcome(t.auth.login.attempt({ identifier: ADA, password: 'wrong' }, CLIENT));
    const written = await lines.during(async () => {
      expect(await wrong()).toMatchObject({ code: 'wrong_credentials' });
      await t.login(ADA, 'wrong').expect(422);
      const { body } = await t.login('unknown@example.com', 'wrong').expect(422);
      const refused = (await wrong()) as AuthException;
      expect(refused.getResponse()).toEqual(body);
      expect(locked).toHaveLength(1);
      expect(await outcome(signIn())).toMatchObject({ code: 'account_locked' });
      await t.login(ADA).expect(423);
    });
    const failures = written.filter(({ event }) => event === 'auth.login.failed');
    expect(failures.map(({ reason }) => reason)).toEqual([
      'wrong_password',
      'wrong_password',
      'unknown_user',
      'wrong_password',
      'account_locked',
      'account_locked',
    ]);
    expect(failures[0]).toMatchObject({ guard: 'api', ip: '203.0.113.7' });
  });

  it('validates its values as a body', async () => {
    const refused = (await outcome(
      t.auth.login.attempt({ identifier: { $ne: '' } as never, password: PASSWORD }, CLIENT),
    )) as ValidationFailed;
    expect(refused).toBeInstanceOf(ValidationFailed);
    const { body } = await t.http
      .post('/auth/login')
      .send({ email: { $ne: '' }, password: PASSWORD })
      .expect(422);
    expect(refused.getResponse()).toEqual(body);
    for (const nothing of [null, undefined, [], 'text']) {
      expect(await outcome(t.auth.login.attempt(nothing as never, CLIENT))).toMatchObject({
        code: 'wrong_credentials',
      });
      expect(await outcome(t.auth.registration.register(nothing as never, CLIENT))).toBeInstanceOf(ValidationFailed);
      expect(await outcome(t.auth.passwordReset.reset(nothing as never, CLIENT))).toBeInstanceOf(ValidationFailed);
      expect(await outcome(t.auth.challenge.answer('x', nothing as never, CLIENT))).toMatchObject({
        code: 'bad_challenge',
      });
      expect(await outcome(t.auth.emailVerification.verify(nothing as never, CLIENT))).toMatchObject({
        code: 'bad_link',
      });
    }
    const hostile = { toString: 1, valueOf: 1 } as never;
    const parts = { id: hostile, hash: hostile, expires: hostile, signature: hostile };
    expect(await outcome(t.auth.emailVerification.verify(parts, CLIENT))).toMatchObject({ code: 'bad_link' });
    await member(t, ADA);
    const client = bearer(await signIn());
    for (const id of [hostile, ['0b0ae1a2-5a0f-4b5b-9f0e-3f0a6c0d1e2f'] as never, 7 as never])
      expect(await outcome(t.auth.sessions.end(id, client))).toMatchObject({ code: 'no_such_session' });
    const surrogate = { id: '\ud800', hash: 'x', expires: '99999999999', signature: 'a'.repeat(64) };
    expect(await outcome(t.auth.emailVerification.verify(surrogate, CLIENT))).toMatchObject({ code: 'bad_link' });
  });

  it('of an authenticated user needs a caller of its guard', async () => {
    await member(t, ADA);
    await t.person('root@example.com', 'admin');
    const tokens = await signIn();
    const { body } = await t.login('root@example.com', PASSWORD, 'admin').expect(200);
    const staff = { accessToken: body.access_token } as SessionTokens;
    expect(await outcome(t.auth.sessions.list(CLIENT))).toBeInstanceOf(Unauthenticated);
    expect(await outcome(t.auth.sessions.list(bearer(staff)))).toBeInstanceOf(Unauthenticated);
    expect(await t.auth.guard('admin').sessions.list(bearer(staff))).toHaveLength(1);
    expect(await t.app.get(SessionFlow).guard('admin').list(bearer(staff))).toHaveLength(1);
    // A value that only looks like a caller is none.
    const forged = { ...CLIENT, caller: { guard: 'api', userId: '1', familyId: null, grant: {} } as never };
    expect(await outcome(t.auth.sessions.list(forged))).toBeInstanceOf(Unauthenticated);
    await t.auth.revoke(claimsOf(tokens.accessToken).fid as string);
    expect(await outcome(t.auth.sessions.list(bearer(tokens)))).toBeInstanceOf(Unauthenticated);
  });

  it('takes the members of a request only from the request itself', async () => {
    await member(t, ADA);
    const tokens = await signIn();
    // As in Express, the headers and the address are members of the prototype.
    class Incoming {
      get headers() {
        return { authorization: `Bearer ${tokens.accessToken}`, 'user-agent': 'a browser' };
      }
      get ip() {
        return '203.0.113.8';
      }
    }
    const request = new Incoming();
    const confirmationToken = await t.auth.confirmation.byPassword(PASSWORD, request);
    await t.auth.enrolment.start({ request, confirmationToken });
    await t.app.get(AccessTokenGuard).canActivate(contextOf(request));
    const copied = { ...request, confirmationToken };
    const message = expect.stringContaining('Pass { request, … } instead');
    expect(await outcome(t.auth.enrolment.start(copied))).toMatchObject({ cause: { message } });
    // A copy loses the headers. It keeps these members: the first in Express, the second in Fastify.
    for (const own of [{ rawHeaders: [] }, { raw: {} }])
      expect(await outcome(t.auth.login.attempt({ identifier: ADA, password: PASSWORD }, own))).toMatchObject({
        cause: { message },
      });
    const session = tokensOf(await t.auth.login.attempt({ identifier: ADA, password: PASSWORD }, { request }));
    expect((await t.auth.sessions.list(bearer(session)))[0]).toMatchObject({
      ip: '203.0.113.8',
      user_agent: 'a browser',
    });
  });

  it('refuses a caller whose token has expired', async () => {
    await member(t, ADA);
    const tokens = await signIn();
    const request: CallSource = bearer(tokens);
    await t.auth.sessions.list(request);
    const guard = t.app.get(AccessTokenGuard);
    await guard.canActivate(contextOf(request));
    expect(await t.auth.sessions.list(request)).toHaveLength(1);
    t.clock.advance(906);
    expect(await outcome(t.auth.sessions.list(request))).toBeInstanceOf(Unauthenticated);
  });

  it('needs the ability and the confirmation that its route needs', async () => {
    const id = await member(t, ADA);
    const pinned = await t.auth.startSession(id, { amr: ['pwd'] }, ['orders.read']);
    expect(await outcome(t.auth.sessions.list(bearer(pinned)))).toMatchObject({ code: 'insufficient_scope' });
    const tokens = await signIn();
    expect(await outcome(t.auth.enrolment.start(bearer(tokens)))).toMatchObject({ code: 'confirmation_required' });
    expect(await outcome(t.auth.confirmation.byPassword('wrong', bearer(tokens)))).toMatchObject({
      code: 'wrong_password',
    });
    const confirmationToken = await t.auth.confirmation.byPassword(PASSWORD, bearer(tokens));
    const { otpauthUri } = await t.auth.enrolment.start({ ...bearer(tokens), confirmationToken });
    expect(otpauthUri).toContain('otpauth://totp/');
    const other = await signIn();
    expect(await outcome(t.auth.enrolment.start({ ...bearer(other), confirmationToken }))).toMatchObject({
      code: 'confirmation_session_mismatch',
    });
  });

  it('enrols an authenticator and completes a login with it', async () => {
    await member(t, ADA);
    const tokens = await signIn();
    const client = {
      ...bearer(tokens),
      confirmationToken: await t.auth.confirmation.byPassword(PASSWORD, bearer(tokens)),
    };
    const { otpauthUri } = await t.auth.enrolment.start(client);
    expect(await outcome(t.auth.enrolment.confirm('000000', client))).toMatchObject({ code: 'wrong_code' });
    await t.auth.enrolment.confirm(totpCode(otpauthUri, t.clock), client);
    t.clock.advance(30);
    const challenge = await t.auth.login.attempt({ identifier: ADA, password: PASSWORD }, CLIENT);
    if (!('challenge_token' in challenge)) throw new Error('no challenge');
    expect(challenge.methods).toEqual(['totp', 'recovery_code']);
    const { challenge_token: token } = challenge;
    const completed = await t.auth.challenge.answer(token, { code: totpCode(otpauthUri, t.clock) }, CLIENT);
    expect(claimsOf(completed.accessToken).amr).toEqual(['pwd', 'otp']);
    expect(await outcome(t.auth.challenge.answer(token, { code: '000000' }, CLIENT))).toMatchObject({
      code: 'bad_challenge',
    });
    expect(await t.auth.enrolment.recoveryCodes(bearer(completed))).toEqual({ remaining: 8, total: 8 });
    expect(await t.auth.enrolment.replaceRecoveryCodes(client)).toHaveLength(8);
    await t.auth.enrolment.disable(client);
    tokensOf(await signIn());
  });

  it('registers, uses, renames and removes a passkey', async () => {
    await member(t, ADA);
    const tokens = await signIn();
    const client = {
      ...bearer(tokens),
      confirmationToken: await t.auth.confirmation.byPassword(PASSWORD, bearer(tokens)),
    };
    const authenticator = new SoftAuthenticator(ORIGIN);
    const credential = authenticator.create((await t.auth.passkeys.registrationOptions(client)) as never);
    await t.auth.passkeys.register(credential, client, 'phone');
    const { passkeys } = await t.auth.passkeys.list(client);
    expect(passkeys).toMatchObject([{ name: 'phone' }]);
    const answered = async () => {
      const { ceremonyId, options } = await t.auth.passkeys.loginOptions(CLIENT);
      return { ceremonyId, credential: authenticator.get(options as never) };
    };
    const session = await t.auth.passkeys.login(await answered(), CLIENT);
    expect(claimsOf(session.accessToken).amr).toEqual(['webauthn']);
    const confirmationToken = await t.auth.passkeys.confirm(await answered(), bearer(session));
    const confirmed = { ...bearer(session), confirmationToken };
    await t.auth.passkeys.rename(passkeys[0]!.id, null, confirmed);
    expect((await t.auth.passkeys.list(client)).passkeys).toMatchObject([{ name: null }]);
    await t.auth.passkeys.remove(passkeys[0]!.id, confirmed);
    expect((await t.auth.passkeys.list(client)).passkeys).toEqual([]);
  });

  it('registers an account, verifies its email, changes and resets its password, exports and deletes it', async () => {
    const registered = t.recorded(Registered);
    const fields = { name: 'Ada', email: ADA, password: PASSWORD };
    const tokens = tokensOf(await t.auth.registration.register(fields, CLIENT));
    expect(registered).toHaveLength(1);
    const link = new URL(/https:\S+/.exec((await mailbox.nth(1)).text)![0]);
    const [id, hash] = link.pathname.split('/').slice(-2) as [string, string];
    const [expires, signature] = ['expires', 'signature'].map((name) => link.searchParams.get(name)!);
    await t.auth.emailVerification.verify({ id, hash, expires: expires!, signature: signature! }, CLIENT);

    const NEXT = 'another-battery-staple';
    await t.auth.passwordChange.change({ currentPassword: PASSWORD, password: NEXT }, bearer(tokens));
    await t.auth.passwordReset.request(ADA, CLIENT);
    const reset = new URL(/https:\S+/.exec((await mailbox.nth(2)).text)![0]);
    const token = reset.searchParams.get('token')!;
    await t.auth.passwordReset.reset({ token, email: ADA, password: PASSWORD }, CLIENT);
    expect(await outcome(t.auth.passwordReset.reset({ token, email: ADA, password: NEXT }, CLIENT))).toMatchObject({
      code: 'reset_failed',
    });

    const again = await signIn();
    const confirmationToken = await t.auth.confirmation.byPassword(PASSWORD, bearer(again));
    const client = { ...bearer(again), confirmationToken };
    expect((await t.auth.account.export(client)).account).toMatchObject({ identifier: ADA });
    await t.auth.account.delete(client);
    expect(await outcome(signIn())).toMatchObject({ code: 'wrong_credentials' });
  });

  it('throws StoreUnavailable when a store does not answer, and passes errors of the host unchanged', async () => {
    jest.spyOn(t.app.get(SecurityStore), 'count').mockRejectedValue(new StoreUnavailable('Redis'));
    expect(await outcome(signIn())).toBeInstanceOf(StoreUnavailable);
    jest.restoreAllMocks();
    jest.spyOn(t.app.get(SecurityStore), 'count').mockRejectedValue(new RangeError('of the host'));
    expect(await outcome(signIn())).toBeInstanceOf(RangeError);
    jest.restoreAllMocks();
  });
});

describe('the rate limit of a server call', () => {
  const t = rateLimitedForFile({ rateLimits: { login: { ipMaxAttempts: 3, maxAttempts: 2 } } });

  it('is that of its route: attempts of both are counted together, by the address of the client', async () => {
    const ip = newAddress();
    const attempt = (address: string, identifier = 'unknown@example.com') =>
      outcome(t.app.get(LoginFlow).attempt({ identifier, password: 'wrong' }, { ip: address }));
    expect(await attempt(ip)).toMatchObject({ code: 'wrong_credentials' });
    await t.login('other@example.com').set('X-Forwarded-For', ip).expect(422);
    expect(await attempt(ip, 'third@example.com')).toMatchObject({ code: 'wrong_credentials' });
    expect(await attempt(ip)).toMatchObject({
      code: 'too_many_requests',
      headers: { 'Retry-After': expect.any(String) },
    });
    await t.login('other@example.com').set('X-Forwarded-For', ip).expect(429);
    const elsewhere = newAddress();
    const body = { email: 'fourth@example.com', password: 'wrong' };
    await t.http.post('/auth/login').set('X-Forwarded-For', elsewhere).send(body).expect(422);
    expect(await attempt(elsewhere, 'fourth@example.com')).toMatchObject({ code: 'wrong_credentials' });
    expect(await attempt(elsewhere, 'fourth@example.com')).toMatchObject({ code: 'too_many_failures' });
  });

  it('applies to concurrent calls', async () => {
    const ip = newAddress();
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        outcome(t.auth.login.attempt({ identifier: `user-${i}@example.com`, password: 'wrong' }, { ip })),
      ),
    );
    expect(all.filter((error) => (error as AuthException).code === 'wrong_credentials')).toHaveLength(3);
    expect(all.filter((error) => (error as AuthException).code === 'too_many_requests')).toHaveLength(17);
  });
});

describe('a server call without routes', () => {
  it('has its feature checked at the start, as the routes have', async () => {
    const starting = (features: object) => TestApp.start({ options: { routes: false, features } });
    await expect(starting({ passwordReset: true })).rejects.toThrow(/passwordReset.frontendUrl .* mail.mailer/s);
    await expect(starting({ registration: true })).rejects.toThrow(/cannot be created/);
    const t = await starting({});
    try {
      await t.person(ADA);
      const tokens = tokensOf(await t.auth.login.attempt({ identifier: ADA, password: PASSWORD }, CLIENT));
      await t.get('/private', tokens.accessToken).expect(200);
      await t.get('/auth/jwks').expect(404);
      const refused = async (call: () => unknown): Promise<unknown> => outcome((async () => call())());
      await expect(t.auth.sessions.list(CLIENT)).rejects.toBeInstanceOf(Unauthenticated);
      const off = await refused(() => t.auth.enrolment.start(bearer(tokens)));
      expect((off as Error).cause).toMatchObject({
        message: 'The guard "api" does not have features.twoFactor.',
      });
      expect(() => t.auth.guard('none')).toThrow(AuthConfigError);
    } finally {
      await t.stop();
    }
  });
});

describe('tokens that the host delivers', () => {
  const PAGE = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', host: 'api.example.com' };
  const t = TestApp.forFile({
    options: { cookieMode: true, cookie: { origins: ['https://*.preview.example.com'] } },
  });
  beforeEach(async () => void (await t.person(ADA)));

  it('are refused to pages of other origins in cookie mode', async () => {
    const attempt = (headers: object) =>
      outcome(
        t.auth.login.attempt({ identifier: ADA, password: PASSWORD }, { ip: '203.0.113.7', headers: { ...headers } }),
      );
    expect(await attempt(PAGE)).toMatchObject({ code: 'foreign_page' });
    expect(await attempt({ Origin: PAGE.origin, Host: PAGE.host })).toMatchObject({ code: 'foreign_page' });
    tokensOf(
      (await attempt({ ...PAGE, origin: 'https://api.example.com', 'sec-fetch-site': 'same-origin' })) as object,
    );
    tokensOf((await attempt({})) as object);
  });

  it('are accepted by the pages of a wildcard origin, as the routes are, which are refused to all others', async () => {
    const from = (origin: string) => t.login(ADA, PASSWORD).set({ Origin: origin, 'Sec-Fetch-Site': 'same-site' });
    const { headers } = await from('https://pr-7.preview.example.com').expect(200);
    const [cookie] = headers['set-cookie'] as unknown as string[];
    for (const origin of ['https://preview.example.com', 'https://a.b.preview.example.com'])
      await from(origin).expect(403);
    const renewed = (origin: string) => t.http.post('/auth/refresh').set({ Origin: origin, Cookie: cookie! });
    await renewed('https://a.b.preview.example.com').expect(403);
    await renewed('https://pr-8.preview.example.com').expect(200);
    const page = { host: PAGE.host, 'sec-fetch-site': 'same-site', origin: 'https://pr-7.preview.example.com' };
    const source = { ip: '203.0.113.7', headers: page };
    tokensOf(await t.auth.login.attempt({ identifier: ADA, password: PASSWORD }, source));
  });
});
