import {
  Controller,
  Delete,
  type ExecutionContext,
  Get,
  HttpCode,
  Injectable,
  Logger,
  Req,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard, PassportModule, PassportStrategy } from '@nestjs/passport';
import { Abilities, Auth, type Caller, CurrentCaller, RequireConfirmation } from '@svc/auth';
import { Test } from '@nestjs/testing';
import { isJWT } from 'class-validator';
import { request as httpRequest } from 'node:http';
import jwt from 'jsonwebtoken';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { modulesOf } from '../docs/page-modules';
import { TestApp, claimsOf } from '../support/hosts/app';
import { ADA, CONFIRMATION_HEADER, confirmPassword, confirmationTokenOf, startStepUp } from '../support/flows/step-up';
import { SECRET } from '../support/hosts/host.module';
import { PASSWORD } from '../support/hosts/user-entities';

const FORMER = 'the-secret-of-the-former-application';

describe('impersonation, as in its recipe', () => {
  @Controller('orders')
  class Orders {
    @Get()
    @Abilities('orders.read')
    list(@CurrentCaller() { userId, claims }: Caller) {
      return { of: userId, by: claims.act };
    }

    @Delete()
    @HttpCode(204)
    @RequireConfirmation()
    empty() {}
  }

  let t: TestApp;
  let operator: string;
  let written: unknown[];

  beforeAll(async () => {
    const { ImpersonationController } = modulesOf('docs/recipes/impersonation.md')['src/impersonation.controller.ts'];
    t = await startStepUp({ hooks: { abilities: () => ['*'] } }, [ImpersonationController, Orders]);
    operator = (await t.session('root@example.com', 'admin')).access_token;
  });
  afterAll(() => t.stop());
  beforeEach(() => {
    written = [];
    jest.spyOn(Logger.prototype, 'log').mockImplementation((line: unknown) => void written.push(line));
  });

  const start = async (user: string, body: object = { reason: 'ticket 7' }) =>
    t
      .call('post', `/admin/impersonations/${user}`, operator)
      .set(CONFIRMATION_HEADER, await confirmationTokenOf(t, operator, 'admin'))
      .send(body);

  it('requires the step-up of an operator and a reason, and is recorded before it begins', async () => {
    await t.call('post', '/admin/impersonations/1', operator).send({ reason: 'ticket 7' }).expect(423);
    const { access_token: user } = await t.session(ADA);
    await t.call('post', '/admin/impersonations/1', user).send({ reason: 'ticket 7' }).expect(401);
    expect((await start('1', { reason: ' ' })).status).toBe(400);
    expect(written).not.toContainEqual(expect.objectContaining({ event: 'impersonation.started' }));

    expect((await start('1')).status).toBe(200);
    const line = { event: 'impersonation.started', operator: '1', user: '1', reason: 'ticket 7' };
    expect(written).toContainEqual(line);
    expect((await start('999')).status).toBe(404);
    expect((await start('nobody')).status).toBe(404);
  });

  it('identifies the operator in every request, and issues no refresh token', async () => {
    const { body } = await start('2');
    expect(Object.keys(body).toSorted()).toEqual(['access_token', 'expires_in']);
    expect(claimsOf(body.access_token)).toMatchObject({ sub: '2', act: { sub: '1', guard: 'admin' }, pin: true });
    const { body: seen } = await t.get('/orders', body.access_token).expect(200);
    expect(seen).toEqual({ of: '2', by: { sub: '1', guard: 'admin' } });
    await t.refresh(body.access_token).expect(401);
  });

  it('cannot step up, even with the password, and cannot change the account', async () => {
    const { body } = await start('2');
    const token = body.access_token;
    await t.call('delete', '/orders', token).expect(423);
    await confirmPassword(t, token).expect(403);
    const own = await confirmationTokenOf(t, (await t.session('bob@example.com')).access_token);
    await t.call('delete', '/orders', token).set(CONFIRMATION_HEADER, own).expect(423);
    const change = {
      current_password: PASSWORD,
      password: 'another horse here',
      password_confirmation: 'another horse here',
    };
    await t.call('post', '/auth/password', token).send(change).expect(403);
    await t.call('delete', '/auth/account', token).set(CONFIRMATION_HEADER, own).expect(403);
    await t.get('/auth/sessions', token).expect(403);
  });

  it('is listed for the user, and ends by the user or its own token without ending other sessions', async () => {
    const { access_token: user } = await t.session(ADA);
    const [first, second] = [(await start('1')).body.access_token, (await start('1')).body.access_token];
    await t.call('post', '/auth/logout', first).expect(204);
    await t.get('/orders', first).expect(401);
    const { body } = await t.get('/auth/sessions', user).expect(200);
    const found = body.data.find(({ id }: { id: string }) => id === claimsOf(second).fid);
    expect(found).toMatchObject({ label: 'Customer support' });
    await t.call('delete', `/auth/sessions/${found.id}`, user).expect(204);
    await t.get('/orders', second).expect(401);
    await t.get('/orders', user).expect(200);
  });
});

