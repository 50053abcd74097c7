import { Controller, Get, type INestApplication, Module, UseGuards } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { Test } from '@nestjs/testing';
import {
  AuthHealth,
  AuthModule,
  type AuthModuleOptions,
  Authenticated,
  type Caller,
  Clock,
  CurrentCaller,
  RequireConfirmation,
} from '@svc/auth';
import { MovableClock } from '@svc/auth/testing';
import type { ServerResponse } from 'node:http';
import { createPublicKey, randomUUID } from 'node:crypto';
import { sign } from 'jsonwebtoken';
import request from 'supertest';
import { httpAdapter } from '../support/hosts/adapter';
import { TestApp } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { KeyServer, type SigningKey, signingKey } from '../support/hosts/key-server';
import { SubjectProvider } from '../support/hosts/verifying-service';

/** Much longer than an answer takes. */
const STORE_TIMEOUT_MS = 30_000;
const AUDIENCE = 'https://reports.example.com';
const ISSUER = 'https://api.example.com';
const MOST_BYTES = 262_144;

@Controller()
class Reports {
  @Get('reports')
  @Authenticated()
  list(@CurrentCaller() { userId }: Caller) {
    return { of: userId };
  }

  @Get('passport')
  @UseGuards(AuthGuard('reports'))
  passport(@CurrentCaller() { userId }: Caller) {
    return { of: userId };
  }

  @Get('erase')
  @Authenticated()
  @RequireConfirmation()
  erase() {
    return {};
  }
}

const PATHS = ['/reports', '/passport'];

