import { Controller, Get, type INestApplication } from '@nestjs/common';
import { AuthModule, Authenticated, RequireAbilityIfPinned, TokenAbilityDenied } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import request from 'supertest';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { startHost } from '../support/hosts/adapter';
import { TestApp, claimsOf } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { forge } from '../support/clients/forge';
import { ADMIN_AUDIENCE, SECRET } from '../support/hosts/host.module';
import { sharedRedisUrl } from '../support/stores/shared-redis';
import { SubjectProvider } from '../support/hosts/verifying-service';

@Controller('orders')
class Orders {
  @Get()
  @RequireAbilityIfPinned('orders.read')
  list() {
    return {};
  }

  @Get('both')
  @RequireAbilityIfPinned('orders.read', 'orders.export')
  both() {
    return {};
  }

  @Get('staff')
  @Authenticated('admin')
  @RequireAbilityIfPinned('orders.read')
  staff() {
    return {};
  }
}

@Controller('invoices')
@RequireAbilityIfPinned('invoices')
class Invoices {
  @Get()
  list() {
    return {};
  }

  @Get('export')
  @RequireAbilityIfPinned('export')
  export() {
    return {};
  }
}

describe('a route of the host that requires an ability of pinned sessions', () => {
  const t = TestApp.forFile({
    // This option is about the routes of the library.
    options: { tokenIds: 'any', features: { gateAuthRoutes: false }, hooks: { abilities: () => ['unrelated'] } },
    controllers: [Orders, Invoices],
  });
  beforeEach(async () => {
    await t.person('ada@example.com');
    await t.person('root@example.com', 'admin');
  });
  const session = async (abilities?: string[], guard = 'api'): Promise<string> =>
    (await t.auth.guard(guard).startSession(1, {}, abilities)).accessToken;

  it.each<[string, string[] | undefined, number]>([
    ['/orders', undefined, 200],
    ['/orders', ['orders.read'], 200],
    ['/orders', ['orders.*'], 200],
    ['/orders', ['*'], 200],
    ['/orders', ['orders.export'], 403],
    ['/orders', ['svc.account'], 403],
    ['/orders', [], 403],
    ['/orders/both', undefined, 200],
    ['/orders/both', ['orders.read', 'orders.export'], 200],
    ['/orders/both', ['orders.read'], 403],
    ['/invoices', undefined, 200],
    ['/invoices', ['invoices'], 200],
    ['/invoices', ['export'], 403],
    ['/invoices/export', undefined, 200],
    ['/invoices/export', ['invoices', 'export'], 200],
    ['/invoices/export', ['invoices'], 403],
    ['/invoices/export', ['export'], 403],
  ])('%s answers a session pinned to %j with %d', async (path, abilities, status) => {
    await t.get(path, await session(abilities)).expect(status);
  });

  it('answers 401 without a valid token', async () => {
    for (const path of ['/orders', '/invoices', '/invoices/export']) {
      await t.get(path).expect(401);
      await t.get(path, forge({ secret: 'x'.repeat(40) })).expect(401);
    }
  });

  it('names the missing abilities in the challenge and in an event', async () => {
    const denied = t.recorded(TokenAbilityDenied);
    const { body, headers } = await t.get('/orders/both', await session(['orders.read'])).expect(403);
    expect(body).toEqual({ message: 'This needs the ability orders.read and orders.export.' });
    expect(headers['www-authenticate']).toContain('scope="orders.read orders.export"');
    expect(denied).toEqual([
      {
        userId: '1',
        guard: 'api',
        familyId: expect.any(String),
        required: ['orders.read', 'orders.export'],
        requiresAll: true,
      },
    ]);
  });

  it('reads the session if the token does not state whether it is pinned', async () => {
    const [pinned, derived] = [await session(['a']), await session()].map((token) => claimsOf(token).fid);
    for (const pin of [undefined, false, 'true', null]) {
      await t.get('/orders', forge({ claims: { fid: pinned, pin } })).expect(403);
      await t.get('/orders', forge({ claims: { fid: derived, pin } })).expect(200);
    }
    await t.get('/orders', forge({ claims: { fid: pinned, scope: 'orders.read' } })).expect(200);
    await t.get('/orders', forge({ claims: { fid: derived, pin: true } })).expect(403);
    for (const fid of [undefined, randomUUID(), 'of a co-issuer'])
      await t.get('/orders', forge({ claims: { fid } })).expect(200);
  });

  it('asks the guard of the route', async () => {
    await t.get('/orders/staff', await session(undefined, 'admin')).expect(200);
    await t.get('/orders/staff', await session(['orders.read'], 'admin')).expect(200);
    await t.get('/orders/staff', await session([], 'admin')).expect(403);
    await t.get('/orders/staff', await session(['orders.read'])).expect(401);
    const { fid } = claimsOf(await session([], 'admin'));
    await t.get('/orders/staff', forge({ claims: { aud: ADMIN_AUDIENCE, fid } })).expect(403);
  });
});

describe('a service that only verifies tokens', () => {
  const issuer = TestApp.forFile();
  beforeEach(() => issuer.person('ada@example.com'));
  const stops: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  async function withoutDatabase(): Promise<INestApplication> {
    const { cache, client } = await redisCache(sharedRedisUrl()!);
    const auth = AuthModule.forRoot({ verifyOnly: true, secret: SECRET, cache, users: { provider: SubjectProvider } });
    const app = await startHost({ module: class Service {}, imports: [auth], controllers: [Invoices] });
    stops.push(
      () => app.close(),
      () => client.disconnect(),
    );
    return app;
  }

  async function withUsersOnly(): Promise<INestApplication> {
    const t = await TestApp.start({ options: { verifyOnly: true }, controllers: [Invoices] });
    stops.push(() => t.stop());
    await t.person('ada@example.com');
    await t.database.query('DROP TABLE svc_sessions');
    return t.app;
  }

  it.each([
    ['without a database', withoutDatabase],
    ['without a table of sessions', withUsersOnly],
  ])('goes by the claim of the token, %s', async (_, start) => {
    const service = await start();
    const status = async (token: string): Promise<number> =>
      (await request(service.getHttpServer()).get('/invoices').set('Authorization', `Bearer ${token}`)).status;
    const session = async (abilities?: string[]) => (await issuer.auth.startSession(1, {}, abilities)).accessToken;
    const derived = await session();
    // Until the service has read that the denylist is complete, it answers 503.
    await eventually(async () => (await status(derived)) === 200);
    expect(await status(await session(['invoices']))).toBe(200);
    expect(await status(await session(['export']))).toBe(403);
  });
});
