import { Controller, Get, Req } from '@nestjs/common';
import {
  Abilities,
  AbilitiesGuard,
  AnyAbility,
  AnyAbilityGuard,
  AuthConfigError,
  Authenticated,
  type Caller,
  CurrentCaller,
  Public,
  RequireAbilityIfPinned,
  TokenAbilityDenied,
  tokenCan,
} from '@svc/auth';
import { TestApp } from '../support/hosts/app';
import { forge } from '../support/clients/forge';
import { ADMIN_AUDIENCE, HostController } from '../support/hosts/host.module';

@Controller('orders')
class Orders {
  @Get('all')
  @Abilities('orders.read', 'orders.export')
  all() {
    return {};
  }

  @Get('any')
  @AnyAbility('orders.read', 'orders.export')
  any() {
    return {};
  }

  @Get('listed')
  @Abilities('orders.read, orders.export')
  listed() {
    return {};
  }

  @Get('zero')
  @Abilities('0', 'orders.read')
  zero() {
    return {};
  }

  @Get('staff-first')
  @Authenticated('admin')
  @Abilities('orders.read')
  staffFirst() {
    return {};
  }

  @Get('staff-last')
  @Abilities('orders.read')
  @Authenticated('admin')
  staffLast() {
    return {};
  }

  @Get('can')
  @Authenticated()
  can(@Req() request: object, @CurrentCaller() caller: Caller) {
    const names = ['orders.read', 'orders.write', ''];
    return {
      request: names.map((name) => tokenCan(request, name)),
      caller: names.map((name) => tokenCan(caller, name)),
    };
  }

  @Get('open')
  @Public()
  open(@Req() request: object) {
    return { can: tokenCan(request, 'orders.read') };
  }
}

@Controller('class-first')
@Authenticated()
@AnyAbility('orders.read', 'orders.all')
class ClassFirst {
  @Get()
  @Abilities('orders.export')
  both() {
    return {};
  }

  @Get('class')
  one() {
    return {};
  }
}

@Controller('class-last')
@AnyAbility('orders.read', 'orders.all')
@Authenticated()
class ClassLast {
  @Abilities('orders.export')
  @Get()
  both() {
    return {};
  }
}

