import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  HttpCode,
  Injectable,
  type NestInterceptor,
  Post,
  Req,
  UseInterceptors,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Abilities, AcceptsTicket, AccessTokenGuard, Authenticated, CurrentUser, SecurityStore } from '@svc/auth';
import { eventually } from '../support/runtime/eventually';
import { TestApp } from '../support/hosts/app';
import { ADA, type Person } from '../support/hosts/user-entities';

/** What an access log of the host has of each request. */
const logged: unknown[] = [];

@Injectable()
class AccessLog implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    const { url, originalUrl, query } = context.switchToHttp().getRequest<Record<string, unknown>>();
    logged.push([url, originalUrl, query]);
    return next.handle();
  }
}

@Controller('orders')
@Authenticated()
@UseInterceptors(AccessLog)
class Orders {
  @Get(':id/file')
  @AcceptsTicket()
  file(@CurrentUser() { email }: Person) {
    return { email };
  }

  @Get('able')
  @AcceptsTicket()
  @Abilities('orders.read')
  able() {
    return {};
  }

  @Get('staff')
  @AcceptsTicket('admin')
  staff() {
    return {};
  }

  @Get('list')
  list() {
    return {};
  }
}

const FILE = '/orders/7/file?format=pdf';
const UNKNOWN = 'ab'.repeat(32);

