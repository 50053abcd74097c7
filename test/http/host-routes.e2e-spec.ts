import {
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  HttpException,
  type ArgumentsHost,
  type INestApplication,
  Module,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AccessTokenGuard,
  AuthModule,
  Authenticated,
  ForceJson,
  Public,
  RefreshTokenReused,
  authEntities,
} from '@svc/auth';
import request from 'supertest';
import { startHost } from '../support/adapter';
import { createDatabase } from '../support/database';
import { forge } from '../support/forge';
import { hostOptions } from '../support/host.module';
import { Operator, Person } from '../support/people';

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
  readonly heard: unknown[] = [];

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
    this.heard.push(event);
  }
}

describe('a host with a global guard and an error format of its own', () => {
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
    await app
      .get((await import('typeorm')).DataSource)
      .getRepository(Person)
      .save({ email: 'ada@example.com' });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const get = (path: string, token?: string) => {
    const call = request(app.getHttpServer()).get(path).set('Accept', 'text/html');
    return token ? call.set('Authorization', `Bearer ${token}`) : call;
  };

  it.each([['/default'], ['/marked'], ['/ours'], ['/auth/sessions/none-such']])(
    'guards %s without a word',
    async (path) => {
      if (path.startsWith('/auth')) return void (await get(path).expect(404));
      await get(path).expect(401);
      await get(path, forge()).expect(200);
    },
  );

  it('lets everyone into public routes, the library`s own among them', async () => {
    await get('/public').expect(200);
    await get('/auth/jwks').expect(200);
    await request(app.getHttpServer()).post('/auth/login').send({}).expect(422);
    await request(app.getHttpServer()).post('/auth/refresh').send({}).expect(401);
  });

  it('keeps its own error format on its own routes, with the challenge header', async () => {
    const { headers, text } = await get('/default').expect(401);
    expect(headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(headers['www-authenticate']).toBe('Bearer');
    expect(JSON.parse(text)).toEqual({ title: expect.any(String) });
  });

  it('takes the library`s format where a route opts in, and on the library`s routes', async () => {
    const { body } = await get('/ours', forge()).expect(200);
    expect(body).toEqual({});
    const { headers, text } = await get('/broken').expect(500);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(text).toBe('{"message":"Something went wrong on our side."}');
    const refused = await request(app.getHttpServer()).post('/auth/logout').set('Accept', 'text/html').expect(401);
    expect(refused.text).toBe('{"message":"Authentication is required."}');
  });

  it('answers the other guard`s routes by the other guard', async () => {
    await request(app.getHttpServer()).post('/admin/auth/logout').set('Authorization', `Bearer ${forge()}`).expect(401);
  });

  it('hears events through its own emitter', async () => {
    expect(app.get(EventEmitter2)).toBeDefined();
    const { AuthEvents } = await import('@svc/auth');
    app.get(AuthEvents).emit(new RefreshTokenReused('f'));
    expect(app.get(Routes).heard).toEqual([{ familyId: 'f', reason: 'reuse' }]);
  });
});