describe('a route that requires abilities', () => {
  let t: TestApp;

  beforeAll(async () => {
    t = await TestApp.start({ controllers: [HostController, Orders, ClassFirst, ClassLast] });
    await t.person('ada@example.com');
    await t.person('root@example.com', 'admin');
  });
  afterAll(() => t.stop());

  const challenge = (...abilities: string[]): string =>
    `Bearer error="insufficient_scope", error_description="The token lacks a required ability", scope="${abilities.join(' ')}"`;
  const token = async (...abilities: string[]): Promise<string> =>
    (await t.auth.startSession(1, {}, abilities)).accessToken;

  it.each([
    ['/orders/all', ['orders.read', 'orders.export'], 200],
    ['/orders/all', ['orders.*'], 200],
    ['/orders/all', ['*'], 200],
    ['/orders/all', ['orders.read'], 403],
    ['/orders/all', ['orders'], 403],
    ['/orders/all', [], 403],
    ['/orders/any', ['orders.export'], 200],
    ['/orders/any', ['orders.read'], 200],
    ['/orders/any', ['orders.write'], 403],
    ['/orders/listed', ['orders.read', 'orders.export'], 200],
    ['/orders/listed', ['orders.read'], 403],
    ['/orders/zero', ['orders.read'], 403],
    ['/orders/zero', ['0', 'orders.read'], 200],
    ['/class-first', ['orders.all', 'orders.export'], 200],
    ['/class-first', ['orders.export'], 403],
    ['/class-first', ['orders.read'], 403],
    ['/class-first/class', ['orders.read'], 200],
    ['/class-last', ['orders.all', 'orders.export'], 200],
    ['/class-last', ['orders.export'], 403],
    ['/class-last', ['orders.read'], 403],
  ])('%s answers %j with %d', async (path, abilities, status) => {
    await t.get(path, await token(...abilities)).expect(status);
  });

  it('answers 401 to a missing or invalid credential and emits no event', async () => {
    const denied = t.recorded(TokenAbilityDenied);
    for (const path of ['/orders/all', '/orders/any', '/class-first', '/class-last']) {
      expect((await t.get(path).expect(401)).headers['www-authenticate']).toBe('Bearer');
      await t.get(path, forge({ secret: 'x'.repeat(40) })).expect(401);
    }
    expect(denied).toEqual([]);
  });

  it('names the missing ability in the body, in the challenge and in an event', async () => {
    const denied = t.recorded(TokenAbilityDenied);
    const { accessToken } = await t.auth.startSession(1, {}, ['orders.write']);
    const all = await t.get('/orders/all', accessToken).expect(403);
    expect(all.body).toEqual({ message: 'This needs the ability orders.read and orders.export.' });
    expect(all.headers['www-authenticate']).toBe(challenge('orders.read', 'orders.export'));
    const any = await t.get('/orders/any', accessToken).expect(403);
    expect(any.body).toEqual({ message: 'This needs the ability orders.read or orders.export.' });
    expect(any.headers['www-authenticate']).toBe(challenge('orders.read', 'orders.export'));
    const event = {
      userId: '1',
      guard: 'api',
      familyId: expect.any(String),
      required: ['orders.read', 'orders.export'],
    };
    expect(denied).toEqual([
      { ...event, requiresAll: true },
      { ...event, requiresAll: false },
    ]);
  });

  it('accepts only tokens of its own guard', async () => {
    const staff = (await t.auth.guard('admin').startSession(1, {}, ['orders.read'])).accessToken;
    const bare = (await t.auth.guard('admin').startSession(1, {}, [])).accessToken;
    for (const path of ['/orders/staff-first', '/orders/staff-last']) {
      await t.get(path, staff).expect(200);
      await t.get(path, bare).expect(403);
      await t.get(path, await token('orders.read')).expect(401);
    }
    await t.get('/orders/any', staff).expect(401);
  });

  it('ignores a scope that is not a string, and accepts the scope string of a co-issuer', async () => {
    for (const scope of [['orders.read'], { 0: 'orders.read' }, true, 7, null, undefined]) {
      await t.get('/orders/any', forge({ claims: { scope } })).expect(403);
    }
    await t.get('/orders/any', forge({ claims: { scope: 'x orders.read' }, without: ['fid', 'jti'] })).expect(200);
    await t.get('/orders/any', forge({ claims: { scope: 'orders.read', aud: ADMIN_AUDIENCE } })).expect(401);
  });

  it('gives the same result as tokenCan, which returns false without a verified token', async () => {
    const { body } = await t.get('/orders/can', await token('orders.read')).expect(200);
    expect(body).toEqual({ request: [true, false, false], caller: [true, false, false] });
    expect((await t.get('/orders/open', await token('orders.read'))).body).toEqual({ can: false });
    for (const nothing of [undefined, null, {}, { grant: { covers: () => true } }, 'orders.read' as never]) {
      expect(tokenCan(nothing, 'orders.read')).toBe(false);
    }
  });

  it('uses the Auth instance of its own guard', async () => {
    let seen: unknown;
    @Controller('probe')
    class Probe {
      @Get()
      @Authenticated()
      probe(@Req() request: object) {
        seen = [
          own.tokenCan(request, 'a.b'),
          own.tokenCan(request, 'a.c'),
          own.guard('admin').tokenCan(request, 'a.b'),
        ];
      }
    }
    const other = await TestApp.start({ controllers: [Probe] });
    const own = other.auth;
    await other.person('ada@example.com');
    await other.get('/probe', (await own.startSession(1, {}, ['a.b'])).accessToken).expect(200);
    expect(seen).toEqual([true, false, false]);
    await other.stop();
  });
});

describe('an ability requirement that no token can meet', () => {
  it.each<[unknown[]]>([
    [['']],
    [['a', '']],
    [['a,']],
    [[' , ']],
    [['orders read']],
    [['a"b']],
    [['é']],
    [['x'.repeat(129)]],
    [[7]],
    [[]],
  ])('throws for %j when the class is loaded', (names) => {
    const decorators = [Abilities, AnyAbility, AbilitiesGuard, AnyAbilityGuard, RequireAbilityIfPinned];
    for (const decorator of decorators) {
      expect(() => decorator(...(names as [string]))).toThrow(AuthConfigError);
    }
  });

  it('appears truncated in the error message', () => {
    const long = (): unknown => Abilities('x'.repeat(100_000));
    expect(long).toThrow(/^.{1,220}$/);
  });
});
