import {
  type ArgumentsHost,
  type CallHandler,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Header,
  HttpException,
  type INestApplication,
  Module,
  type NestInterceptor,
  ValidationPipe,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AccessTokenGuard,
  AuthEvents,
  AuthModule,
  Authenticated,
  ForceJson,
  Public,
  RefreshTokenReused,
  authEntities,
} from '@svc/auth';
import { merge, of, take } from 'rxjs';
import agent from 'supertest';
import { DataSource } from 'typeorm';
import { onFastify, startHost } from '../support/hosts/adapter';
import { TestApp, type TestAppOptions } from '../support/hosts/app';
import { createDatabase } from '../support/stores/database';
import { forge } from '../support/clients/forge';
import { hostOptions } from '../support/hosts/host.module';
import { routesOf } from '../support/views/routes';
import { Operator, PASSWORD, Person } from '../support/hosts/user-entities';

@Catch(HttpException)
class ProblemFilter implements ExceptionFilter {
  catch(error: HttpException, host: ArgumentsHost) {
    const response = host.switchToHttp().getResponse();
    response
      .status(error.getStatus())
      .type('application/problem+json')
      .send(JSON.stringify({ title: error.message }));
  }
}

@Controller()
class Routes {
  readonly received: unknown[] = [];

  @Get('default')
  byDefault() {
    return {};
  }

  @Get('marked')
  @Authenticated()
  marked() {
    return {};
  }

  @Get('public')
  @Public()
  open() {
    return {};
  }

  @Get('ours')
  @ForceJson()
  ours() {
    return {};
  }

  @Get('broken')
  @Public()
  @ForceJson()
  broken() {
    throw new Error('secret detail');
  }

  @OnEvent(RefreshTokenReused.name)
  reused(event: RefreshTokenReused) {
    this.received.push(event);
  }
}

