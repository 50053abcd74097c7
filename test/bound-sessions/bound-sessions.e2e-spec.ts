import { Controller, Get } from '@nestjs/common';
import { Abilities, Authenticated, PasswordHasher, SecurityStore } from '@svc/auth';
import { BoundTokenRefused, RequireBoundToken } from '@svc/auth/bound-sessions';
import { Device, type Sent } from '../support/flows/bound-sessions';
import { TestApp, claimsOf } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { HostController } from '../support/hosts/host.module';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

@Controller('transfers')
class Transfers {
  @Get()
  @RequireBoundToken()
  list() {
    return { listed: true };
  }

  @Get('all')
  @Abilities('transfers.all')
  all() {}

  @Get('visit')
  @Authenticated({ optional: true })
  visit() {
    return { visited: true };
  }
}

describe('a session that is bound to a key of its client', () => {
  const t = TestApp.forFile({
    controllers: [HostController, Transfers],
    options: { features: { boundSessions: true } },
  });
  let device: Device;
  let thief: Device;
  beforeAll(async () => {
    device = await Device.create();
    thief = await Device.create();
  });
  beforeEach(() => t.person(ADA));

  it('starts with a proof, and its tokens name the key', async () => {
    const { status, body } = await device.login(t);
    expect([status, body.token_type]).toEqual([200, 'DPoP']);
    expect(claimsOf(body.access_token).cnf).toEqual({ jkt: device.jkt });
  });

  it.each(['ES256', 'EdDSA', 'Ed25519'])(
    'is used with proofs of %s: requests, refreshes, and the sign-out',
    async (alg) => {
      const own = await Device.create(alg);
      const { body } = await own.login(t);
      expect(await own.get(t, '/private?page=2', body.access_token)).toMatchObject({
        status: 200,
        body: { claims: { cnf: { jkt: own.jkt } } },
      });
      expect((await own.get(t, '/passport', body.access_token)).status).toBe(200);
      const refreshed = await own.refresh(t, body.refresh_token);
      expect(refreshed).toMatchObject({ status: 200, body: { token_type: 'DPoP' } });
      expect(claimsOf(refreshed.body.access_token).cnf).toEqual({ jkt: own.jkt });
      const again = await own.refresh(t, body.refresh_token);
      expect(again.body.refresh_token).toBe(refreshed.body.refresh_token);
      expect((await own.get(t, '/transfers', refreshed.body.access_token)).body).toEqual({ listed: true });
      expect((await own.send(t, 'POST', '/auth/logout', { token: refreshed.body.access_token })).status).toBe(204);
      expect((await own.get(t, '/private', refreshed.body.access_token)).status).toBe(401);
    },
  );

  it('is of no use to a thief of its tokens, and goes on', async () => {
    const { body } = await device.login(t);
    const { access_token: token, refresh_token: refreshToken } = body;
    const seen = t.recorded(BoundTokenRefused);
    for (const [path, method] of [
      ['/private', 'GET'],
      ['/passport', 'GET'],
      ['/transfers', 'GET'],
      ['/auth/sessions/others', 'DELETE'],
      ['/auth/sessions', 'GET'],
      ['/auth/sessions', 'DELETE'],
      ['/auth/confirm-password', 'POST'],
      ['/auth/password', 'POST'],
      ['/auth/logout', 'POST'],
      ['/transfers/visit', 'GET'],
    ] as const) {
      const bare = await thief.send(t, method, path, { token, proof: null, scheme: 'Bearer' });
      const named = await thief.send(t, method, path, { token, proof: null });
      const foreign = await thief.send(t, method, path, { token });
      const asBearer = await thief.send(t, method, path, { token, scheme: 'bearer' });
      expect([path, bare.status, named.status, foreign.status, asBearer.status]).toEqual([path, 401, 401, 401, 401]);
    }
    expect(seen).toHaveLength(40);
    expect(seen[0]).toMatchObject({ guard: 'api', token: 'access', ip: expect.any(String) });
    for (const sent of [{ proof: null }, {}]) {
      const answer = await thief.refresh(t, refreshToken, sent);
      expect(answer.status).toBe(401);
    }
    expect(seen.slice(40)).toMatchObject([{ token: 'refresh' }, { token: 'refresh' }]);
    expect((await device.refresh(t, refreshToken)).status).toBe(200);
    for (const scheme of ['DPoP', 'dpop', 'DPOP'])
      expect((await device.get(t, '/private', token, { scheme })).status).toBe(200);
  });

  it('is not ended by a thief with a replaced refresh token', async () => {
    const { body } = await device.login(t);
    const next = await device.refresh(t, body.refresh_token);
    t.clock.advance(40);
    expect((await thief.refresh(t, body.refresh_token)).status).toBe(401);
    expect((await thief.refresh(t, body.refresh_token, { proof: null })).status).toBe(401);
    t.clock.reset();
    expect((await device.refresh(t, next.body.refresh_token)).status).toBe(200);
  });

  it('ends when its own client presents a token that was replaced long ago', async () => {
    const { body } = await device.login(t);
    await device.refresh(t, body.refresh_token);
    t.clock.advance(40);
    expect((await device.refresh(t, body.refresh_token)).status).toBe(401);
    t.clock.reset();
    expect((await device.get(t, '/private', body.access_token)).status).toBe(401);
  });

  it('is started by no sign-in without a proof', async () => {
    const { body } = await device.login(t, { proof: null });
    expect(body.token_type).toBe('Bearer');
    expect(claimsOf(body.access_token)).not.toHaveProperty('cnf');
    expect((await device.get(t, '/private', body.access_token, { proof: null, scheme: 'Bearer' })).status).toBe(200);
    const promised = await device.get(t, '/private', body.access_token);
    const required = await device.get(t, '/transfers', body.access_token, { proof: null, scheme: 'Bearer' });
    expect([promised.status, required.status]).toEqual([401, 401]);
    expect(required.headers.get('www-authenticate')).toBe('DPoP error="invalid_token", algs="ES256 EdDSA Ed25519"');
    // A thief of its refresh token could bind it.
    const refreshed = await device.refresh(t, body.refresh_token);
    expect(claimsOf(refreshed.body.access_token)).not.toHaveProperty('cnf');
  });

  it('leaves the store as it was: 100,000 proofs are gone when their time is over', async () => {
    const store = t.app.get(SecurityStore);
    const stored = async (): Promise<string[]> => {
      const keys: string[] = [];
      for await (const page of store.scan('')) keys.push(...page);
      return keys.toSorted();
    };
    const before = await stored();
    const add = store.add.bind(store);
    const added = jest.spyOn(store, 'add').mockResolvedValue(true);
    await device.login(t);
    const [[key, value, seconds]] = added.mock.calls as unknown as [[string, string, number]];
    added.mockRestore();
    // A second, in place of the two minutes that the proof needs.
    expect([key.startsWith('svc:proof:'), seconds > 60, seconds < 180]).toEqual([true, true, true]);
    for (let part = 0; part < 100; part++)
      await Promise.all(Array.from({ length: 1000 }, (_, i) => add(`${key}${part}-${i}`, value, seconds / 121)));
    expect((await stored()).filter((one) => one.startsWith(key)).length).toBeGreaterThan(0);
    await eventually(async () => (await stored()).filter((one) => one.startsWith('svc:proof:')).length === 0);
    expect((await stored()).filter((one) => !one.startsWith('svc:rl:'))).toEqual(before);
  });

  it('is one of two kinds, and a client without a token learns both schemes', async () => {
    const { headers } = await device.send(t, 'GET', '/private', { proof: null });
    expect(headers.get('www-authenticate')).toBe('Bearer, DPoP algs="ES256 EdDSA Ed25519"');
  });

  it('is refused with the challenge of its scheme, also by the gates behind the authentication', async () => {
    const { access_token: token } = (await device.login(t)).body;
    const challengeOf = async (method: string, path: string, sent: Sent = {}): Promise<string | null> =>
      (await device.send(t, method, path, { token, ...sent })).headers.get('www-authenticate');
    const algs = 'algs="ES256 EdDSA Ed25519"';
    const stepUp = 'error="insufficient_user_authentication", max_age=300';
    expect(await challengeOf('DELETE', '/auth/account')).toBe(`DPoP ${stepUp}, ${algs}`);
    expect(await challengeOf('GET', '/transfers/all')).toMatch(/^DPoP error="insufficient_scope", .+, algs="[^"]+"$/);
    const password = { current_password: 'wrong', password: 'plum-violin-7', password_confirmation: 'plum-violin-7' };
    const hasher = t.app.get(PasswordHasher);
    const verify = hasher.verify.bind(hasher);
    const ending = jest.spyOn(hasher, 'verify').mockImplementation(async (...given) => {
      await t.auth.revokeAll(claimsOf(token).sub as string);
      return verify(...given);
    });
    const during = await challengeOf('POST', '/auth/password', { body: { ...password, current_password: PASSWORD } });
    ending.mockRestore();
    expect(during).toBe(`DPoP error="invalid_token", ${algs}`);
    expect(await challengeOf('GET', '/private')).toBe(`DPoP error="invalid_token", ${algs}`);
  });
});
