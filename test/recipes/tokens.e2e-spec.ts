import {
  Controller,
  Delete,
  type ExecutionContext,
  Get,
  HttpCode,
  Injectable,
  Req,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard, PassportModule, PassportStrategy } from '@nestjs/passport';
import { Auth } from '@svc/auth';
import { Test } from '@nestjs/testing';
import { isJWT } from 'class-validator';
import { request as httpRequest } from 'node:http';
import jwt from 'jsonwebtoken';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { modulesOf } from '../docs/page-modules';
import { TestApp } from '../support/hosts/app';
import { SECRET } from '../support/hosts/host.module';

const FORMER = 'the-secret-of-the-former-application';

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
