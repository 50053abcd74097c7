import { Controller, Get, Req } from '@nestjs/common';
import {
  Auth,
  Authenticated,
  type Caller,
  CurrentCaller,
  RequireAbilityIfPinned,
  RequireFactor,
  RequireRecentLogin,
  RequireVerifiedEmail,
} from '@svc/auth';
import { AcceptsKeys } from '@svc/auth/access-keys';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { requestWith } from '../support/clients/raw-headers';
import { flowOptions } from '../support/flows/account-flows';
import { KeyedOrders, createKey, forgedKey, keyOwner, postKey, serviceKey } from '../support/flows/access-keys';
import { CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { TestApp } from '../support/hosts/app';
import { IdentityProviderHost } from '../support/identity-provider/identity-provider';
import { Mailbox, member } from '../support/hosts/members';
import { ADA, VerifiablePerson } from '../support/hosts/user-entities';
import { RoundTrips } from '../support/stores/round-trips';
import { routesOf } from '../support/views/routes';

/** The caller of the last request with a key, as a gateway keeps it. */
let kept: Caller;

@Controller('gates')
class Gates {
  constructor(private readonly auth: Auth) {}

  @Get('caller')
  @AcceptsKeys()
  caller(@CurrentCaller() caller: Caller) {
    kept = caller;
    return {};
  }

  @Get('sessions')
  @AcceptsKeys()
  sessions(@Req() request: object) {
    return this.auth.sessions.list({ request: request as never });
  }

  @Get('factor')
  @AcceptsKeys()
  @RequireFactor('any')
  factor() {
    return {};
  }

  @Get('recent')
  @AcceptsKeys()
  @RequireRecentLogin(600)
  recent() {
    return {};
  }

  @Get('verified')
  @AcceptsKeys()
  @RequireVerifiedEmail()
  verified() {
    return {};
  }

  @Get('write')
  @RequireAbilityIfPinned('orders.write')
  @AcceptsKeys()
  write() {
    return {};
  }

  @Get('optional')
  @Authenticated({ optional: true })
  optional() {
    return {};
  }
}

/** Another text of the same length, with one character replaced. */
const typo = (key: string): string => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');

describe('an access key', () => {
  const t = TestApp.forFile({
    controllers: [KeyedOrders, Gates],
    entities: [VerifiablePerson],
    options: {
      users: { entity: VerifiablePerson },
      features: { accessKeys: true, gateAuthRoutes: true },
      guards: { admin: { features: { accessKeys: true } } } as never,
    },
  });
  let owner: Awaited<ReturnType<typeof keyOwner>>;
  let key: string;
  beforeEach(async () => {
    await t.person(ADA);
    owner = await keyOwner(t);
    key = (await createKey(t, owner)).access_key;
  });

  it('counts as a bearer credential of one Authorization header alone, and costs nothing elsewhere', async () => {
    const { trips, url } = { trips: new RoundTrips(t), url: `${await t.app.getUrl()}/orders` };
    const { access_token: token } = owner.tokens;
    const basic = Buffer.from(`${key}:`).toString('base64');
    const attacks: [path: string, fields: string[]][] = [
      [`?access_token=${key}`, []],
      [`?ticket=${key}&key=${key}&api_key=${key}&authorization=Bearer%20${key}`, []],
      ['', ['Cookie', `access_token=${key}; svc_refresh=${key}; Authorization=Bearer ${key}`]],
      ['', ['X-API-Key', key, 'X-Access-Key', key, 'Proxy-Authorization', `Bearer ${key}`]],
      ['', ['X-Svc-Confirmation', key]],
      ['', ['Authorization', `Basic ${basic}`]],
      ['', ['Authorization', `Basic ${key}`]],
      ['', ['Authorization', `Token ${key}`]],
      ['', ['Authorization', key]],
      ['', ['Authorization', `Bearer "${key}"`]],
      ['', ['Authorization', `Bearer ${key},`]],
      ['', ['Authorization', `Bearer ${key} ${key}`]],
      ['', ['Authorization', `Bearer\t${key}`]],
      ['', ['Authorization', `Bearer ${key}`, 'Authorization', `Bearer ${key}`]],
      ['', ['Authorization', `Bearer ${token}`, 'authorization', `Bearer ${key}`]],
      ['', ['Authorization', `Bearer ${key}`, 'AUTHORIZATION', `Bearer ${token}`]],
      ['', ['Authorization', `Bearer ${key.toUpperCase()}`]],
      ['', ['Authorization', `Bearer ${key.replace('svc_', 'SVC_')}`]],
      ['', ['Authorization', `Bearer ${typo(key)}`]],
      ['', ['Authorization', `Bearer ${key}a`]],
      ['', ['Authorization', `Bearer ${key.slice(0, -1)}`]],
      ['', ['Authorization', `Bearer ${forgedKey(undefined, 'shop')}`]],
      ['', ['Authorization', `Bearer svc_${'a'.repeat(9000)}`]],
      ['', ['Authorization', `Bearer svc_${'\u00e9'.repeat(40)}`]],
      ['', ['Authorization', `Bearer ${key}\u00a0`]],
    ];
    for (const [path, fields] of attacks) {
      expect([path, fields, await requestWith(url + path, fields)]).toEqual([path, fields, 401]);
      expect([path, fields, trips.trips]).toEqual([path, fields, []]);
    }
    expect(await requestWith(url, ['Authorization', `bEARER   ${key} `])).toBe(200);
  });

  it('with a NUL is refused by the server itself', async () => {
    const { port, hostname } = new URL(await t.app.getUrl());
    const socket = connect(Number(port), hostname);
    socket.end(`GET /orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\0\r\n\r\n`);
    expect(await textOf(socket)).toMatch(/^HTTP\/1.1 400 /);
  });

  it('is refused with the same calls of stores and the same answer for each reason', async () => {
    const elsewhere = await t.auth.accessKeys.guard('admin').create({ service: 'ci' }, { label: 'x' });
    const revoked = await serviceKey(t);
    await t.auth.accessKeys.revokeAny(revoked.id);
    const away = await serviceKey(t, { networks: ['192.0.2.0/24'] });
    const expired = await serviceKey(t);
    const wrong = await serviceKey(t);
    const renewed = await serviceKey(t);
    await t.database.query(`UPDATE svc_access_keys SET expires_at = now() WHERE id = $1`, [expired.id]);
    await t.database.query(
      `UPDATE svc_access_keys SET secret_mac = (SELECT secret_mac FROM svc_access_keys WHERE id = $2)
      WHERE id = $1`,
      [wrong.id, renewed.id],
    );
    const texts = {
      unknown: forgedKey(),
      wrong: wrong.access_key,
      revoked: revoked.access_key,
      expired: expired.access_key,
      away: away.access_key,
      'of another guard': elsewhere.access_key,
    };
    const trips = new RoundTrips(t);
    const seen = [];
    for (const text of Object.values(texts)) {
      const { status, body, headers } = await t.get('/orders', text);
      const { date: _, etag: __, ...shown } = headers;
      seen.push({
        status,
        body,
        shown,
        trips: trips.trips.map(({ store, step, text: sent }) => [store, step, sent.replace(/[0-9a-f-]{36}/, '')]),
      });
    }
    expect(seen[0]).toMatchObject({ status: 401, trips: [expect.anything(), expect.anything()] });
    for (const [i, name] of Object.keys(texts).entries()) expect([name, seen[i]]).toEqual([name, seen[0]]);
  });

  it('passes no route and no server call that needs a person, and gets no ticket', async () => {
    const service = (await serviceKey(t, { abilities: ['*'] })).access_key;
    for (const text of [key, service]) {
      await t.get('/gates/factor', text).expect(401);
      await t.get('/gates/recent', text).expect(401);
      await t.get('/gates/sessions', text).expect(401);
      await t.get('/gates/optional', text).expect(401);
      await t.get('/orders/mine', text).expect(401);
      await t.get('/orders/staff', text).expect(401);
      await t.call('post', '/orders/confirmed', text).expect(423);
      await t.call('post', '/orders/confirmed', text).set(CONFIRMATION_HEADER, owner.proof).expect(423);
      await t.get('/gates/verified', text).expect(409);
      await t.get('/gates/caller', text).expect(200);
      const source = { caller: kept, confirmationToken: owner.proof };
      const refused = async (call: Promise<unknown>) =>
        expect(['unauthenticated', 'insufficient_scope']).toContain(
          await call.catch((error: { code?: string }) => error.code),
        );
      await refused(t.auth.tickets.issue(kept, { for: '/orders', seconds: 10 }));
      await refused(t.auth.accessKeys.list(source));
      await refused(t.auth.accessKeys.createOwn({ label: 'more' }, source));
      await refused(t.auth.accessKeys.revoke(randomUUID(), source));
      await refused(t.auth.sessions.list(source));
      expect(() => t.auth.tickets.untilEnded(kept, new EventEmitter())).toThrow('an access key');
      await refused(t.auth.confirm(kept));
    }
  });

  it('of a session with a pinned list can do no more than the session, also without abilities of the host', async () => {
    const { accessToken } = await t.auth.startSession('1', {}, ['svc.*', 'orders.read']);
    const pinned = { tokens: { access_token: accessToken } as never, proof: await confirmationTokenOf(t, accessToken) };
    await t.get('/gates/write', accessToken).expect(403);
    await postKey(t, pinned, { abilities: ['orders.write'] }).expect(422);
    const { access_key: less } = await createKey(t, pinned, { abilities: ['orders.read'] });
    await t.get('/gates/write', less).expect(403);
  });

  it('is created for networks that can be compared, or not at all', async () => {
    for (const network of [
      'fe80::1%eth0',
      'fe80::1%a-b',
      '10.0.0.0/',
      '/8',
      '10.0.0.0/08',
      '127.1',
      '0x7f.1',
      '10.0.0.1\0',
    ]) {
      const { status } = await postKey(t, owner, { networks: [network] });
      expect([network, status]).toEqual([network, 422]);
    }
    const mapped = await createKey(t, owner, { networks: ['::ffff:127.0.0.1'] });
    await t.get('/orders', mapped.access_key).expect(200);
  });
});

describe('the routes of the library', () => {
  let provider: IdentityProviderHost;
  const t = TestApp.forFile(async () => {
    provider = await IdentityProviderHost.start();
    const { features, ...options } = flowOptions(new Mailbox(), provider, true);
    return {
      controllers: [KeyedOrders],
      options: { ...options, features: { ...features, accessKeys: true }, hooks: { abilities: () => ['*'] } },
    };
  });
  afterAll(() => provider.stop());

  it('accept no access key, and read no store for one', async () => {
    await member(t, ADA, { emailVerifiedAt: new Date(0) });
    const { access_key: key } = await createKey(t, await keyOwner(t), { abilities: ['*'] });
    await t.get('/orders', key).expect(200);
    const trips = new RoundTrips(t);
    const guarded: string[] = [];
    for (const route of routesOf(t)) {
      const [method = '', pattern = ''] = route.split(' ');
      if (!['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method)) continue;
      const path = pattern.replace(/:\w+/g, randomUUID());
      const send = (text?: string) => {
        const call = t.http[method.toLowerCase() as 'get'](path);
        if (text) call.set('Authorization', `Bearer ${text}`);
        return method === 'GET' ? call : call.send({});
      };
      const { status: without } = await send();
      const readWithout = trips.trips.map(({ store, text }) => `${store} ${text.split(' ', 2)[0]}`);
      const { status } = await send(key);
      expect([route, status]).toEqual([route, without]);
      expect([route, trips.trips.map(({ store, text }) => `${store} ${text.split(' ', 2)[0]}`)]).toEqual([
        route,
        readWithout,
      ]);
      if (without === 401 && !readWithout.length) guarded.push(route);
    }
    expect(guarded.length).toBeGreaterThan(25);
    expect(guarded).toEqual(
      expect.arrayContaining(['POST /auth/access-keys', 'POST /auth/logout', 'GET /auth/sessions']),
    );
  });
});
