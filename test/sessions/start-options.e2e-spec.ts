import { Logger } from '@nestjs/common';
import { AuthConfigError, type AuthHooks, type AuthModuleOptions, RefreshTokenReused } from '@svc/auth';
import { actAs } from '@svc/auth/testing';
import { TestApp, claimsOf } from '../support/hosts/app';
import { PausePoint, whilePaused } from '../support/faults/pause-point';

let hooks: AuthHooks = {};
const t = TestApp.forFile({
  options: {
    hooks: {
      tokenClaims: (userId, context) => hooks.tokenClaims?.(userId, context) ?? {},
      abilities: (userId, context) => hooks.abilities?.(userId, context) ?? [],
    },
  },
});
beforeEach(async () => {
  hooks = {};
  await t.person('ada@example.com');
});

describe('host callbacks', () => {
  const sessions = async (): Promise<number> =>
    (await t.database.query('SELECT count(*)::int AS n FROM svc_sessions'))[0].n;

  it('add claims at login and at every refresh, but never a reserved claim', async () => {
    const forged = { iss: 'x', aud: 'x', sub: '2', fid: 'x', jti: 'x', iat: 1, nbf: 1, exp: 9e9, pin: true };
    hooks.tokenClaims = async (userId) => ({
      tenant: `t${userId}`,
      amr: ['mfa'],
      auth_time: 1,
      scope: 'root',
      ...forged,
    });
    const { access_token: access, refresh_token: refresh } = await t.session();
    for (const token of [access, (await t.refresh(refresh).expect(200)).body.access_token]) {
      const claims = claimsOf(token);
      expect(claims).toMatchObject({ tenant: 't1', sub: '1', amr: ['pwd'], iss: 'https://api.example.com' });
      expect(claims.auth_time).toBeGreaterThan(1);
      expect(claims).not.toHaveProperty('pin');
      expect(claims).not.toHaveProperty('scope');
    }
  });

  it('receive guard, user and session, because user ids of different guards can be equal', async () => {
    await t.person('root@example.com', 'admin');
    const calls: unknown[] = [];
    hooks.tokenClaims = (...args) => (calls.push(args), {});
    const [own, staff] = [await t.session(), await t.session('root@example.com', 'admin')];
    const contextOf = (guard: string, token: string) => ['1', { guard, userId: '1', familyId: claimsOf(token).fid }];
    await t.refresh(own.refresh_token).expect(200);
    expect(calls).toEqual([
      contextOf('api', own.access_token),
      contextOf('admin', staff.access_token),
      contextOf('api', own.access_token),
    ]);
  });

  it.each([[null], [[]], ['x'], [7], [undefined]])('that return %j as claims add none', async (value) => {
    hooks.tokenClaims = () => value as never;
    await t.session();
  });

  it('derive abilities for each access token', async () => {
    let granted: Iterable<string> | string = ['orders.read', 'orders.read', 'orders.write'];
    const calls: unknown[] = [];
    hooks.abilities = (userId, context) => (calls.push([userId, context]), granted);
    const { access_token: access, refresh_token: refresh } = await t.session();
    expect(claimsOf(access).scope).toBe('orders.read orders.write');
    const { fid } = claimsOf(access);
    expect(calls).toEqual([['1', { guard: 'api', userId: '1', familyId: fid }]]);

    granted = new Set(['a']);
    expect(claimsOf((await t.refresh(refresh)).body.access_token).scope).toBe('a');
    granted = 'one ability'.replace(' ', '-');
    expect(claimsOf((await t.refresh(refresh)).body.access_token).scope).toBe('one-ability');
    granted = [];
    expect(claimsOf((await t.refresh(refresh)).body.access_token)).not.toHaveProperty('scope');
  });

  it.each([
    ['throw', () => Promise.reject(new Error('the host is down'))],
    ['derive a malformed ability', () => ['a b']],
    ['derive a value that is not a list', () => 7 as never],
    ['run a query that fails', () => t.database.query('SELECT no_such_column FROM people')],
    [
      'fail in a separate transaction',
      () =>
        t.database.transaction(async (own) => {
          await own.query("UPDATE svc_sessions SET label = 'x'");
          return own.query('SELECT 1 / 0');
        }),
    ],
  ])('that %s leave no session at login, and consume no token at refresh', async (_, abilities) => {
    const { refresh_token: refresh } = await t.session();
    const before = await sessions();
    hooks.abilities = abilities;
    const { body } = await t.login('ada@example.com').expect(500);
    expect(body).toEqual({ message: 'Something went wrong on our side.' });
    expect(await sessions()).toBe(before);

    await t.refresh(refresh).expect(500);
    t.clock.advance(60);
    hooks = {};
    await t.refresh(refresh).expect(200);
  });

  const INHERITED = [...Object.getOwnPropertyNames(Object.prototype), 'toJSON'];

  it.each(INHERITED)('that return the claim %s are refused with 422, and no session or token is lost', async (name) => {
    const { refresh_token: refresh } = await t.session();
    const before = await sessions();
    hooks.tokenClaims = () => JSON.parse(`{ "tenant": "a", ${JSON.stringify(name)}: "x" }`);
    const { body } = await t.login('ada@example.com').expect(422);
    expect(body).toEqual({ message: 'Tokens cannot be issued for this account. Please contact support.' });
    expect(await sessions()).toBe(before);
    await t.refresh(refresh).expect(422);
    hooks = {};
    await t.refresh(refresh).expect(200);
    const { body: again } = await t.login('ada@example.com').expect(200);
    expect(claimsOf(again.access_token)).not.toHaveProperty('tenant');
  });

  it.each(INHERITED)('claims of one session with the name %s are refused by name', async (name) => {
    const claims = JSON.parse(`{ ${JSON.stringify(name)}: "x" }`) as object;
    const before = await sessions();
    const refused = t.auth.startSession(1, { claims });
    await expect(refused).rejects.toMatchObject({ code: 'unusable_claim' });
    await expect(refused).rejects.toThrow(`"${name}"`);
    expect(await sessions()).toBe(before);
  });

  it('that derive abilities with such names grant these abilities and no other', async () => {
    hooks.abilities = () => INHERITED;
    const { access_token: access, refresh_token: refresh } = await t.session();
    expect(String(claimsOf(access).scope).split(' ')).toEqual(INHERITED);
    hooks.abilities = () => ['orders.read'];
    const { body } = await t.refresh(refresh).expect(200);
    expect(claimsOf(body.access_token).scope).toBe('orders.read');
  });

  it.each<[string, () => unknown]>([
    ['a bigint', () => 1n],
    ['a bigint in a list', () => [{ huge: 1n }]],
    [
      'an object that contains itself',
      () => {
        const own: unknown[] = [];
        own.push(own);
        return own;
      },
    ],
    [
      'an object whose toJSON fails',
      () => ({
        toJSON: () => {
          throw new Error('secret');
        },
      }),
    ],
  ])('whose claim is %s are refused with 422, and no session or token is lost', async (_, value) => {
    const { refresh_token: refresh } = await t.session();
    const before = await sessions();
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    hooks.tokenClaims = () => ({ huge: value() });
    for (let i = 0; i < 3; i++) await t.login('ada@example.com').expect(422);
    expect(await sessions()).toBe(before);
    await t.refresh(refresh).expect(422);
    expect(logged.mock.calls.flat().filter((text) => String(text).includes('"huge"')).length).toBeLessThan(2);
    expect(JSON.stringify(logged.mock.calls)).not.toContain('secret');
    logged.mockRestore();
    hooks = {};
    await t.refresh(refresh).expect(200);
  });

  it.each<[unknown]>([[['']], [['orders.read', '']], [''], [' '], [['a b']], [['a,b']], [['a', 7]]])(
    'that derive %j issue no token: no session starts, and nothing is consumed',
    async (abilities) => {
      const { refresh_token: refresh } = await t.session();
      const before = await sessions();
      hooks.abilities = () => abilities as string[];
      await t.login('ada@example.com').expect(500);
      await t.refresh(refresh).expect(500);
      expect(await sessions()).toBe(before);
      hooks = {};
      await t.refresh(refresh).expect(200);
    },
  );

  it('run without a lock, so that other requests of the session continue', async () => {
    const session = await t.session();
    const slow = new PausePoint();
    hooks.abilities = async () => {
      await slow.pass();
      return [];
    };
    const waiting = t.refresh(session.refresh_token).then((answer) => answer);
    await slow.reached;
    hooks = {};
    await t.refresh(session.refresh_token).expect(200);
    await t.call('post', '/auth/logout', session.access_token).expect(204);
    slow.resume();
    expect((await waiting).status).toBe(401);
  });

  it('may catch the error of a query, and the refresh succeeds', async () => {
    const { refresh_token: refresh } = await t.session();
    hooks.abilities = () => t.database.query('SELECT no_such_column').catch(() => ['a']);
    const { body } = await t.refresh(refresh).expect(200);
    expect(claimsOf(body.access_token).scope).toBe('a');
    hooks = {};
    await t.refresh(body.refresh_token).expect(200);
  });

  it('may take any time, during which the row of the session can be locked', async () => {
    const { refresh_token: refresh } = await t.session();
    const slow = new PausePoint();
    hooks.abilities = async () => {
      await slow.pass();
      return ['late'];
    };
    const { status, body } = await whilePaused(slow, t.refresh(refresh), () =>
      t.database.transaction(async (own) => {
        await own.query('SELECT 1 FROM svc_sessions FOR UPDATE NOWAIT');
      }),
    );
    expect([status, claimsOf(body.access_token).scope]).toEqual([200, 'late']);
  });

  it('are not called for a refused token', async () => {
    const { refresh_token: old } = await t.session();
    await t.refresh(old).expect(200);
    t.clock.advance(31);
    hooks.abilities = () => Promise.reject(new Error('must not be asked'));
    await t.refresh(old).expect(401);
    await t.refresh('f'.repeat(71)).expect(401);
  });
});

