import { type CanActivate, Controller, Get, Injectable, Module, Post, Req, type Type, UseGuards } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import {
  Abilities,
  AbilitiesGuard,
  AccessTokenGuard,
  AnyAbilityGuard,
  Authenticated,
  type Caller,
  ConfirmationGuard,
  CurrentCaller,
  Public,
  RequireConfirmation,
  RequireVerifiedEmail,
  Throttled,
  TokenAbilityDenied,
  VerifiedEmailGuard,
} from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { TestApp } from '../support/hosts/app';
import { forge } from '../support/clients/forge';
import { expectGateOrder } from '../support/views/gate-order';
import { CONFIRMATION_HEADER, confirmPassword, startStepUp, stepUpForFile } from '../support/flows/step-up';
import { VerifiablePerson } from '../support/hosts/user-entities';

@Controller('by-guard')
class ByGuard {
  @Get('all')
  @UseGuards(AbilitiesGuard('orders.read', 'orders.export'))
  all(@CurrentCaller() { userId }: Caller) {
    return { userId };
  }

  @Get('any')
  @UseGuards(AnyAbilityGuard('orders.read', 'orders.export'))
  any() {
    return {};
  }

  @Get('two')
  @UseGuards(AbilitiesGuard('orders.read'), AbilitiesGuard('orders.export'))
  two() {
    return {};
  }

  @Get('mixed')
  @UseGuards(AbilitiesGuard('orders.read'))
  @Abilities('orders.export')
  mixed() {
    return {};
  }

  @Get('staff')
  @Authenticated('admin')
  @UseGuards(AbilitiesGuard('orders.read'))
  staff(@CurrentCaller() { guard }: Caller) {
    return { guard };
  }

  @Post('confirmed')
  @UseGuards(ConfirmationGuard)
  confirmed() {
    return {};
  }

  @Post('staff/confirmed')
  @UseGuards(ConfirmationGuard)
  @Authenticated('admin')
  staffConfirmed() {
    return {};
  }

  @Post('verified')
  @UseGuards(VerifiedEmailGuard)
  verified() {
    return {};
  }

  @Get('passport')
  @UseGuards(AuthGuard('api'), AbilitiesGuard('orders.read'))
  passport() {
    return {};
  }
}

@Controller('class-guard')
@UseGuards(AbilitiesGuard('orders.read'))
class GuardOnClass {
  @Get()
  one() {
    return {};
  }

  @Get('more')
  @UseGuards(AbilitiesGuard('orders.export'))
  more() {
    return {};
  }

  @Get('open')
  @Public()
  open() {
    return {};
  }
}

@Controller('derived')
class DerivedFromGuarded extends GuardOnClass {
  @Get('own')
  own() {
    return {};
  }
}

/** A module of a host that does not import the module of the library. */
@Module({ controllers: [ByGuard] })
class OrdersModule {}