describe('a host with a global guard and its own error format', () => {
  let app: INestApplication;
  let database: Awaited<ReturnType<typeof createDatabase>>;

  beforeAll(async () => {
    database = await createDatabase();

    @Module({
      imports: [
        EventEmitterModule.forRoot(),
        TypeOrmModule.forRoot({
          type: 'postgres',
          url: database.url,
          retryAttempts: 0,
          entities: [...authEntities, Person, Operator],
        }),
        AuthModule.forRoot(hostOptions({})),
      ],
      controllers: [Routes],
      providers: [
        { provide: APP_GUARD, useExisting: AccessTokenGuard },
        { provide: APP_FILTER, useClass: ProblemFilter },
      ],
    })
    class Host {}
    app = await startHost(Host);
    await app.get(DataSource).getRepository(Person).save({ email: 'ada@example.com' });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const get = (path: string, token?: string) => {
    const call = agent(app.getHttpServer()).get(path).set('Accept', 'text/html');
    return token ? call.set('Authorization', `Bearer ${token}`) : call;
  };

  it.each([['/default'], ['/marked'], ['/ours'], ['/auth/sessions/none-such']])(
    'guards %s without a decorator',
    async (path) => {
      if (path.startsWith('/auth')) return void (await get(path).expect(404));
      await get(path).expect(401);
      await get(path, forge()).expect(200);
    },
  );

  it('admits all clients to public routes, including those of the library', async () => {
    await get('/public').expect(200);
    await get('/auth/jwks').expect(200);
    await agent(app.getHttpServer()).post('/auth/login').send({}).expect(422);
    await agent(app.getHttpServer()).post('/auth/refresh').send({}).expect(401);
  });

  it('uses its own error format on its own routes, with the challenge header', async () => {
    const { headers, text } = await get('/default').expect(401);
    expect(headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(headers['www-authenticate']).toBe('Bearer');
    expect(JSON.parse(text)).toEqual({ title: expect.any(String) });
  });

  it('uses the library`s format on routes that opt in and on the library`s routes', async () => {
    const { body } = await get('/ours', forge()).expect(200);
    expect(body).toEqual({});
    const { headers, text } = await get('/broken').expect(500);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(text).toBe('{"message":"Something went wrong on our side."}');
    const refused = await agent(app.getHttpServer()).post('/auth/logout').set('Accept', 'text/html').expect(401);
    expect(refused.text).toBe('{"message":"Authentication is required."}');
  });

  it('authenticates the other guard`s routes with the other guard', async () => {
    await agent(app.getHttpServer()).post('/admin/auth/logout').set('Authorization', `Bearer ${forge()}`).expect(401);
  });

  it('receives events through its own emitter', async () => {
    expect(app.get(EventEmitter2)).toBeDefined();
    app.get(AuthEvents).emit(new RefreshTokenReused('f', 'api'));
    expect(app.get(Routes).received).toEqual([{ familyId: 'f', guard: 'api', reason: 'reuse' }]);
  });
});

describe('a host`s global ValidationPipe', () => {
  let pipe: ValidationPipe;
  const t = TestApp.forFile({
    prepare: (app) => app.useGlobalPipes({ transform: (value, metadata) => pipe.transform(value, metadata) }),
  });
  beforeEach(() => t.person('ada@example.com'));

  it.each([[{}], [{ whitelist: true }], [{ whitelist: true, forbidNonWhitelisted: true, transform: true }]])(
    'with %j does not validate the library`s bodies',
    async (options) => {
      pipe = new ValidationPipe(options);
      await t.login('ada@example.com').expect(200);
      const { body } = await t.login('ada@example.com', 7).expect(422);
      expect(body.errors).toEqual({ password: ['The password field must be a string.'] });
      const { refresh_token: token } = await t.session();
      await t.refresh(token).expect(200);
    },
  );
});

/** Subscribes to the response but emits another one before it. */
class DiscardsResponse implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    const isLogin = context.switchToHttp().getRequest().url === '/auth/login';
    return isLogin ? merge(next.handle(), of({ cached: true })).pipe(take(1)) : next.handle();
  }
}

describe('an interceptor of the host that answers before the handler', () => {
  const t = TestApp.forFile({ prepare: (app) => app.useGlobalInterceptors(new DiscardsResponse()) });
  beforeEach(() => t.person('ada@example.com'));

  it('does not replace the answer, and causes no unhandled rejection', async () => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    await t.login('ada@example.com', 'wrong').expect(422);
    // Later logins that take as long as the discarded one.
    for (let logins = 0; logins < 3; logins++) await t.login('root@example.com', 'wrong', 'admin').expect(422);
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

describe('the texts of the API', () => {
  const t = TestApp.forFile({ options: { messages: { 'auth.wrong_credentials': 'Nope.' } } });

  it('can be replaced one by one', async () => {
    const { body } = await t.login('a', 'b').expect(422);
    expect(body).toEqual({ message: 'Nope.', errors: { email: ['Nope.'] } });
    await t.get('/private').expect(401, { message: 'Authentication is required.' });
  });

  it('can be translated per request, on the library`s routes and on guarded routes of the host', async () => {
    const host = await TestApp.start({
      options: {
        messages: (key, params, request) =>
          `${(request as { headers: Record<string, string> }).headers['accept-language']}:${key}:${params.field ?? ''}`,
      },
    });
    const german = (call: ReturnType<typeof host.get>) => call.set('Accept-Language', 'de');
    expect((await german(host.get('/private'))).body.message).toBe('de:auth.unauthenticated:');
    expect((await german(host.login('a', 7))).body.errors).toEqual({ password: ['de:validation.string:password'] });
    expect((await german(host.refresh('x'))).body).toEqual({ message: 'de:auth.refresh_failed:' });
    await host.stop();
  });

  it('contain the name of the field', async () => {
    const { body } = await t.login('x'.repeat(256), 'b').expect(422);
    expect(body.errors.email[0]).toBe('The email field must not be longer than 255 characters.');
  });
});

describe('a response to a path of the library', () => {
  const t = TestApp.forFile({ prepare: (app) => app.setGlobalPrefix('v1', { exclude: ['admin/auth/*rest'] }) });
  beforeEach(() => t.person('ada@example.com'));

  const PREFIXES = ['/v1/auth', '/admin/auth'];
  /** Asks for a change of a copy that a cache might have. */
  const ask = (method: string, path: string, token?: string) => {
    const call = t.http[method.toLowerCase() as 'get'](path).set({
      'If-None-Match': '*',
      'If-Modified-Since': new Date(4e12).toUTCString(),
    });
    return token ? call.set('Authorization', `Bearer ${token}`) : call;
  };
  /** What the headers of a response lack. */
  const lacksOf = (headers: Record<string, unknown>, caching: unknown = 'no-store, private'): unknown[] =>
    [
      ['cache-control', caching],
      ['x-content-type-options', 'nosniff'],
      ['etag', undefined],
    ].flatMap(([name, value]) => (headers[name as string] === value ? [] : [name, headers[name as string]]));

  it('has no entity tag, forbids caching, and states its type, whatever the method and the status', async () => {
    const paths = [...new Set(routesOf(t).map((route) => route.split(' ')[1]!))].filter(
      (path) => !path.endsWith('/jwks'),
    );
    expect(paths.length).toBeGreaterThan(15);
    for (const path of paths) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const { status, headers } = await ask(method, path.replace(/:\w+/g, 'a'));
        expect([method, path, status, lacksOf(headers)]).toEqual([method, path, expect.any(Number), []]);
        expect([401, 404, 422]).toContain(status);
      }
    }
  });

  it('is complete for a client that has a copy, and has no entity tag', async () => {
    const { body } = await t.http.post('/v1/auth/login').send({ email: 'ada@example.com', password: PASSWORD });
    const sessions = await ask('GET', '/v1/auth/sessions', body.access_token).expect(200);
    expect(sessions.body.data).toHaveLength(1);
    expect(lacksOf(sessions.headers)).toEqual([]);
    expect(lacksOf((await ask('POST', '/v1/auth/logout', body.access_token).expect(204)).headers)).toEqual([]);
    for (const prefix of PREFIXES) {
      const keys = await ask('GET', `${prefix}/jwks`).expect(200);
      expect(keys.body).toEqual({ keys: [] });
      expect(lacksOf(keys.headers, 'max-age=3600, public')).toEqual([]);
      expect(keys.headers.pragma).toBeUndefined();
    }
  });

  it('is protected when the request cannot be read', async () => {
    for (const prefix of PREFIXES) {
      const post = (type: string, body: string) => t.http.post(`${prefix}/login`).set('Content-Type', type).send(body);
      for (const [status, answer] of [
        [400, await post('application/json', '{')],
        [413, await post('application/json', JSON.stringify('x'.repeat(2 ** 21)))],
        [415, await post('application/xml', '<a/>')],
        [415, await post('text/plain', '{}')],
      ] as const) {
        expect([prefix, status, answer.status]).toEqual([prefix, status, status]);
        expect(lacksOf(answer.headers)).toEqual([]);
      }
    }
  });

  it('is not changed below other paths', async () => {
    const { headers } = await t.get('/v1/open').expect(200);
    expect(headers['cache-control']).toBeUndefined();
    expect(headers['x-content-type-options']).toBeUndefined();
  });

  it('is protected when the path is no route: of a feature that is off, of another name, or of another method', async () => {
    for (const prefix of PREFIXES) {
      for (const path of ['/register', '/a/b', '', '/jwks']) {
        const { status, headers } = await ask('PUT', prefix + path);
        expect([prefix + path, status, lacksOf(headers)]).toEqual([prefix + path, 404, []]);
      }
    }
  });
});

@Controller('auth/own')
class OwnRoute {
  @Get()
  @Header('ETag', '"own"')
  @Header('Cache-Control', 'max-age=60')
  own(): string {
    return 'own';
  }
}

describe("a host's route below the path of the library", () => {
  const t = TestApp.forFile({ controllers: [OwnRoute] });

  it('keeps its own headers, and its refusals forbid caching', async () => {
    const { headers } = await t.get('/auth/own').expect(200);
    expect(headers).toMatchObject({ etag: '"own"', 'cache-control': 'max-age=60' });
    expect(headers).not.toHaveProperty('x-content-type-options');
    const refused = await t.get('/auth/own/other').expect(404);
    expect(refused.headers).toMatchObject({
      'cache-control': 'no-store, private',
      'x-content-type-options': 'nosniff',
    });
  });
});

describe('an encoded path of the library', () => {
  const t = TestApp.forFile();
  beforeEach(() => t.person('ada@example.com'));

  it('is one of the library wherever the router decodes it', async () => {
    const expected = onFastify ? 200 : 404;
    for (const path of ['/auth/%6cogin', '/%61uth/login', '/auth/l%6Fgin?x=1'])
      await t.http.post(path).send({ email: 'ada@example.com', password: PASSWORD }).expect(expected);
  });

  it('is answered in the form of the library when the request cannot be read', async () => {
    for (const path of ['/auth/%6cogin', '/%61uth/login', '/auth/l%6Fgin?x=1', '/auth/login#x']) {
      const answer = await t.http.post(path).set('Content-Type', 'application/json').send('{"a": hunter2');
      expect([path, answer.status, answer.body]).toEqual([path, 400, { message: 'The request cannot be read.' }]);
      expect(answer.headers).toMatchObject({
        'cache-control': 'no-store, private',
        'x-content-type-options': 'nosniff',
      });
      expect(answer.headers).not.toHaveProperty('etag');
    }
  });
});

describe('an unreadable request to a route of the library', () => {
  const started: TestApp[] = [];
  const start = async (options: TestAppOptions): Promise<TestApp> => {
    const t = await TestApp.start(options);
    started.push(t);
    return t;
  };
  afterEach(() => Promise.all(started.splice(0).map((t) => t.stop())));

  const broken = (t: TestApp, path: string, host = 'localhost') =>
    t.http
      .post(path)
      .set({ 'Content-Type': 'application/json', Accept: 'text/html', Host: host })
      .send('{"a": hunter2');

  it('is answered with the host`s text and without its content', async () => {
    const t = await start({ options: { messages: { 'request.unreadable': 'Pardon?' } } });
    const { body } = await broken(t, '/auth/login').expect(400);
    expect(body).toEqual({ message: 'Pardon?' });
  });

  it('is answered the same below a global prefix and outside it', async () => {
    const prepare = (app: TestApp['app']) => void app.setGlobalPrefix('v1.0', { exclude: ['admin/auth/*rest'] });
    const t = await start({ prepare });
    for (const path of ['/v1.0/auth/login', '/admin/auth/login']) {
      const { body } = await broken(t, path).expect(400);
      expect(body).toEqual({ message: 'The request cannot be read.' });
    }
    const { body } = await broken(t, '/v1x0/auth/login').expect(400);
    expect(body).toMatchObject({ statusCode: 400 });
  });

  it('is answered so only on the host name of the routes', async () => {
    const t = await start({ options: { domain: 'login.example.com' } });
    const { body } = await broken(t, '/auth/login', 'login.example.com').expect(400);
    expect(body).toEqual({ message: 'The request cannot be read.' });
    expect((await broken(t, '/auth/login', 'www.example.com').expect(400)).body).toMatchObject({ statusCode: 400 });
  });

  it('is answered by the host if the module has no routes', async () => {
    const t = await start({ options: { routes: false } });
    expect((await broken(t, '/auth/login').expect(400)).body).toMatchObject({ statusCode: 400 });
  });
});