describe('abilities among the options of a session', () => {
  it('are refused, because an ignored option would leave the session unrestricted', async () => {
    const options = { label: 'CI', abilities: ['orders.read'] };
    // @ts-expect-error -- abilities are the third argument
    await expect(t.auth.startSession(1, options)).rejects.toThrow(/third argument/);
  });
});

describe('a pinned session', () => {
  it.each([
    ['an empty list', [], undefined],
    ['a list', ['orders.read', 'orders.*', '0'], 'orders.read orders.* 0'],
  ])(
    'with %s keeps exactly these abilities through refreshes, whatever the callback returns',
    async (_, abilities, scope) => {
      hooks = { abilities: () => ['*'], tokenClaims: () => ({ scope: '*' }) };
      const tokens = await t.auth.startSession(1, {}, abilities);
      for (const _round of [1, 2, 3]) {
        expect(claimsOf(tokens.accessToken)).toMatchObject({ pin: true });
        expect(claimsOf(tokens.accessToken).scope).toBe(scope);
        const { body } = await t.refresh(tokens.refreshToken).expect(200);
        Object.assign(tokens, { accessToken: body.access_token, refreshToken: body.refresh_token });
      }
    },
  );

  it.each<[unknown]>([
    [['']],
    [['orders.read', '']],
    [''],
    [[' ']],
    [['a,b']],
    [['a b']],
    [['a', null]],
    [null],
    [[`x${'y'.repeat(500)}`]],
  ])('cannot start with the abilities %j', async (abilities) => {
    const list = abilities as string[];
    await expect(t.auth.startSession(1, {}, list)).rejects.toThrow(/^.{1,220}$/);
    await expect(t.auth.startSession(1, {}, list)).rejects.toBeInstanceOf(AuthConfigError);
    await expect(actAs(t.app, 1, { abilities: list })).rejects.toBeInstanceOf(AuthConfigError);
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
  });
});

