import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { type Attack, AttackedHost, type Visitor } from './support/attacked-host';
import { ROUTES, credentials, routeNamed } from './support/routes';
import { partition } from './support/partition';
import { CHALLENGE, CONFIRMATION, claimsOf, confirmationTokenFor, purposeToken } from './support/jws';
import {
  type Hostile,
  hostileBearers,
  hostilePurposeTokens,
  hostileRefreshTokens,
  hostileToKeyPairs,
  refreshToken,
} from './support/tokens';
import { CONFIRMATION_HEADER } from '../support/flows/step-up';
import { ENCRYPTION_KEY, UNLIMITED } from '../support/hosts/host.module';
import { PASSWORD } from '../support/hosts/user-entities';
import { describeWithRedis } from '../support/stores/with-redis';

const GUARDED = ROUTES.filter(({ needs }) => needs !== 'nothing');

/** A request to the route with a bearer token and everything else that the route requires. */
const asBearer =
  (visitor: Visitor) =>
  (route: (typeof ROUTES)[number], [name, token]: Hostile): Attack => ({
    name: `${route.name}, ${name}`,
    send: {
      method: route.method,
      path: route.path,
      headers: { [CONFIRMATION_HEADER]: confirmationTokenFor(visitor), Authorization: `Bearer ${headerSafe(token)}` },
      body: route.body?.(visitor) ?? {},
    },
    status: [401],
  });

/** The characters of a token that a header can contain. A client cannot send others. */
const headerSafe = (token: string): string => token.replace(/[^\x20-\x7e]/g, '');