describe('a ticket', () => {
  const t = TestApp.forFile({
    controllers: [Orders],
    imports: [{ module: class Strict {}, providers: [{ provide: APP_GUARD, useExisting: AccessTokenGuard }] }],
    options: { features: { abilities: true } },
  });
  let token: string;
  beforeEach(async () => {
    logged.length = 0;
    await t.person(ADA);
    token = (await t.session()).access_token;
  });

  /** The caller of an access token, as a route of the host has it. */
  const callerOf = async (accessToken = token) =>
    (await t.auth.callerOf({ headers: { authorization: `Bearer ${accessToken}` } }))!;
  const issue = async (of = FILE, more: { seconds?: number; repeatable?: boolean } = {}) =>
    t.auth.tickets.issue(await callerOf(), { for: of, seconds: 30, ...more });

  it('authenticates one request for its URL, wherever it stands in the query', async () => {
    for (const url of [
      (ticket: string) => `${FILE}&ticket=${ticket}`,
      (ticket: string) => `/orders/7/file?ticket=${ticket}&format=pdf`,
    ]) {
      const ticket = await issue();
      const { headers, body } = await t.get(url(ticket)).expect(200);
      expect(body).toEqual({ email: ADA });
      expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store, private' });
      const { headers: refused } = await t.get(url(ticket)).expect(401);
      expect(refused).toMatchObject({
        'www-authenticate': 'Bearer error="invalid_token"',
        'referrer-policy': 'no-referrer',
      });
    }
  });

  it('is not in the URL and the query that interceptors and handlers see', async () => {
    await t.get(`${FILE}&ticket=${await issue()}`).expect(200);
    expect(logged).toEqual([[FILE, FILE, { format: 'pdf' }]]);
  });

  it('is not used up by requests that it is not for', async () => {
    const ticket = await issue();
    const others = [
      '/orders/8/file?format=pdf',
      '/orders/7/file?format=png',
      '/orders/7/file?format=pdf&more=1',
      '/orders/7/file',
      '/orders/able',
      '/orders/staff',
      '/orders/list',
    ];
    for (const url of others) await t.get(`${url}${url.includes('?') ? '&' : '?'}ticket=${ticket}`).expect(401);
    await t.http.head(`${FILE}&ticket=${ticket}`).expect(401);
    await t.get(`${FILE}&ticket=${ticket}&ticket=${ticket}`).expect(401);
    await t.get(`${FILE}&ticket=${ticket}&ticket=${UNKNOWN}`).expect(401);
    await t.get(`${FILE}&ticket=${ticket}`, 'no.such.token').expect(401);
    await t.get(`${FILE}&ticket=${ticket}`, token).expect(200);
    await t.get(`${FILE}&ticket=${ticket}`).expect(200);
  });

  it('is used by one of several requests at once', async () => {
    const url = `${FILE}&ticket=${await issue()}`;
    const answers = await Promise.all(Array.from({ length: 5 }, () => t.get(url)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401]);
  });

  it('can be repeatable, until its seconds are over', async () => {
    const url = `${FILE}&ticket=${await issue(FILE, { repeatable: true })}`;
    for (const status of [200, 200]) await t.get(url).expect(status);
    const short = `${FILE}&ticket=${await issue(FILE, { repeatable: true, seconds: 1 })}`;
    await eventually(async () => (await t.get(short)).status === 401);
    await t.get(url).expect(200);
  });

  it('is refused after the end of its session, and without a credential nothing passes', async () => {
    const url = `${FILE}&ticket=${await issue(FILE, { repeatable: true })}`;
    await t.get(url).expect(200);
    await t.call('post', '/auth/logout', token).expect(204);
    await t.get(url).expect(401);
    for (const query of ['', '&ticket', '&ticket=', `&ticket=${UNKNOWN}`, '&ticket=no'])
      await t.get(FILE + query).expect(401);
  });

  it('has the abilities of the token that it was issued for', async () => {
    await t.get(`/orders/able?ticket=${await issue('/orders/able')}`).expect(403);
    const { accessToken } = await t.auth.startSession(1, {}, ['orders.read']);
    const ticket = await t.auth.tickets.issue(await callerOf(accessToken), { for: '/orders/able', seconds: 30 });
    await t.get(`/orders/able?ticket=${ticket}`).expect(200);
  });

  it('answers 503 while it cannot be checked, and is not used up', async () => {
    const url = `${FILE}&ticket=${await issue()}`;
    const fault = Object.assign(new Error('connect 10.0.0.9'), { code: 'ECONNREFUSED' });
    for (const method of ['getMany', 'take'] as const) {
      const broken = jest.spyOn(t.app.get(SecurityStore), method).mockRejectedValue(fault);
      await t.get(url).expect(503);
      broken.mockRestore();
    }
    await t.get(url).expect(200);
  });

  it('stores only its hash', async () => {
    const ticket = await issue();
    const keys: string[] = [];
    for await (const page of t.app.get(SecurityStore).scan('svc:ticket:')) keys.push(...page);
    expect(keys).toEqual([expect.stringMatching(/^svc:ticket:[0-9a-f]{64}$/)]);
    expect(keys.join('')).not.toContain(ticket);
    expect(await t.app.get(SecurityStore).getMany(keys)).toEqual([expect.not.stringContaining(ticket)]);
  });

  it.each([
    ['https://app.example/orders', 30],
    ['orders', 30],
    ['/orders?ticket=x', 30],
    ['/orders', 0],
    ['/orders', 61],
    ['/auth/sessions', 30],
    ['/AUTH/%73essions?a=1', 30],
    ['/orders/../auth/sessions/', 30],
  ])('is not issued for %s and %s seconds', async (target, seconds) => {
    await expect(issue(target, { seconds })).rejects.toThrow(/ticket/);
  });

  it('is not issued for a caller of another guard, and after the token has expired', async () => {
    const caller = await callerOf();
    const other = t.auth.guard('admin').tickets.issue(caller, { for: FILE, seconds: 30 });
    await expect(other).rejects.toMatchObject({ status: 401 });
    t.clock.advance(3600);
    await expect(t.auth.tickets.issue(caller, { for: FILE, seconds: 30 })).rejects.toMatchObject({ status: 401 });
  });

  it('does not sign in at routes of the library', async () => {
    const redeemed = t.auth.tickets.redeem({
      method: 'GET',
      url: `/auth/sessions?ticket=${await issue()}`,
      headers: {},
    });
    await expect(redeemed).rejects.toMatchObject({ status: 401 });
    await t.get(`/auth/sessions?ticket=${await issue()}`).expect(401);
  });

  it('is refused at the start on a route that is no GET', async () => {
    @Controller()
    class Writing {
      @Post('write')
      @HttpCode(200)
      @AcceptsTicket()
      write(@Req() _request: object) {
        return {};
      }
    }
    await expect(TestApp.start({ controllers: [Writing] })).rejects.toThrow(
      /^Writing\.write: @AcceptsTicket\(\) is for/,
    );
  });
});