describe('a guard class of the library', () => {
  const t = TestApp.forFile({
    options: { users: { entity: VerifiablePerson } },
    controllers: [GuardOnClass, DerivedFromGuarded],
    entities: [VerifiablePerson],
    imports: [OrdersModule],
  });
  beforeEach(async () => {
    await t.person('ada@example.com');
    await t.person('root@example.com', 'admin');
  });
  const token = async (abilities: string[], guard = 'api'): Promise<string> =>
    (await t.auth.guard(guard).startSession(1, {}, abilities)).accessToken;

  it.each([
    ['/by-guard/all', ['orders.*'], 200],
    ['/by-guard/all', ['orders.read'], 403],
    ['/by-guard/any', ['orders.export'], 200],
    ['/by-guard/any', ['users.read'], 403],
    ['/by-guard/two', ['orders.read', 'orders.export'], 200],
    ['/by-guard/two', ['orders.read'], 403],
    ['/by-guard/two', ['orders.export'], 403],
    ['/by-guard/mixed', ['orders.read', 'orders.export'], 200],
    ['/by-guard/mixed', ['orders.read'], 403],
    ['/by-guard/mixed', ['orders.export'], 403],
    ['/by-guard/passport', ['orders.read'], 200],
    ['/by-guard/passport', [], 403],
    ['/class-guard', ['orders.read'], 200],
    ['/class-guard', ['orders.export'], 403],
    ['/class-guard/more', ['orders.*'], 200],
    ['/class-guard/more', ['orders.read'], 403],
    ['/class-guard/more', ['orders.export'], 403],
    ['/derived/own', ['orders.read'], 200],
    ['/derived/own', [], 403],
  ])('%s answers a token with %j with %d', async (path, abilities, status) => {
    await t.get(path, await token(abilities)).expect(status);
  });

  it('authenticates the request first, and sets its caller', async () => {
    for (const path of ['all', 'any', 'two', 'mixed', 'staff', 'passport']) {
      await t.get(`/by-guard/${path}`).expect(401);
      await t.get(`/by-guard/${path}`, forge({ secret: 'x'.repeat(40) })).expect(401);
    }
    for (const path of ['confirmed', 'verified', 'staff/confirmed']) await t.http.post(`/by-guard/${path}`).expect(401);
    expect((await t.get('/by-guard/all', await token(['*']))).body).toEqual({ userId: '1' });
  });

  it('uses the guard that @Authenticated names', async () => {
    const { body } = await t.get('/by-guard/staff', await token(['orders.read'], 'admin')).expect(200);
    expect(body).toEqual({ guard: 'admin' });
    await t.get('/by-guard/staff', await token([], 'admin')).expect(403);
    await t.get('/by-guard/staff', await token(['orders.read'])).expect(401);
    const staff = (await t.session('root@example.com', 'admin')).access_token;
    await t.call('post', '/by-guard/staff/confirmed', staff).expect(423);
    const { body: proof } = await confirmPassword(t, staff, undefined, 'admin').expect(200);
    const confirmed = t.call('post', '/by-guard/staff/confirmed', staff);
    await confirmed.set(CONFIRMATION_HEADER, proof.confirmation_token).expect(201);
  });

  it('refuses like the decorator: with the same body, challenge and event', async () => {
    const denied = t.recorded(TokenAbilityDenied);
    const { body, headers } = await t.get('/by-guard/all', await token(['orders.read'])).expect(403);
    expect(body).toEqual({ message: 'This needs the ability orders.read and orders.export.' });
    expect(headers['www-authenticate']).toContain('error="insufficient_scope"');
    await t.get('/by-guard/any', await token([])).expect(403);
    expect(denied.map(({ required, requiresAll }) => [required, requiresAll])).toEqual([
      [['orders.read', 'orders.export'], true],
      [['orders.read', 'orders.export'], false],
    ]);
  });

  it('of the class does not apply to a public handler', async () => {
    await t.get('/class-guard/open').expect(200);
    await t.get('/derived/open').expect(200);
  });

  it('requires a confirmation, or a verified email', async () => {
    const { access_token: accessToken } = await t.session();
    const refused = await t.call('post', '/by-guard/confirmed', accessToken).expect(423);
    expect(refused.headers['www-authenticate']).toContain('insufficient_user_authentication');
    const { body: proof } = await confirmPassword(t, accessToken).expect(200);
    const confirmed = t.call('post', '/by-guard/confirmed', accessToken);
    await confirmed.set(CONFIRMATION_HEADER, proof.confirmation_token).expect(201);
    await t.call('post', '/by-guard/verified', accessToken).expect(409);
    await t.database.query('UPDATE people SET email_verified_at = now()');
    await t.call('post', '/by-guard/verified', accessToken).expect(201);
  });

  it('can be injected', () => {
    for (const guard of [AccessTokenGuard, ConfirmationGuard, VerifiedEmailGuard])
      expect(t.app.get(guard)).toBeInstanceOf(guard);
  });
});

const guards = (): [Type<CanActivate>, Type<CanActivate>, Type<CanActivate>] => [
  VerifiedEmailGuard,
  ConfirmationGuard,
  AbilitiesGuard('a'),
];

@Controller('listed')
class Listed {
  @Post()
  @UseGuards(...guards())
  @Throttled('once')
  any() {
    return {};
  }
}

@Controller('spread')
@UseGuards(VerifiedEmailGuard)
class Spread {
  @Post()
  @UseGuards(AbilitiesGuard('a'))
  @UseGuards(ConfirmationGuard)
  @Throttled('once')
  any() {
    return {};
  }
}

@Controller('with-decorators')
@RequireVerifiedEmail()
class WithDecorators {
  @Post()
  @RequireConfirmation()
  @UseGuards(AbilitiesGuard('a'))
  @Throttled('once')
  any() {
    return {};
  }
}

describe.each(['/listed', '/spread', '/with-decorators'])('guard classes in any order, at %s', (path) => {
  it('check in the order of the decorators, each once: 401, 403, 429, 423, 409', async () => {
    const round = (request: unknown): string => (request as { headers: { round: string } }).headers.round;
    const once = (request: unknown) => ({ key: round(request), maxAttempts: 1, decaySeconds: 60 });
    const options = {
      users: { entity: VerifiablePerson },
      keyPrefix: `${randomUUID()}:`,
      rateLimits: { limiters: { once } },
    };
    const t = await startStepUp(options, [Listed, Spread, WithDecorators]);
    await expectGateOrder(t, path);
    await t.stop();
  });
});