describeWithRedis('an invalid token', () => {
  let host: AttackedHost;
  let api: Visitor;
  let admin: Visitor;
  let neighbour: Visitor;
  let hostile: Record<string, Hostile[]>;

  beforeAll(async () => {
    host = await AttackedHost.start({ options: { refreshTokenFrom: 'both' } });
    [api, admin, neighbour] = [await host.visitor(), await host.visitor('admin'), await host.visitor()];
    hostile = { api: hostileBearers(api, admin), admin: hostileBearers(admin, api) };
  });
  afterAll(() => host.stop());

  const of = (guard: string): Visitor => (guard === 'api' ? api : admin);
  const otherThan = (guard: string): Visitor => (guard === 'api' ? admin : api);

  it.each(GUARDED.map((route, i) => [route.name, route, i] as const))('is refused by %s', async (_, route, i) => {
    const attacks = partition(hostile[route.guard]!, i, 8).map((one) => asBearer(of(route.guard))(route, one));
    expect(attacks.length).toBeGreaterThan(12);
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('is refused with one body and with the challenge of RFC 6750', async () => {
    const attacks = hostile.api!.map((one) => asBearer(api)(routeNamed('GET /auth/sessions'), one));
    expect(attacks.length).toBeGreaterThan(100);
    for (const { send } of attacks) {
      const { text, headers } = await host.wire.send(send);
      expect(text).toBe('{"message":"Authentication is required."}');
      expect(headers['www-authenticate']).toMatch(/^Bearer( error="invalid_token")?$/);
    }
  });

  it('is refused as a confirmation by every route that requires one', async () => {
    const proofs = hostilePurposeTokens(CONFIRMATION, api, admin, neighbour);
    const attacks = ROUTES.filter(({ needs }) => needs === 'proof').flatMap((route, i) =>
      partition(proofs, i, 3).map(([name, token]): Attack => ({
        name: `${route.name}, ${name}`,
        send: {
          method: route.method,
          path: route.path,
          headers: { Authorization: `Bearer ${api.access}`, [CONFIRMATION_HEADER]: headerSafe(token) },
          body: {},
        },
        status: [423],
      })),
    );
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('is refused as a login challenge at both guards', async () => {
    const attacks = ['api', 'admin'].flatMap((guard) =>
      hostilePurposeTokens(CHALLENGE, of(guard), otherThan(guard), neighbour).flatMap(([name, token]) =>
        [{ code: '000000' }, { recovery_code: 'AAAAAAAAAA-AAAAAAAAAA' }].map((factor): Attack => ({
          name: `${guard}, ${name}`,
          send: {
            method: 'POST',
            path: `${host.paths[guard]}/two-factor-challenge`,
            body: { challenge_token: token, ...factor },
          },
          status: [422],
        })),
      ),
    );
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('is refused as a refresh token in the body and in the cookie', async () => {
    const own = claimsOf(api.access).fid;
    const [row] = await host.sql<{ salt: Buffer }>('SELECT salt FROM svc_sessions WHERE id = $1', [own]);
    const { salt } = row!;
    // With both the root and the salt the token is valid. The following tokens differ in one point only.
    expect(refreshToken(ENCRYPTION_KEY, salt, api)).toBe(api.refresh);
    const tokens: Hostile[] = [
      ...hostileRefreshTokens(api, neighbour, salt),
      ['an access token', api.access],
      ['a proof', confirmationTokenFor(api)],
      ['a challenge', purposeToken(CHALLENGE, api)],
      ['one of the other guard', admin.refresh],
      ['the id of the session', String(own)],
    ];
    const path = '/auth/refresh';
    const attacks = tokens.flatMap(([name, token]): Attack[] => [
      { name, send: { method: 'POST', path, body: { refresh_token: token } }, status: [401] },
      {
        name: `cookie ${name}`,
        send: { method: 'POST', path, headers: { Cookie: `__Host-refresh=${encodeURIComponent(token)}` } },
        status: [401],
      },
    ]);
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('has no effect in the query string, even if it is valid', async () => {
    const secrets = {
      access_token: api.access,
      token: api.access,
      bearer: api.access,
      authorization: `Bearer ${api.access}`,
      refresh_token: api.refresh,
      email: api.email,
      password: PASSWORD,
      current_password: PASSWORD,
      challenge_token: purposeToken(CHALLENGE, api),
      confirmation_token: confirmationTokenFor(api),
      [CONFIRMATION_HEADER.toLowerCase()]: confirmationTokenFor(api),
    };
    const query = new URLSearchParams(secrets).toString();
    const attacks = ROUTES.filter(({ fields, needs }) => fields ?? needs !== 'nothing').flatMap((route): Attack[] => {
      const { method, path, needs } = route;
      const visitor = of(route.guard);
      const common = { secrets: [api.access, api.refresh] };
      const send = { method, path: `${path}?${query}` };
      if (needs === 'nothing') return [{ ...common, name: route.name, send, status: [route.refuses] }];
      const authorized = { Authorization: `Bearer ${visitor.access}` };
      return [
        { ...common, name: route.name, send, status: [401] },
        ...(needs === 'proof'
          ? [{ ...common, name: `${route.name} proof`, send: { ...send, headers: authorized }, status: [423] }]
          : []),
        ...(route.fields && needs === 'token'
          ? [{ ...common, name: `${route.name} fields`, send: { ...send, headers: authorized }, status: [422] }]
          : []),
      ];
    });
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('has no effect in a wrong place, even if it is valid: body, cookie or another scheme', async () => {
    const { access } = api;
    const places = [
      { body: { access_token: access, token: access } },
      { headers: { Cookie: `access_token=${access}; token=${access}; __Host-refresh=${access}` } },
      ...['Basic', 'Token', 'JWT', 'Digest', 'Bearer,', 'Bearer:', ''].map((scheme) => ({
        headers: { Authorization: `${scheme} ${access}` },
      })),
      { headers: { Authorization: access } },
      { headers: { Authorization: `Bearer ${access} ${access}` } },
      { headers: { Authorization: `Bearer ${access},Bearer ${access}` } },
      { headers: { Authorization: `Bearer\t${access}` } },
      { headers: { 'Proxy-Authorization': `Bearer ${access}`, 'X-Access-Token': access } },
      { headers: { 'X-Forwarded-Authorization': `Bearer ${access}`, 'X-Original-Authorization': `Bearer ${access}` } },
    ];
    const attacks = GUARDED.filter(({ guard }) => guard === 'api').flatMap(({ name, method, path }) =>
      places.map((place): Attack => ({
        name: `${name} ${JSON.stringify(place).slice(0, 50)}`,
        send: { method, path, ...place },
        status: [401],
      })),
    );
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('does not affect the session that it imitates', async () => {
    for (const visitor of [api, admin, neighbour]) {
      const { method, path } = routeNamed(`GET ${host.paths[visitor.guard]}/sessions`);
      const headers = credentials({ needs: 'token' } as never, visitor);
      expect((await host.wire.send({ method, path, headers })).status).toBe(200);
      const { status } = await host.post(`${host.paths[visitor.guard]}/refresh`, { refresh_token: visitor.refresh });
      expect(status).toBe(200);
    }
    expect(await host.aftermath()).toEqual([]);
  });
});

describeWithRedis('at a guard with a key pair, an invalid token', () => {
  let host: AttackedHost;
  const pair = (type: 'rsa' | 'ec') => {
    const options = { modulusLength: 2048, namedCurve: 'P-256' };
    const { publicKey, privateKey } = generateKeyPairSync(type as 'rsa', options);
    return {
      public: String(publicKey.export({ type: 'spki', format: 'pem' })),
      private: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    };
  };
  const keys = { api: pair('rsa'), admin: pair('ec') };
  const ring = (one: { public: string; private: string }) => ({
    active: 'k1',
    private: one.private,
    public: { k1: one.public },
  });

  beforeAll(async () => {
    host = await AttackedHost.start({
      options: {
        algorithm: 'RS256',
        keys: ring(keys.api),
        guards: { admin: { algorithm: 'ES256', keys: ring(keys.admin), rateLimits: UNLIMITED } },
      },
    });
  });
  afterAll(() => host.stop());

  it.each(['api', 'admin'] as const)('is refused at %s', async (guard) => {
    const [visitor, other] = [await host.visitor(guard), await host.visitor(guard === 'api' ? 'admin' : 'api')];
    const hostile = hostileToKeyPairs(visitor, other, createPublicKey(keys[guard].public));
    const attacks = GUARDED.filter((route) => route.guard === guard).flatMap((route, i) =>
      partition(hostile, i, 4).map((one) => asBearer(visitor)(route, one)),
    );
    expect(await host.withstand(attacks)).toEqual([]);
    const headers = { Authorization: `Bearer ${visitor.access}` };
    expect((await host.wire.send({ path: `${host.paths[guard]}/sessions`, headers })).status).toBe(200);
  });

  it('does not harm the process', async () => {
    expect(await host.aftermath()).toEqual([]);
  });
});