describe('a host that migrates from passport-jwt, as in its recipe', () => {
  let t: TestApp;

  beforeAll(async () => {
    process.env.FORMER_SECRET = FORMER;
    const modules = modulesOf('docs/recipes/from-passport-jwt.md');
    const { FormerStrategy } = modules['src/former.strategy.ts'];
    const { OrdersController } = modules['src/orders.controller.ts'];
    t = await TestApp.start({
      controllers: [OrdersController],
      imports: [{ module: class Former {}, providers: [FormerStrategy] }],
    });
    await t.person('ada@example.com');
  });
  afterAll(async () => {
    delete process.env.FORMER_SECRET;
    await t.stop();
  });

  const former = (secret = FORMER): string => jwt.sign({ sub: '7' }, secret, { expiresIn: 60 });

  it('accepts tokens of both strategies, each by its own rules', async () => {
    const { access_token: token } = await t.session();
    expect((await t.get('/orders', token).expect(200)).body).toEqual({ of: 1 });
    expect((await t.get('/orders', former()).expect(200)).body).toEqual({ of: '7' });
    await t.get('/orders', former('x'.repeat(36))).expect(401);
    await t.get('/orders').expect(401);
  });

  it('accepts no token of one strategy by the other', async () => {
    const { access_token: token } = await t.session();
    await t.call('post', '/auth/logout', token).expect(204);
    await t.get('/orders', token).expect(401);
    await t.get('/orders', former(SECRET)).expect(401);
    await t.get('/auth/sessions', former()).expect(401);
  });
});

