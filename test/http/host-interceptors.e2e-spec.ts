import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Global,
  HttpException,
  Injectable,
  Module,
  type NestInterceptor,
  Scope,
  type Type,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { CACHE_MANAGER, CacheInterceptor, CacheModule } from '@nestjs/cache-manager';
import { type Cache } from 'cache-manager';
import { type Observable, EMPTY, catchError, map, merge, of, take } from 'rxjs';
import { TestApp } from '../support/hosts/app';
import { HostController } from '../support/hosts/host.module';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';

const BOB = 'bob@example.com';

@Controller('counter')
class Counter {
  private count = 0;

  @Get()
  next(): number {
    return ++this.count;
  }
}

/** A cache of the host that knows only what Nest documents: a class that extends Nest's. */
@Injectable()
class CacheOfHost extends CacheInterceptor {
  protected override isRequestCacheable(): boolean {
    return true;
  }
}

/** A module whose provider is an interceptor of the whole application. */
function everywhere(useClass: Type<NestInterceptor>, scope: Scope = Scope.DEFAULT) {
  @Global()
  @Module({
    imports: [CacheModule.register()],
    providers: [{ provide: APP_INTERCEPTOR, useClass, scope }],
    exports: [CacheModule],
  })
  class Everywhere {}
  return Everywhere;
}

@Injectable()
class CacheOfEachRequest implements NestInterceptor {
  private static readonly kept = new Map<string, unknown>();

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const { url } = context.switchToHttp().getRequest();
    const { kept } = CacheOfEachRequest;
    if (kept.has(url)) return of(kept.get(url));
    return next.handle().pipe(map((body) => (kept.set(url, body), body)));
  }
}

describe('a cache of the host for the whole application', () => {
  describe.each<[string, Type<NestInterceptor>, Scope?]>([
    ["Nest's CacheInterceptor", CacheInterceptor],
    ['a class that extends it', CacheOfHost],
    ['a cache that is made for each request', CacheOfEachRequest, Scope.REQUEST],
    ['a cache of its own making', CacheOfEachRequest],
  ])('%s', (_, interceptor, scope) => {
    const t = TestApp.forFile({ imports: [everywhere(interceptor, scope)], controllers: [HostController, Counter] });

    it('answers for the routes of the host, and for no route of the library', async () => {
      const [id, other] = [await t.person(ADA), await t.person(BOB)];
      const [{ access_token: ada }, { access_token: bob }] = [await t.session(ADA), await t.session(BOB)];
      expect([(await t.get('/counter')).text, (await t.get('/counter')).text]).toEqual(['1', '1']);
      const sessionsOf = async (token: string) => (await t.get('/auth/sessions', token).expect(200)).body;
      const sessions = [await sessionsOf(ada), await sessionsOf(bob)];
      expect(sessions[1]).not.toEqual(sessions[0]);
      const exportOf = async (token: string) =>
        (
          await t
            .get('/auth/account/export', token)
            .set(CONFIRMATION_HEADER, await confirmationTokenOf(t, token))
            .expect(200)
        ).body.account;
      expect([await exportOf(ada), await exportOf(bob)]).toMatchObject([
        { id: Number(id), identifier: ADA },
        { id: Number(other), identifier: BOB },
      ]);
      const { body } = await t.login(BOB).expect(200);
      expect(body.access_token).not.toBe(bob);
    });
  });

  it("keeps no answer of the library, if it is Nest's", async () => {
    const t = await TestApp.start({ imports: [everywhere(CacheInterceptor)], controllers: [HostController, Counter] });
    await t.person(ADA);
    const { access_token: token } = await t.session(ADA);
    await t.get('/auth/sessions', token).expect(200);
    await t.get('/counter').expect(200);
    const cache = t.app.get<Cache>(CACHE_MANAGER, { strict: false });
    expect([await cache.get('/counter'), await cache.get('/auth/sessions')]).toEqual([1, undefined]);
    await t.stop();
  });
});

type Intercept = (next: CallHandler) => Observable<unknown>;

describe('an interceptor of the host for the whole application', () => {
  let intercept: Intercept;
  const t = TestApp.forFile({
    prepare: (app) => app.useGlobalInterceptors({ intercept: (_, next) => intercept(next) }),
  });

  it.each<[string, Intercept, number, object]>([
    ['cannot answer without the handler', () => of({ cached: true }), 422, {}],
    ['cannot answer nothing without the handler', () => EMPTY, 422, {}],
    ['cannot answer before the handler', (next) => merge(next.handle(), of({ cached: true })).pipe(take(1)), 422, {}],
    ['cannot replace a refusal', (next) => next.handle().pipe(catchError(() => of({ cached: true }))), 422, {}],
    [
      'can refuse the request',
      () => {
        throw new HttpException({ message: 'Closed for maintenance' }, 503);
      },
      503,
      { message: 'Closed for maintenance' },
    ],
  ])('%s', async (_, own, status, body) => {
    intercept = (next) => next.handle();
    await t.person(ADA);
    intercept = own;
    const answer = await t.login(ADA, 'wrong');
    expect([answer.status, answer.body]).toEqual([status, expect.objectContaining(body)]);
    expect(answer.body).not.toHaveProperty('cached');
  });

  it('can change the answer of the handler, which runs once', async () => {
    intercept = (next) => next.handle().pipe(map((data) => ({ data })));
    await t.person(ADA);
    const { body } = await t.login(ADA).expect(200);
    expect(body).toEqual({ data: expect.objectContaining({ token_type: 'Bearer' }) });
    expect(await t.database.query('SELECT count(*)::int AS n FROM svc_sessions')).toEqual([{ n: 1 }]);
  });
});
