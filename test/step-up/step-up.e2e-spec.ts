import { Controller, Post, UseGuards } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { AccountReleased, Authenticated, PasswordHasher, RequireConfirmation, SecurityStore } from '@svc/auth';
import { hash as digestOf, randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { type TestApp, claimsOf } from '../support/hosts/app';
import {
  ADA,
  CONFIRMATION_HEADER,
  confirmPassword,
  stepUpForFile,
  confirmationTokenOf,
  startStepUp,
} from '../support/flows/step-up';
import { type Forgery, forge } from '../support/clients/forge';
import { ADMIN_AUDIENCE, API_AUDIENCE } from '../support/hosts/host.module';
import { PausePoint, whilePaused } from '../support/faults/pause-point';
import { PASSWORD } from '../support/hosts/user-entities';

const NEXT = 'another horse entirely';

/** The type of a confirmation token. */
const CONFIRMATION = 'reauth+challenge';

describe('POST /confirm-password', () => {
  const t = stepUpForFile({ features: { lockout: true }, lockout: { maxAttempts: 3, releaseAfter: 60 } });
  let token: string;

  beforeEach(async () => void (token = (await t.session()).access_token));

  it('answers the right password with a confirmation for this session that must not be cached', async () => {
    t.clock.stop();
    const { body, headers } = await confirmPassword(t, token).expect(200);
    expect(body).toEqual({ confirmation_token: expect.any(String) });
    expect(headers['cache-control']).toBe('no-store, private');
    const claims = claimsOf(body.confirmation_token);
    expect(claims).toEqual({
      iss: 'https://api.example.com',
      aud: [API_AUDIENCE],
      sub: '1',
      gid: 'api',
      fid: claimsOf(token).fid,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      fpr: expect.stringMatching(/^[0-9a-f]{64}$/),
      iat: Math.floor(t.clock.seconds()),
      nbf: claims.iat,
      exp: (claims.iat as number) + 300,
    });
    const header = JSON.parse(Buffer.from(body.confirmation_token.split('.')[0], 'base64url').toString());
    expect(header).toEqual({ typ: 'reauth+challenge', alg: 'HS256' });
  });

  it('omits the session from the confirmation when the access token has none', async () => {
    const { body } = await confirmPassword(t, forge({ without: ['fid', 'jti'] })).expect(200);
    expect(claimsOf(body.confirmation_token)).not.toHaveProperty('fid');
  });

  it('answers a wrong password with 422, counts it, and locks step-up only', async () => {
    for (const password of ['wrong', ` ${PASSWORD}`, PASSWORD.toUpperCase()]) {
      const { body } = await confirmPassword(t, token, { password }).expect(422);
      const text = 'The password is not correct.';
      expect(body).toEqual({ message: text, errors: { password: [text] } });
    }
    const verify = jest.spyOn(t.app.get(PasswordHasher), 'verify');
    const { body } = await confirmPassword(t, token).expect(423);
    expect(Object.keys(body.errors)).toEqual(['password']);
    expect(body.message).toMatch(/locked. Please try again in (5\d|60) seconds/);
    expect(verify).not.toHaveBeenCalled();
    const rows = await t.database.query('SELECT purpose, subject, guard FROM svc_lockouts');
    expect(rows).toEqual([{ purpose: 'confirm', subject: '1', guard: 'api' }]);
    // The lock applies to the account in every session. A login verifies the same password and releases it.
    const other = (await t.session()).access_token;
    await confirmPassword(t, other).expect(200);
  });

  it('resets the step-up counter after a success, and not the login counter', async () => {
    const released = t.recorded(AccountReleased);
    await t.login(ADA, 'wrong').expect(422);
    await confirmPassword(t, token, { password: 'wrong' }).expect(422);
    await confirmPassword(t, token).expect(200);
    expect(released).toEqual([{ purpose: 'confirm', subject: '1', guard: 'api', failures: 1 }]);
    expect(await t.database.query('SELECT purpose FROM svc_lockouts')).toEqual([{ purpose: 'login' }]);
  });

  it.each<[string, unknown]>([
    ['none', undefined],
    ['null', null],
    ['an empty one', ''],
    ['a list', [PASSWORD]],
    ['an object', { $ne: '' }],
    ['a number', 7],
    ['256 characters', 'x'.repeat(256)],
  ])('answers %s with 422 without counting it', async (_, password) => {
    const { body } = await confirmPassword(t, token, { password }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['password']);
    expect(await t.database.query('SELECT 1 FROM svc_lockouts')).toEqual([]);
  });

  it('requires a token', async () => {
    await t.http.post('/auth/confirm-password').send({ password: PASSWORD }).expect(401);
    await confirmPassword(t, forge({ claims: { sub: '999' } })).expect(401);
  });

  it('refuses a user without a password like a wrong password', async () => {
    const [{ id }] = await t.database.query("INSERT INTO people (email) VALUES ('keyless@example.com') RETURNING id");
    const { accessToken } = await t.auth.startSession(id);
    await confirmPassword(t, accessToken, { password: 'x' }).expect(422);
  });
});

describe('the limit on step-up', () => {
  it('counts every attempt by client and by user, for each guard separately', async () => {
    const run = randomUUID();
    let client = 0;
    const t = await startStepUp({
      keyPrefix: `${run}:`,
      rateLimits: {},
      hooks: { rateLimitKey: () => `${client++}` },
    });
    const { accessToken: one } = await t.auth.startSession(1);
    const { accessToken: two } = await t.auth.startSession(1);
    for (let i = 0; i < 5; i++) {
      await confirmPassword(t, i % 2 ? one : two, { password: i % 2 ? PASSWORD : 'wrong' }).expect(i % 2 ? 200 : 422);
    }
    const { headers, body } = await confirmPassword(t, one).expect(429);
    expect(headers['x-ratelimit-limit']).toBe('5');
    expect(body).toEqual({ message: expect.stringMatching(/Too many attempts/) });
    await confirmPassword(t, (await t.auth.startSession(2)).accessToken).expect(200);
    await confirmPassword(t, (await t.auth.guard('admin').startSession(1)).accessToken, undefined, 'admin').expect(200);
    await t.stop();
  });
});

@Controller('sensitive')
class Sensitive {
  @Post()
  @RequireConfirmation()
  alone() {
    return {};
  }

  @Post('staff')
  @RequireConfirmation()
  @Authenticated('admin')
  staff() {
    return {};
  }

  @Post('staff-last')
  @Authenticated('admin')
  @RequireConfirmation()
  staffLast() {
    return {};
  }

  @Post('passport')
  @UseGuards(AuthGuard('api'))
  @RequireConfirmation()
  passport() {
    return {};
  }
}

@Controller('all-sensitive')
@RequireConfirmation()
class AllSensitive {
  @Post()
  any() {
    return {};
  }
}

const start = (options = {}): TestApp => stepUpForFile(options, [Sensitive, AllSensitive]);
const act = (t: TestApp, token: string, proof?: string, path = '/sensitive') => {
  const call = t.call('post', path, token);
  return proof === undefined ? call : call.set(CONFIRMATION_HEADER, proof);
};

const expectMissing = ({ status, body, headers }: Response): void => {
  expect({ status, body }).toEqual({ status: 423, body: { message: 'Please confirm your identity to continue.' } });
  expect(headers['www-authenticate']).toBe('Bearer error="insufficient_user_authentication", max_age=300');
};

describe('a route that requires confirmation', () => {
  const t = start();
  let token: string;
  let refreshToken: string;

  beforeEach(async () => ({ accessToken: token, refreshToken } = await t.auth.startSession(1)));

  it('answers 423 without a confirmation, and 401 without a token', async () => {
    for (const path of ['/sensitive', '/all-sensitive', '/sensitive/passport']) {
      await t.http.post(path).expect(401);
      expectMissing(await act(t, token, undefined, path));
    }
  });

  it('accepts a confirmation any number of times until it expires', async () => {
    t.clock.stop();
    const proof = await confirmationTokenOf(t, token);
    for (let i = 0; i < 3; i++)
      for (const path of ['/sensitive', '/all-sensitive', '/sensitive/passport'])
        await act(t, token, proof, path).expect(201);
    t.clock.advance(304);
    await act(t, token, proof).expect(201);
    t.clock.advance(1);
    expectMissing(await act(t, token, proof));
  });

  it('accepts a confirmation after a refresh of its session', async () => {
    const proof = await confirmationTokenOf(t, token);
    const { body } = await t.refresh(refreshToken).expect(200);
    await act(t, body.access_token, proof).expect(201);
  });

  it('names the reason when the confirmation belongs to another session', async () => {
    const proof = await confirmationTokenOf(t, token);
    const other = (await t.auth.startSession(1)).accessToken;
    const { body } = await act(t, other, proof).expect(423);
    expect(body).toEqual({
      message: 'Please confirm your identity to continue.',
      reason: 'confirmation_session_mismatch',
    });
    const none = forge({ without: ['fid'] });
    expect((await act(t, none, proof).expect(423)).body.reason).toBe('confirmation_session_mismatch');
    const unbound = await confirmationTokenOf(t, none);
    expect((await act(t, token, unbound).expect(423)).body.reason).toBe('confirmation_session_mismatch');
    await act(t, none, unbound).expect(201);
    await act(t, forge({ without: ['fid'] }), unbound).expect(201);
  });

  it('refuses the confirmation of another user without a reason', async () => {
    const { accessToken: bob } = await t.auth.startSession(2);
    expectMissing(await act(t, bob, await confirmationTokenOf(t, token)));
  });

  it('refuses a confirmation once its session has ended', async () => {
    const proof = await confirmationTokenOf(t, token);
    await t.auth.revoke(String(claimsOf(token).fid));
    await act(t, token, proof).expect(401);
    const { accessToken: next } = await t.auth.startSession(1);
    expect((await act(t, next, proof).expect(423)).body.reason).toBe('confirmation_session_mismatch');
  });

  const change = (access: string, current: string, password: string) =>
    t
      .call('post', '/auth/password', access)
      .send({ current_password: current, password, password_confirmation: password })
      .expect(200);

  it('refuses a confirmation from before a change of the password in its session, and accepts a later one', async () => {
    const [proof, bob] = [await confirmationTokenOf(t, token), (await t.auth.startSession(2)).accessToken];
    const others = await confirmationTokenOf(t, bob);
    await change(token, PASSWORD, NEXT);
    expectMissing(await act(t, token, proof));
    await act(t, bob, others).expect(201);
    const { body } = await confirmPassword(t, token, { password: NEXT }).expect(200);
    await act(t, token, body.confirmation_token).expect(201);
    await change(token, NEXT, PASSWORD);
    expectMissing(await act(t, token, proof));
    expectMissing(await act(t, token, body.confirmation_token));
  });

  it('refuses the confirmation of a token without a session after a change of the password', async () => {
    const none = forge({ without: ['fid'] });
    const proof = await confirmationTokenOf(t, none);
    await act(t, none, proof).expect(201);
    await change(token, PASSWORD, NEXT);
    expectMissing(await act(t, none, proof));
  });

  it('refuses a confirmation after a change of the password by code of the host', async () => {
    const proof = await confirmationTokenOf(t, token);
    await t.database.query('UPDATE people SET password_hash = $1 WHERE id = 1', [
      await t.app.get(PasswordHasher).hash(NEXT),
    ]);
    expectMissing(await act(t, token, proof));
    const { body } = await confirmPassword(t, token, { password: NEXT }).expect(200);
    await act(t, token, body.confirmation_token).expect(201);
    await t.database.query('UPDATE people SET password_hash = NULL WHERE id = 1');
    expectMissing(await act(t, token, body.confirmation_token));
  });

  it('refuses the confirmation of a password that was replaced before it was issued', async () => {
    const hasher = t.app.get(PasswordHasher);
    const verify = hasher.verify.bind(hasher);
    const verified = PausePoint.disabled();
    jest.spyOn(hasher, 'verify').mockImplementation(async (...args) => {
      const matches = await verify(...args);
      await verified.pass();
      return matches;
    });
    const late = await whilePaused(verified, confirmPassword(t, token), () => change(token, PASSWORD, NEXT));
    expect(late.status).toBe(200);
    expectMissing(await act(t, token, late.body.confirmation_token));
  });

  it('accepts the confirmation of its own guard only, in any order of its decorators', async () => {
    const staff = (await t.auth.guard('admin').startSession(1)).accessToken;
    const [own, others] = [await confirmationTokenOf(t, staff, 'admin'), await confirmationTokenOf(t, token)];
    for (const path of ['/sensitive/staff', '/sensitive/staff-last']) {
      await act(t, staff, own, path).expect(201);
      expectMissing(await act(t, staff, others, path));
      await act(t, token, others, path).expect(401);
    }
    expectMissing(await act(t, token, own));
  });

  it('accepts no access token as a confirmation, and no confirmation as an access token', async () => {
    expectMissing(await act(t, token, token));
    await t.get('/private', await confirmationTokenOf(t, token)).expect(401);
    await act(t, await confirmationTokenOf(t, token), await confirmationTokenOf(t, token)).expect(401);
  });

  let digest: string;
  beforeEach(
    async () => ([{ digest }] = await t.database.query('SELECT password_hash AS digest FROM people WHERE id = 1')),
  );
  const jti = randomUUID();
  const good = (): Record<string, unknown> => ({
    aud: [API_AUDIENCE],
    jti,
    fid: claimsOf(token).fid,
    fpr: digestOf('sha256', JSON.stringify([jti, digest])),
    gid: 'api',
    exp: t.clock.seconds() + 300,
  });
  const forged: [string, (claims: Record<string, unknown>) => Forgery][] = [
    ['another key', (claims) => ({ claims, secret: 'x'.repeat(40) })],
    ['the type of a login challenge', (claims) => ({ claims, header: { typ: '2fa+challenge' } })],
    ['no type', (claims) => ({ claims, header: { typ: undefined } })],
    ['the audience as a text', (claims) => ({ claims: { ...claims, aud: API_AUDIENCE } })],
    ['an additional audience', (claims) => ({ claims: { ...claims, aud: [API_AUDIENCE, ADMIN_AUDIENCE] } })],
    ['another guard`s audience', (claims) => ({ claims: { ...claims, aud: [ADMIN_AUDIENCE] } })],
    ['another guard', (claims) => ({ claims: { ...claims, gid: 'admin' } })],
    ['another issuer', (claims) => ({ claims: { ...claims, iss: 'https://other.example.com' } })],
    ['no expiry', (claims) => ({ claims, without: ['exp'] })],
    ['an expiry that is a text', (claims) => ({ claims: { ...claims, exp: '9999999999' } })],
    ['a fractional expiry', (claims) => ({ claims: { ...claims, exp: 9999999999.5 } })],
    ['a validity in the future', (claims) => ({ claims: { ...claims, nbf: 9999999990, exp: 9999999999 } })],
    ['no id', (claims) => ({ claims, without: ['jti'] })],
    ['an empty id', (claims) => ({ claims: { ...claims, jti: '' } })],
    ['null as nbf', (claims) => ({ claims: { ...claims, nbf: null } })],
    ['a fractional nbf', (claims) => ({ claims: { ...claims, nbf: t.clock.seconds() - 0.5 } })],
    ['null as iat', (claims) => ({ claims: { ...claims, iat: null } })],
    ['milliseconds as iat', (claims) => ({ claims: { ...claims, iat: t.clock.now() } })],
    ['a text as the id that is no UUID', (claims) => ({ claims: { ...claims, jti: 'a' } })],
    ['an id in capitals', (claims) => ({ claims: { ...claims, jti: '5C8D2C2B-6C2F-4B9E-8D6F-0D3F2F6C1A11' } })],
    ['a list as the id', (claims) => ({ claims: { ...claims, jti: ['x'] } })],
    ['a number as the subject', (claims) => ({ claims: { ...claims, sub: 1 } })],
    ['a list as the subject', (claims) => ({ claims: { ...claims, sub: ['1'] } })],
    ['a list as the session', (claims) => ({ claims: { ...claims, fid: [claims.fid] } })],
    ['null as the session', (claims) => ({ claims: { ...claims, fid: null } })],
    ['no fingerprint of the password', (claims) => ({ claims, without: ['fpr'] })],
    ['the fingerprint of another token', (claims) => ({ claims: { ...claims, jti: randomUUID() } })],
    ['a list as the fingerprint', (claims) => ({ claims: { ...claims, fpr: [claims.fpr] } })],
    ['critical headers', (claims) => ({ claims, header: { crit: ['x'], x: 1 } })],
  ];
  it.each(forged)('refuses a forged confirmation with %s', async (_, forgery) => {
    const { header, ...rest } = forgery(good());
    expectMissing(await act(t, token, forge({ ...rest, header: { typ: CONFIRMATION, ...header } })));
  });

  it('accepts the forged confirmation without these changes', async () => {
    await act(t, token, forge({ claims: good(), header: { typ: CONFIRMATION } })).expect(201);
    await act(t, token, forge({ claims: { ...good(), gid: undefined }, header: { typ: CONFIRMATION } })).expect(201);
  });

  it.each(['', ' ', 'x', 'a.b.c', `${'x'.repeat(7000)}`])('refuses an invalid text such as %j', async (proof) => {
    expectMissing(await act(t, token, proof));
  });
});

describe.each([[true], [false]])('a route that requires confirmation, with the denylist on: %s', (denylist) => {
  const t = start({ features: { denylist } });

  it('refuses a revoked confirmation', async () => {
    const { accessToken } = await t.auth.startSession(1);
    const proof = await confirmationTokenOf(t, accessToken);
    await act(t, accessToken, proof).expect(201);
    await t.app.get(SecurityStore).setMany([`svc:dl:jti:${claimsOf(proof).jti}`], 'true', 60);
    expectMissing(await act(t, accessToken, proof));
  });
});

describe('confirm.ttl and confirm.header', () => {
  const t = start({ confirm: { ttl: 10, header: 'X-Proof' } });

  it('set the lifetime and the header of a confirmation', async () => {
    const { accessToken } = await t.auth.startSession(1);
    const proof = await confirmationTokenOf(t, accessToken);
    await t.call('post', '/sensitive', accessToken).set('x-proof', proof).expect(201);
    const refused = await act(t, accessToken, proof).expect(423);
    expect(refused.headers['www-authenticate']).toMatch(/max_age=10$/);
    t.clock.advance(16);
    await t.call('post', '/sensitive', accessToken).set('x-proof', proof).expect(423);
  });
});