@Controller('open')
@Public()
class Open {
  @Post('to-all')
  toAll() {
    return {};
  }

  @Post('abilities')
  @UseGuards(AbilitiesGuard('a'))
  abilities() {
    return {};
  }

  @Post('confirmed')
  @UseGuards(ConfirmationGuard)
  confirmed() {
    return {};
  }

  @Post('verified')
  @UseGuards(VerifiedEmailGuard)
  verified() {
    return {};
  }
}

@Controller('own')
class WithOwnGuard {
  @Get()
  @UseGuards(ownGuard())
  any() {
    return {};
  }
}

/** A host's subclass of a guard of the library. */
function ownGuard(): Type<CanActivate> {
  @Injectable()
  class BusinessHours extends AccessTokenGuard {}
  return BusinessHours;
}

describe('a guard class on a handler', () => {
  const t = stepUpForFile({ users: { entity: VerifiablePerson } }, [Open, WithOwnGuard]);

  it('closes it although its class is public', async () => {
    await t.http.post('/open/to-all').expect(201);
    for (const path of ['abilities', 'confirmed', 'verified']) await t.http.post(`/open/${path}`).expect(401);
    const { access_token: accessToken } = await t.session();
    await t.call('post', '/open/abilities', accessToken).expect(403);
    await t.call('post', '/open/confirmed', accessToken).expect(423);
    await t.call('post', '/open/verified', accessToken).expect(409);
  });

  it('also checks as a base class of a guard of the host', async () => {
    await t.get('/own').expect(401);
    await t.get('/own', (await t.session()).access_token).expect(200);
  });
});

@Controller('plain')
class Plain {
  @Get()
  any() {
    return {};
  }

  @Get('open')
  @Public()
  open(@Req() request: { user?: object }) {
    return { user: request.user ?? null };
  }

  @Get('own')
  @Abilities('own')
  own() {
    return {};
  }
}

describe('global guard classes with abilities', () => {
  const t = TestApp.forFile({
    controllers: [],
    imports: [
      {
        module: class Guarded {},
        controllers: [Plain],
        providers: [
          { provide: APP_GUARD, useClass: AbilitiesGuard('one') },
          { provide: APP_GUARD, useClass: AbilitiesGuard('two') },
        ],
      },
    ],
  });
  beforeEach(() => t.person('ada@example.com'));

  it('all apply to every route, unless it is public', async () => {
    const token = async (...abilities: string[]) => (await t.auth.startSession(1, {}, abilities)).accessToken;
    await t.get('/plain').expect(401);
    for (const abilities of [[], ['one'], ['two']]) await t.get('/plain', await token(...abilities)).expect(403);
    await t.get('/plain', await token('one', 'two')).expect(200);
    await t.get('/plain/own', await token('one', 'two')).expect(403);
    await t.get('/plain/own', await token('one', 'own')).expect(403);
    await t.get('/plain/own', await token('one', 'two', 'own')).expect(200);
    expect((await t.get('/plain/open').expect(200)).body).toEqual({ user: null });
  });
});

@Controller('contradictory')
class Contradictory {
  @Get()
  @Public()
  @UseGuards(ConfirmationGuard)
  both() {
    return {};
  }
}

@Controller('contradictory')
@Public()
@UseGuards(AbilitiesGuard('a'))
class ContradictoryClass {
  @Get()
  any() {
    return {};
  }
}

@Controller('mistyped')
class Mistyped {
  @Get()
  @Authenticated('amdin')
  @UseGuards(VerifiedEmailGuard)
  any() {
    return {};
  }
}

@Controller('unknown-state')
class UnknownState {
  @Get()
  @UseGuards(VerifiedEmailGuard)
  any() {
    return {};
  }
}

@Controller('nameless')
class Nameless {
  @Get()
  @UseGuards(AbilitiesGuard)
  any() {
    return {};
  }
}

describe('the application does not start with a route', () => {
  it.each([
    ['that is both public and guarded', Contradictory, /^Contradictory\.both: .*both @Public\(\) and guarded/],
    ['whose class is both public and guarded', ContradictoryClass, /^ContradictoryClass\.any: .*both @Public\(\)/],
    ['that names an undeclared guard', Mistyped, /^Mistyped\.any: There is no guard "amdin"/],
    ['for verified users, if users have no such state', UnknownState, /^UnknownState\.any: .*column emailVerifiedAt/],
    ['whose guard names no ability', Nameless, /names no ability/],
  ])('%s', async (_, controller, message) => {
    await expect(TestApp.start({ controllers: [controller] })).rejects.toThrow(message);
  });
});
