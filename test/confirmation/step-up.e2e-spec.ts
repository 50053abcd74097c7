import { Controller, Post, UseGuards } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { Authenticated, RequireConfirmation, SecurityStore } from '@svc/auth';
import type { Response } from 'supertest';
import { CONFIRMATION } from '../../libs/auth/src/tokens/purpose-tokens';
import { type TestApp, claimsOf } from '../support/app';
import { HEADER, proofOf, startConfirming } from '../support/confirming';
import { type Forgery, forge } from '../support/forge';
import { ADMIN_AUDIENCE, API_AUDIENCE } from '../support/host.module';

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

const start = (options = {}): Promise<TestApp> => startConfirming(options, [Sensitive, AllSensitive]);
const act = (t: TestApp, token: string, proof?: string, path = '/sensitive') => {
  const call = t.call('post', path, token);
  return proof === undefined ? call : call.set(HEADER, proof);
};
describe('a route that asks for confirmation', () => {
  let t: TestApp;
  let token: string;
  let refreshToken: string;

  beforeAll(async () => (t = await start()));
  beforeEach(async () => ({ accessToken: token, refreshToken } = await t.auth.startSession(1)));
  afterAll(() => t.stop());

  const expectMissing = ({ status, body, headers }: Response): void => {
    expect({ status, body }).toEqual({ status: 423, body: { message: 'Please confirm your identity to continue.' } });
    expect(headers['www-authenticate']).toBe('Bearer error="insufficient_user_authentication", max_age=300');
  };

  it('says so without a proof, and 401 without a token', async () => {
    for (const path of ['/sensitive', '/all-sensitive', '/sensitive/passport']) {
      await t.http.post(path).expect(401);
      expectMissing(await act(t, token, undefined, path));
    }
  });

  it('takes one proof as often as it is needed, until it expires', async () => {
    t.clock.stop();
    const proof = await proofOf(t, token);
    for (let i = 0; i < 3; i++)
      for (const path of ['/sensitive', '/all-sensitive', '/sensitive/passport'])
        await act(t, token, proof, path).expect(201);
    t.clock.advance(304);
    await act(t, token, proof).expect(201);
    t.clock.advance(1);
    expectMissing(await act(t, token, proof));
  });

  it('takes a proof after a refresh of its own session', async () => {
    const proof = await proofOf(t, token);
    const { body } = await t.refresh(refreshToken).expect(200);
    await act(t, body.access_token, proof).expect(201);
  });

  it('tells a client that the proof is another session`s', async () => {
    const proof = await proofOf(t, token);
    const other = (await t.auth.startSession(1)).accessToken;
    const { body } = await act(t, other, proof).expect(423);
    expect(body).toEqual({
      message: 'Please confirm your identity to continue.',
      reason: 'confirmation_session_mismatch',
    });
    const none = forge({ without: ['fid'] });
    expect((await act(t, none, proof).expect(423)).body.reason).toBe('confirmation_session_mismatch');
    const unbound = await proofOf(t, none);
    expect((await act(t, token, unbound).expect(423)).body.reason).toBe('confirmation_session_mismatch');
    await act(t, none, unbound).expect(201);
    await act(t, forge({ without: ['fid'] }), unbound).expect(201);
  });

  it('takes no proof of another user, without a word why', async () => {
    const { accessToken: bob } = await t.auth.startSession(2);
    expectMissing(await act(t, bob, await proofOf(t, token)));
  });

  it('takes no proof once the session has ended', async () => {
    const proof = await proofOf(t, token);
    await t.auth.revoke(String(claimsOf(token).fid));
    await act(t, token, proof).expect(401);
    const { accessToken: next } = await t.auth.startSession(1);
    expect((await act(t, next, proof).expect(423)).body.reason).toBe('confirmation_session_mismatch');
  });

  it('takes the proof of its own guard only, whatever the order of its decorators', async () => {
    const staff = (await t.auth.guard('admin').startSession(1)).accessToken;
    const [own, others] = [await proofOf(t, staff, 'admin'), await proofOf(t, token)];
    for (const path of ['/sensitive/staff', '/sensitive/staff-last']) {
      await act(t, staff, own, path).expect(201);
      expectMissing(await act(t, staff, others, path));
      await act(t, token, others, path).expect(401);
    }
    expectMissing(await act(t, token, own));
  });

  it.each([[true], [false]])('takes no proof that was spent, with the denylist on: %s', async (denylist) => {
    const own = await start({ features: { denylist } });
    const { accessToken } = await own.auth.startSession(1);
    const proof = await proofOf(own, accessToken);
    await act(own, accessToken, proof).expect(201);
    await own.app.get(SecurityStore).setMany([`svc:dl:jti:${claimsOf(proof).jti}`], 'true', 60);
    expectMissing(await act(own, accessToken, proof));
    await own.stop();
  });

  it('takes no access token for a proof, and no proof for an access token', async () => {
    expectMissing(await act(t, token, token));
    await t.get('/private', await proofOf(t, token)).expect(401);
    await act(t, await proofOf(t, token), await proofOf(t, token)).expect(401);
  });

  const good = (): Record<string, unknown> => ({
    aud: [API_AUDIENCE],
    fid: claimsOf(token).fid,
    gid: 'api',
    exp: t.clock.seconds() + 300,
  });
  const forged: [string, (claims: Record<string, unknown>) => Forgery][] = [
    ['another key', (claims) => ({ claims, secret: 'x'.repeat(40) })],
    ['the type of a login challenge', (claims) => ({ claims, header: { typ: '2fa+challenge' } })],
    ['no type', (claims) => ({ claims, header: { typ: undefined } })],
    ['the audience as text', (claims) => ({ claims: { ...claims, aud: API_AUDIENCE } })],
    ['one audience more', (claims) => ({ claims: { ...claims, aud: [API_AUDIENCE, ADMIN_AUDIENCE] } })],
    ['another guard`s audience', (claims) => ({ claims: { ...claims, aud: [ADMIN_AUDIENCE] } })],
    ['another guard', (claims) => ({ claims: { ...claims, gid: 'admin' } })],
    ['another issuer', (claims) => ({ claims: { ...claims, iss: 'https://other.example.com' } })],
    ['no end', (claims) => ({ claims, without: ['exp'] })],
    ['an end that is text', (claims) => ({ claims: { ...claims, exp: '9999999999' } })],
    ['a fractional end', (claims) => ({ claims: { ...claims, exp: 9999999999.5 } })],
    ['a time to come', (claims) => ({ claims: { ...claims, nbf: 9999999990, exp: 9999999999 } })],
    ['no id', (claims) => ({ claims, without: ['jti'] })],
    ['an empty id', (claims) => ({ claims: { ...claims, jti: '' } })],
    ['a list for an id', (claims) => ({ claims: { ...claims, jti: ['x'] } })],
    ['a number for a subject', (claims) => ({ claims: { ...claims, sub: 1 } })],
    ['a list for a subject', (claims) => ({ claims: { ...claims, sub: ['1'] } })],
    ['a list for a session', (claims) => ({ claims: { ...claims, fid: [claims.fid] } })],
    ['null for a session', (claims) => ({ claims: { ...claims, fid: null } })],
    ['critical headers', (claims) => ({ claims, header: { crit: ['x'], x: 1 } })],
  ];
  it.each(forged)('takes no forged proof with %s', async (_, forgery) => {
    const { header, ...rest } = forgery(good());
    expectMissing(await act(t, token, forge({ ...rest, header: { typ: CONFIRMATION, ...header } })));
  });

  it('would take the forged one but for that', async () => {
    await act(t, token, forge({ claims: good(), header: { typ: CONFIRMATION } })).expect(201);
    await act(t, token, forge({ claims: { ...good(), gid: undefined }, header: { typ: CONFIRMATION } })).expect(201);
  });

  it.each(['', ' ', 'x', 'a.b.c', `${'x'.repeat(7000)}`])('takes no rubbish, such as %j', async (proof) => {
    expectMissing(await act(t, token, proof));
  });
});

describe('confirm.ttl and confirm.header', () => {
  it('are the host`s to choose', async () => {
    const t = await start({ confirm: { ttl: 10, header: 'X-Proof' } });
    const { accessToken } = await t.auth.startSession(1);
    const proof = await proofOf(t, accessToken);
    await t.call('post', '/sensitive', accessToken).set('x-proof', proof).expect(201);
    const refused = await act(t, accessToken, proof).expect(423);
    expect(refused.headers['www-authenticate']).toMatch(/max_age=10$/);
    t.clock.advance(16);
    await t.call('post', '/sensitive', accessToken).set('x-proof', proof).expect(423);
    await t.stop();
  });
});