describe('a service that reads the keys of its issuer', () => {
  const [k1, k2, foreignKey] = [signingKey('k1'), signingKey('k2'), signingKey('k1')];
  const clock = new MovableClock();
  let keys: KeyServer;
  let service: INestApplication;

  beforeAll(async () => (keys = await KeyServer.start()));
  afterAll(() => keys.stop());

  beforeEach(async () => {
    clock.reset();
    keys.publish([k1]);
    keys.reads = 0;
    await start({});
  });
  afterEach(() => service.close());

  async function start(options: Partial<AuthModuleOptions>): Promise<void> {
    await service?.close();
    @Module({
      imports: [
        AuthModule.forRoot({
          guard: 'reports',
          verifyOnly: true,
          algorithm: 'ES256',
          keys: { jwks: keys.url },
          audience: AUDIENCE,
          features: { denylist: false },
          storeTimeoutMs: STORE_TIMEOUT_MS,
          users: { provider: SubjectProvider },
          ...options,
        }),
      ],
      controllers: [Reports],
    })
    class Service {}
    const testing = await Test.createTestingModule({ imports: [Service] })
      .overrideProvider(Clock)
      .useValue(clock)
      .compile();
    service = testing.createNestApplication(httpAdapter(), { logger: false });
    await service.listen(0, '127.0.0.1');
  }

  const claims = (): object => {
    const iat = clock.seconds();
    return { iss: ISSUER, aud: AUDIENCE, sub: '7', iat, exp: iat + 300 };
  };
  const token = ({ privateKey, kid }: SigningKey, named = kid): string =>
    sign(claims(), privateKey, { algorithm: 'ES256', header: { typ: 'at+jwt', alg: 'ES256', kid: named } });
  const get = (path: string, bearer: string, headers: object = {}) =>
    request(service.getHttpServer())
      .get(path)
      .set({ Authorization: `Bearer ${bearer}`, ...headers });
  const status = async (bearer: string, path = '/reports'): Promise<number> => (await get(path, bearer)).status;
  const health = async (): Promise<object> => (await service.get(AuthHealth).keys()).auth_keys;

  it.each(PATHS)('accepts only tokens of a listed key at %s', async (path) => {
    expect((await get(path, token(k1)).expect(200)).body).toEqual({ of: '7' });
    await get(path, token(foreignKey)).expect(401);
    await get(path, token(k1, 'k2')).expect(401);
    await get(path, `${token(k1)}x`).expect(401);
    expect(keys.reads).toBe(1);
  });

  it('does not read the key set for a token that names no key', async () => {
    const header = { typ: 'at+jwt', alg: 'ES256' };
    const unnamed = sign(claims(), k1.privateKey, { algorithm: 'ES256', header });
    for (const bearer of [unnamed, 'garbage', 'a.b.c']) for (const path of PATHS) await get(path, bearer).expect(401);
    expect(keys.reads).toBe(0);
  });

  it('accepts only the configured algorithm, whatever the header of a token contains', async () => {
    await get('/reports', token(k1)).expect(200);
    const header = { typ: 'at+jwt', kid: 'k1' };
    const secret = JSON.stringify(k1.jwk);
    await get('/reports', sign(claims(), secret, { header: { ...header, alg: 'HS256' } })).expect(401);
    await get('/reports', sign(claims(), '', { algorithm: 'none', header: { ...header, alg: 'none' } })).expect(401);
  });

  it('follows a rotation: it accepts the new key from its first token, and the old key while it is listed', async () => {
    await get('/reports', token(k1)).expect(200);
    keys.publish([k1, k2]);
    clock.advance(10);
    for (const path of PATHS) await get(path, token(k2)).expect(200);
    expect(keys.reads).toBe(2);
    await get('/reports', token(k1)).expect(200);
    keys.publish([k2]);
    clock.advance(10);
    await get('/reports', token(foreignKey, 'k3')).expect(401);
    for (const path of PATHS) await get(path, token(k1)).expect(401);
    await get('/reports', token(k2)).expect(200);
  });

  it('reads the key set at most once in 10 seconds under a flood of unknown keys', async () => {
    clock.stop();
    await get('/reports', token(k1)).expect(200);
    const flood = async (): Promise<void> => {
      const tokens = Array.from({ length: 50 }, () => token(foreignKey, randomUUID()));
      const seen = await Promise.all(tokens.map((bearer, i) => status(bearer, PATHS[i % 2])));
      expect(new Set(seen)).toEqual(new Set([401]));
    };
    clock.advance(9.999);
    await flood();
    expect(keys.reads).toBe(1);
    clock.advance(0.001);
    await flood();
    await flood();
    expect(keys.reads).toBe(2);
    await get('/reports', token(k1)).expect(200);
  });

  it('reads the key set once for all waiting requests', async () => {
    const release = keys.hold();
    const seen = Array.from({ length: 20 }, (_, i) => status(token(k1), PATHS[i % 2]));
    await eventually(async () => keys.reads > 0);
    release();
    expect(new Set(await Promise.all(seen))).toEqual(new Set([200]));
    expect(keys.reads).toBe(1);
  });

  it.each([
    ['for its max-age', 'public, max-age=60', 60],
    ['for 10 minutes without one', undefined, 600],
    ['for 10 minutes with s-maxage alone', 's-maxage=60', 600],
    ['for at least 10 seconds', 'max-age=0', 10],
    ['for a day at most', 'max-age=31536000', 86_400],
  ])('uses a set %s, and then reads it again in the background', async (_, cacheControl, seconds) => {
    clock.stop();
    keys.publish([k1], cacheControl);
    await get('/reports', token(k1)).expect(200);
    clock.advance(seconds - 1);
    await get('/reports', token(k1)).expect(200);
    expect(keys.reads).toBe(1);
    keys.publish([k2]);
    const release = keys.hold();
    clock.advance(1);
    await get('/reports', token(k1)).expect(200);
    await get('/passport', token(k1)).expect(200);
    await eventually(async () => keys.reads === 2);
    release();
    await eventually(async () => (await status(token(k1))) === 401);
    await get('/reports', token(k2)).expect(200);
    expect(keys.reads).toBe(2);
  });

  it('sends no-cache, so that caches revalidate the set', async () => {
    const cacheControls: unknown[] = [];
    const { answer } = keys;
    keys.answer = (incoming, response) =>
      answer((cacheControls.push(incoming.headers['cache-control']), incoming), response);
    await get('/reports', token(k1)).expect(200);
    expect(cacheControls).toEqual(['no-cache']);
  });

  const fail = (_: unknown, response: ServerResponse): unknown => response.writeHead(503).end();

  it('answers 503 until it has read a set, and recovers without a restart', async () => {
    keys.answer = fail;
    for (const path of PATHS) {
      const { body } = await get(path, token(k1)).expect(503);
      expect(JSON.stringify(body)).not.toMatch(/127\.0\.0\.1|key/);
    }
    await get('/reports', token(k1)).expect('Retry-After', '1');
    expect(keys.reads).toBe(1);
    keys.publish([k1]);
    clock.advance(10);
    for (const path of PATHS) await get(path, token(k1)).expect(200);
  });

  it('uses its known keys during an outage, and answers 503 for other keys', async () => {
    clock.stop();
    keys.publish([k1], 'max-age=60');
    await get('/reports', token(k1)).expect(200);
    keys.answer = fail;
    await get('/reports', token(k2)).expect(401);
    clock.advance(3600);
    for (const path of PATHS) {
      await get(path, token(k1)).expect(200);
      await get(path, token(k2)).expect(503);
    }
    expect(keys.reads).toBe(2);
    clock.advance(10);
    await get('/reports', token(k2)).expect(503);
    expect(keys.reads).toBe(3);
    keys.publish([k1, k2]);
    clock.advance(10);
    await get('/reports', token(k2)).expect(200);
    await get('/reports', token(k1)).expect(200);
  });

  it('accepts no token after it has read an empty set, which is not an outage', async () => {
    await get('/reports', token(k1)).expect(200);
    keys.publish([]);
    clock.advance(10);
    await get('/reports', token(k2)).expect(401);
    await get('/reports', token(k1)).expect(401);
  });

  const set = (others: number, length = 0): string =>
    JSON.stringify({ keys: [...Array.from({ length: others }, () => ({ kty: 'oct' })), k1.jwk] }).padEnd(length);
  const chunked = (text: string) => (_: unknown, response: ServerResponse) => {
    response.write(text.slice(0, 10));
    response.end(text.slice(10));
  };

  it('accepts a set of 256 KiB and 100 keys', async () => {
    keys.answer = chunked(set(99, MOST_BYTES));
    await get('/reports', token(k1)).expect(200);
  });

  it.each<[string, KeyServer['answer']]>([
    ['longer than 256 KiB', chunked(set(0, MOST_BYTES + 1))],
    [
      'that never ends',
      (_, response) => {
        const more = (): void => {
          while (!response.destroyed && response.write(' '.repeat(65_536)));
        };
        response.on('drain', more);
        more();
      },
    ],
    ['of 101 keys', chunked(set(100))],
    [
      'that redirects',
      ({ url }, response) =>
        url === '/jwks' ? response.writeHead(302, { Location: '/other' }).end() : response.end(set(0)),
    ],
    ['of a proxy', (_, response) => response.end('<html>Please sign in</html>')],
    ['that is not a key set', (_, response) => response.end('[]')],
    ['with an error status', (_, response) => response.writeHead(404).end(set(0))],
    [
      'that breaks off',
      (incoming, response) => (response.write(set(0)), setImmediate(() => incoming.socket.destroy())),
    ],
    ['that is a closed connection', (incoming) => incoming.socket.destroy()],
  ])('treats an answer %s as an outage', async (_, answer) => {
    keys.answer = answer;
    for (const path of PATHS) await get(path, token(k1)).expect(503);
    clock.advance(10);
    keys.publish([k1]);
    await get('/reports', token(k1)).expect(200);
    clock.advance(10);
    keys.answer = answer;
    await get('/reports', token(k2)).expect(503);
    await get('/reports', token(k1)).expect(200);
  });

  it('waits at most storeTimeoutMs', async () => {
    await start({ storeTimeoutMs: 50 });
    keys.hold();
    for (const path of PATHS) await get(path, token(k1)).expect(503);
  });

  it('is healthy once it has read keys, which the health check does itself', async () => {
    keys.answer = fail;
    expect(await health()).toEqual({ status: 'down', reason: 'unreachable' });
    clock.advance(10);
    keys.publish([]);
    expect(await health()).toEqual({ status: 'down', reason: 'failed' });
    clock.advance(10);
    keys.publish([k1]);
    expect(await health()).toEqual({ status: 'up' });
    clock.advance(3600);
    keys.answer = fail;
    expect(await health()).toEqual({ status: 'up' });
  });

  it('also reads the key of a confirmation', async () => {
    await get('/reports', token(k1)).expect(200);
    keys.publish([k1, k2]);
    clock.advance(10);
    const header = { typ: 'reauth+challenge', alg: 'ES256', kid: 'k2' };
    const confirmationClaims = { ...claims(), aud: [AUDIENCE], jti: randomUUID() };
    const proof = sign(confirmationClaims, k2.privateKey, { algorithm: 'ES256', header });
    await get('/erase', token(k1), { 'X-Svc-Confirmation': proof }).expect(200);
    await get('/erase', token(k1)).expect(423);
  });

  it('mounts no key set', async () => {
    await get('/auth/jwks', token(k1)).expect(404);
  });

  it('follows the rotation of an issuer with this library by its published key set', async () => {
    const pem = ({ privateKey }: SigningKey) => String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const published = ({ kid, privateKey }: SigningKey) => ({
      [kid]: String(createPublicKey(privateKey).export({ type: 'spki', format: 'pem' })),
    });
    /** Serves the key set of an issuer that signs with `active`, and returns one of its tokens. */
    const issue = async (active: SigningKey, ...former: SigningKey[]): Promise<string> => {
      const ring = {
        active: active.kid,
        private: pem(active),
        public: Object.assign({}, ...[active, ...former].map(published)),
      };
      const issuer = await TestApp.start({ options: { algorithm: 'ES256', keys: ring, audience: [ISSUER, AUDIENCE] } });
      try {
        await issuer.person('ada@example.com');
        const { text, headers } = await issuer.get('/auth/jwks').expect(200);
        keys.answer = (_, response) => response.setHeader('Cache-Control', headers['cache-control']!).end(text);
        return (await issuer.session()).access_token;
      } finally {
        await issuer.stop();
      }
    };
    const first = await issue(k1);
    await get('/reports', first).expect(200);
    const second = await issue(k2, k1);
    clock.advance(10);
    for (const valid of [second, first]) for (const path of PATHS) await get(path, valid).expect(200);
    const third = await issue(k2);
    clock.advance(10);
    await get('/reports', token(foreignKey, 'k3')).expect(401);
    await get('/reports', first).expect(401);
    await get('/reports', third).expect(200);
    expect(keys.reads).toBe(3);
  });
});