describe("a host whose guard is named 'jwt', with the guards that it already has", () => {
  /** A guard of the host: it lets the routes pass that its own decorator names. */
  @Injectable()
  class JwtAuthGuard extends AuthGuard('jwt') {
    constructor(private readonly reflector: Reflector) {
      super();
    }

    override canActivate(context: ExecutionContext) {
      return this.reflector.get('isPublic', context.getHandler()) === true || super.canActivate(context);
    }
  }

  @Controller('profile')
  class Profile {
    @Get()
    @UseGuards(AuthGuard('jwt'))
    own(@Req() { user }: { user: { id: number; email: string } }) {
      return { id: user.id, email: user.email };
    }

    @Get('default')
    @UseGuards(AuthGuard())
    ofDefault(@Req() { user }: { user: { id: number } }) {
      return { id: user.id };
    }
  }

  @Controller('articles')
  @UseGuards(JwtAuthGuard)
  class Articles {
    @Get()
    @SetMetadata('isPublic', true)
    list() {
      return [];
    }

    @Delete()
    @HttpCode(204)
    empty() {}
  }

  let t: TestApp;
  const passport = PassportModule.register({ defaultStrategy: 'jwt' });

  beforeAll(async () => {
    t = await TestApp.start({
      options: { guard: 'jwt' },
      controllers: [],
      imports: [{ module: class Shop {}, imports: [passport], controllers: [Profile, Articles] }],
      prepare: (app) =>
        void app.use(modulesOf('docs/recipes/from-passport-jwt.md')['src/token-scheme.ts'].tokenAsBearer),
    });
    await t.person('ada@example.com');
  });
  afterAll(() => t.stop());

  it('works unchanged: AuthGuard, its subclasses and the default strategy', async () => {
    const { access_token: token } = await t.session();
    expect((await t.get('/profile', token).expect(200)).body).toEqual({ id: 1, email: 'ada@example.com' });
    expect((await t.get('/profile/default', token).expect(200)).body).toEqual({ id: 1 });
    await t.get('/articles').expect(200);
    await t.call('delete', '/articles', token).expect(204);
  });

  it('refuses what the library refuses', async () => {
    const { access_token: ended } = await t.session();
    await t.call('post', '/auth/logout', ended).expect(204);
    await t.person('root@example.com', 'admin');
    const { access_token: ofOtherGuard } = await t.session('root@example.com', 'admin');
    const ofFormer = jwt.sign({ sub: '1' }, FORMER, { expiresIn: 60 });
    const unsigned = jwt.sign({ sub: '1' }, '', { algorithm: 'none' });
    for (const token of [undefined, 'x', ended, ofOtherGuard, ofFormer, unsigned])
      for (const path of ['/profile', '/profile/default']) await t.get(path, token).expect(401);
    const { body, headers } = await t.call('delete', '/articles', ended).expect(401);
    expect([body, headers['www-authenticate']]).toEqual([{ message: 'Unauthorized', statusCode: 401 }, undefined]);
    const { access_token: expired } = await t.session();
    t.clock.advance(905);
    await t.get('/profile', expired).expect(401);
  });

  it('reads another scheme as Bearer, with the function of the recipe, and never two headers', async () => {
    const { access_token: token } = await t.session();
    const send = (path: string, header: string | string[]) => t.http.get(path).set('Authorization', header as string);
    for (const path of ['/profile', '/auth/sessions']) {
      await send(path, `Token ${token}`).expect(200);
      await send(path, `token  ${token}`).expect(200);
      await send(path, 'Token x').expect(401);
    }
    const refused = await send('/auth/sessions', `JWT ${token}`).expect(401);
    expect(refused.headers['www-authenticate']).toBe('Bearer');
    await send('/auth/sessions', token).expect(401);
    const url = await t.app.getUrl();
    const twice = { method: 'GET', headers: { Authorization: [`Token ${token}`, `Token ${token}`] } };
    const status = new Promise((resolve) =>
      httpRequest(`${url}/auth/sessions`, twice, (answer) => resolve(answer.resume().statusCode)).end(),
    );
    expect(await status).toBe(401);
  });

  it('has refresh tokens that are no JWTs', async () => {
    expect(isJWT((await t.session()).refresh_token)).toBe(false);
  });

  it.each(['before', 'after'])(
    'does not start with a strategy of the same name that is created %s it',
    async (when) => {
      @Injectable()
      class JwtStrategy extends PassportStrategy(Strategy) {
        constructor() {
          super({ jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(), secretOrKey: FORMER });
        }

        validate({ sub }: { sub: string }) {
          return { id: sub };
        }
      }
      const created =
        when === 'before' ? JwtStrategy : { provide: 'x', inject: [Auth], useFactory: () => new JwtStrategy() };
      const former = { module: class Former {}, providers: [created] };
      const starting = TestApp.start({
        options: { guard: 'jwt' },
        controllers: [],
        imports: [former],
      });
      await expect(starting).rejects.toThrow(/another strategy of Passport with the name "jwt" beside .* Remove it/);
      // Passport is one for the process.
      await t.get('/profile', jwt.sign({ sub: '1' }, FORMER)).expect(401);
      await t.get('/profile', (await t.session()).access_token).expect(200);
    },
  );

  it('starts beside a strategy of an application that was closed', async () => {
    @Injectable()
    class Closed extends PassportStrategy(Strategy, 'jwt') {
      constructor() {
        super({ jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(), secretOrKey: FORMER });
      }
      validate = () => ({ id: '1' });
    }
    const closed = await Test.createTestingModule({ providers: [Closed] }).compile();
    await closed.close();
    const next = await TestApp.start({ options: { guard: 'jwt' }, controllers: [] });
    await next.stop();
  });
});
