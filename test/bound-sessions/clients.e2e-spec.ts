import { Controller, Get, Module } from '@nestjs/common';
import { Auth, AuthModule, type Caller, CurrentCaller, Authenticated } from '@svc/auth';
import * as DPoP from 'dpop';
import * as oauth from 'oauth4webapi';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { startHost } from '../support/hosts/adapter';
import { Device } from '../support/flows/bound-sessions';
import { TestApp, claimsOf } from '../support/hosts/app';
import { SECRET } from '../support/hosts/host.module';
import { ADA, PASSWORD } from '../support/hosts/user-entities';
import { SubjectProvider } from '../support/hosts/verifying-service';
import { sharedRedisUrl } from '../support/stores/shared-redis';

describe.each([0, 60])('clients of other authors, with nonces of %i seconds', (nonceSeconds) => {
  const t = TestApp.forFile({ options: { features: { boundSessions: true }, boundSessions: { nonceSeconds } } });
  beforeEach(() => t.person(ADA));

  it('the package dpop signs in, refreshes, and calls routes', async () => {
    const origin = await t.app.getUrl();
    const keys = await DPoP.generateKeyPair('ES256', { extractable: false });
    let nonce: string | undefined;
    const send = async (method: string, path: string, body?: object, token?: string): Promise<Response> => {
      const url = origin + path;
      const answer = await fetch(url, {
        method,
        headers: {
          DPoP: await DPoP.generateProof(keys, url, method, nonce, token),
          'Content-Type': 'application/json',
          ...(token && { Authorization: `DPoP ${token}` }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const given = answer.headers.get('dpop-nonce');
      if (!given || given === nonce) return answer;
      nonce = given;
      return send(method, path, body, token);
    };
    const { refresh_token: first } = (await (
      await send('POST', '/auth/login', { email: ADA, password: PASSWORD })
    ).json()) as { refresh_token: string };
    const next = (await (await send('POST', '/auth/refresh', { refresh_token: first })).json()) as {
      access_token: string;
    };
    expect(claimsOf(next.access_token).cnf).toEqual({ jkt: await DPoP.calculateThumbprint(keys.publicKey) });
    expect((await send('GET', '/private', undefined, next.access_token)).status).toBe(200);
  });

  it('oauth4webapi refreshes and calls routes, also when it needs a nonce first', async () => {
    const origin = await t.app.getUrl();
    const device = await Device.create();
    const nonce = nonceSeconds ? (await device.login(t)).headers.get('dpop-nonce')! : undefined;
    const { body } = await device.login(t, { nonce });
    const own = await crypto.subtle.importKey(
      'jwk',
      { ...(await device.privateJwk()), ext: false } as never,
      { name: 'ECDSA', namedCurve: 'P-256' },
      false,
      ['sign'],
    );
    const pub = await crypto.subtle.importKey(
      'jwk',
      device.jwk as never,
      { name: 'ECDSA', namedCurve: 'P-256' },
      true,
      ['verify'],
    );
    const client: oauth.Client = { client_id: 'page' };
    const server: oauth.AuthorizationServer = { issuer: origin, token_endpoint: `${origin}/auth/refresh` };
    const options = {
      DPoP: oauth.DPoP(client, { privateKey: own, publicKey: pub }),
      [oauth.allowInsecureRequests]: true,
    };
    const twice = async <T>(call: () => Promise<T>): Promise<T> =>
      call().catch((error: unknown) => {
        if (oauth.isDPoPNonceError(error)) return call();
        throw error;
      });
    const tokens = await twice(async () =>
      oauth.processRefreshTokenResponse(
        server,
        client,
        await oauth.refreshTokenGrantRequest(server, client, oauth.None(), body.refresh_token, options),
      ),
    );
    expect(tokens.token_type).toBe('dpop');
    const answer = await twice(() =>
      oauth.protectedResourceRequest(
        tokens.access_token,
        'GET',
        new URL(`${origin}/private`),
        undefined,
        undefined,
        options,
      ),
    );
    expect([answer.status, await answer.json()]).toEqual([
      200,
      expect.objectContaining({ familyId: expect.any(String) }),
    ]);
    const stolen = await oauth
      .protectedResourceRequest(tokens.access_token, 'GET', new URL(`${origin}/private`), undefined, undefined, {
        [oauth.allowInsecureRequests]: true,
      })
      .catch((error: unknown) => error);
    expect(stolen).toBeInstanceOf(oauth.WWWAuthenticateChallengeError);
  });
});

@Controller('orders')
class Orders {
  @Get()
  @Authenticated()
  list(@CurrentCaller() { userId }: Caller) {
    return { userId };
  }
}

describe('a service that only verifies', () => {
  const t = TestApp.forFile({ options: { features: { boundSessions: true } } });

  async function verifier(features: object, addresses: string[] = []) {
    const { cache, client } = await redisCache(sharedRedisUrl()!);
    const auth = AuthModule.forRoot({
      verifyOnly: true,
      secret: SECRET,
      cache,
      users: { provider: SubjectProvider },
      features,
      boundSessions: { addresses },
    });
    @Module({ imports: [auth], controllers: [Orders] })
    class Service {}
    const app = await startHost(Service);
    return {
      at: { app } as unknown as TestApp,
      stop: async () => {
        await app.close();
        client.disconnect();
      },
    };
  }

  it('checks proofs, once for all services, and without the feature takes no bound token', async () => {
    const id = await t.person(ADA);
    const device = await Device.create();
    const { access_token: token } = (await device.login(t)).body;
    const [one, two, without] = [
      await verifier({ boundSessions: true }, ['http://orders.test']),
      await verifier({ boundSessions: true }, ['http://orders.test']),
      await verifier({}),
    ];
    try {
      const proof = await device.proof('GET', 'http://orders.test/orders', { token });
      expect(await device.get(one.at, '/orders', token, { proof })).toMatchObject({
        status: 200,
        body: { userId: id },
      });
      expect((await device.get(two.at, '/orders', token, { proof })).status).toBe(401);
      // The process listens at an address that is not in the list.
      expect((await device.get(one.at, '/orders', token)).status).toBe(401);
      for (const scheme of ['DPoP', 'Bearer'])
        for (const service of [one, without])
          expect((await device.get(service.at, '/orders', token, { scheme, proof: null })).status).toBe(401);
      const bare = (await device.login(t, { proof: null })).body.access_token;
      expect((await device.get(without.at, '/orders', bare, { scheme: 'Bearer' })).status).toBe(200);
    } finally {
      await Promise.all([one, two, without].map(({ stop }) => stop()));
    }
  });
});

describe('code of the host', () => {
  const t = TestApp.forFile({ options: { features: { boundSessions: true }, boundSessions: { mode: 'require' } } });

  it('starts a session for the key that a request proves, and none without', async () => {
    const id = await t.person(ADA);
    const device = await Device.create();
    const url = await t.app.getUrl();
    const request = {
      method: 'POST',
      url: '/own',
      headers: { host: new URL(url).host, dpop: await device.proof('POST', `${url}/own`) },
    };
    const tokens = await t.app.get(Auth).startSession(id, { request });
    expect(tokens.tokenType).toBe('DPoP');
    expect(claimsOf(tokens.accessToken).cnf).toEqual({ jkt: device.jkt });
    await expect(t.auth.startSession(id)).rejects.toMatchObject({ code: 'invalid_proof' });
    expect(await t.database.query('SELECT jkt FROM svc_sessions')).toEqual([{ jkt: device.jkt }]);
  });
});