describe('each core flag has its effect when it is off', () => {
  let host: TestApp;
  const start = async (features: AuthModuleOptions['features']): Promise<void> => {
    host = await TestApp.start({ options: { features } });
    await host.person('ada@example.com');
  };
  afterEach(() => host.stop());

  it('rotation: a refresh returns the same refresh token, and consumes nothing', async () => {
    await start({ rotation: false });
    const { refresh_token: token, access_token: first } = await host.session();
    for (const _ of [1, 2, 3]) {
      const { body } = await host.refresh(token).expect(200);
      expect(body.refresh_token).toBe(token);
      expect(claimsOf(body.access_token).jti).not.toBe(claimsOf(first).jti);
      host.clock.advance(600);
    }
    expect(await host.database.query('SELECT generation, recent, holders FROM svc_sessions')).toEqual([
      { generation: 0, recent: [], holders: 1 },
    ]);
    const { body } = await host.refresh(token).expect(200);
    await host.call('post', '/auth/logout', body.access_token).expect(204);
    await host.refresh(token).expect(401);
  });

  it('reuse detection: a replay is refused, and the session continues', async () => {
    await start({ reuseDetection: false });
    const reused = host.recorded(RefreshTokenReused);
    const { refresh_token: old } = await host.session();
    const { body } = await host.refresh(old).expect(200);
    host.clock.advance(31);
    await host.refresh(old).expect(401);
    await host.refresh(body.refresh_token).expect(200);
    expect(reused).toEqual([]);
  });

  it('denylist: access tokens of an ended session are valid until they expire, refresh tokens are not', async () => {
    await start({ denylist: false });
    const { access_token: access, refresh_token: refresh } = await host.session();
    await host.call('post', '/auth/logout', access).expect(204);
    await host.get('/private', access).expect(200);
    await host.refresh(refresh).expect(401);
  });

  it('logoutAll: the route is not mounted', async () => {
    await start({ logoutAll: false });
    const { access_token: access } = await host.session();
    await host.call('delete', '/auth/sessions', access).expect(404);
    await host.call('delete', '/auth/sessions/others', access).expect(204);
  });
});

describe('a flag of one guard', () => {
  it('does not change the other guard', async () => {
    const host = await TestApp.start({
      options: { guards: { admin: { features: { rotation: false, logoutAll: false } } } },
    });
    await host.person('ada@example.com');
    await host.person('root@example.com', 'admin');
    const [own, staff] = [await host.session(), await host.session('root@example.com', 'admin')];
    expect((await host.refresh(own.refresh_token)).body.refresh_token).not.toBe(own.refresh_token);
    expect((await host.refresh(staff.refresh_token, 'admin')).body.refresh_token).toBe(staff.refresh_token);
    await host.call('delete', '/admin/auth/sessions', staff.access_token).expect(404);
    await host.call('delete', '/auth/sessions', own.access_token).expect(204);
    await host.stop();
  });
});

describe('a flag that is undefined', () => {
  it('is the default', async () => {
    const host = await TestApp.start({ options: { features: { denylist: undefined, logoutAll: undefined } } });
    await host.person('ada@example.com');
    const { access_token: access } = await host.session();
    await host.call('delete', '/auth/sessions', access).expect(204);
    await host.get('/private', access).expect(401);
    await host.stop();
  });
});
