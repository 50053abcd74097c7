import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import {
  Abilities,
  AccessTokenGuard,
  Auth,
  Authenticated,
  CurrentCaller,
  type Caller,
  CurrentUser,
  Public,
  RequireConfirmation,
  SecurityStore,
} from '@svc/auth';
import { TestApp } from '../support/hosts/app';
import { HostModule } from '../support/hosts/host.module';
import { ADA, type Person } from '../support/hosts/user-entities';

const seen = (user: Person | undefined, caller: Caller | undefined) => ({
  email: user?.email ?? null,
  guard: caller?.guard ?? null,
});

@Controller('catalogue')
@Authenticated()
class Catalogue {
  @Get()
  @Authenticated({ optional: true })
  list(@CurrentUser() user?: Person, @CurrentCaller() caller?: Caller) {
    return seen(user, caller);
  }

  @Get('staff')
  @Authenticated({ guard: 'admin', optional: true })
  staff(@CurrentUser() user?: Person, @CurrentCaller() caller?: Caller) {
    return seen(user, caller);
  }

  @Get('all')
  all() {
    return {};
  }
}

@Controller('shop')
@Authenticated({ optional: true })
class Shop {
  constructor(private readonly auth: Auth) {}

  @Get()
  list(@CurrentUser() user?: Person, @CurrentCaller() caller?: Caller) {
    return seen(user, caller);
  }

  @Get('bought')
  @Authenticated()
  bought() {
    return {};
  }

  @Get('health')
  @Public()
  health() {
    return {};
  }

  @Get('open')
  @Public()
  async open(@Req() request: object) {
    const caller = await this.auth.callerOf(request);
    return seen(caller?.user as Person | undefined, caller ?? undefined);
  }
}

const OPTIONAL = ['/catalogue', '/shop', '/shop/open'];

describe('a route with an optional sign-in', () => {
  const t = TestApp.forFile({
    controllers: [Catalogue, Shop],
    imports: [{ module: class Strict {}, providers: [{ provide: APP_GUARD, useExisting: AccessTokenGuard }] }],
  });
  beforeEach(async () => {
    await t.person(ADA);
    await t.person(ADA, 'admin');
  });

  it('has no user without the header, and the user of an accepted token', async () => {
    const { access_token: token } = await t.session();
    for (const path of OPTIONAL) {
      expect((await t.get(path).expect(200)).body).toEqual({ email: null, guard: null });
      expect((await t.get(path, token).expect(200)).body).toEqual({ email: ADA, guard: 'api' });
    }
    const { access_token: staff } = await t.session(ADA, 'admin');
    expect((await t.get('/catalogue/staff', staff).expect(200)).body).toEqual({ email: ADA, guard: 'admin' });
  });

  it('refuses each header that is not accepted', async () => {
    const { access_token: ended } = await t.session();
    await t.call('post', '/auth/logout', ended).expect(204);
    const { access_token: staff } = await t.session(ADA, 'admin');
    const values = [`Bearer ${ended}`, `Bearer ${staff}`, 'Bearer no.such.token', 'Bearer', 'Basic YTpi', 'null', ''];
    for (const path of OPTIONAL)
      for (const value of values) await t.http.get(path).set('Authorization', value).expect(401);
    // A public route of such a class reads no token.
    await t.http.get('/shop/health').set('Authorization', `Bearer ${ended}`).expect(200);
  });

  it('is unavailable while the token cannot be checked, and never without its user', async () => {
    const { access_token: token } = await t.session();
    const fault = Object.assign(new Error('connect 10.0.0.9'), { code: 'ECONNREFUSED' });
    const broken = jest.spyOn(t.app.get(SecurityStore), 'getMany').mockRejectedValue(fault);
    for (const path of [...OPTIONAL, '/catalogue/all']) await t.get(path, token).expect(503);
    for (const path of OPTIONAL) await t.get(path).expect(200);
    broken.mockRestore();
  });

  it('changes nothing for the other routes of its controller', async () => {
    for (const path of ['/catalogue/all', '/shop/bought']) {
      await t.get(path).expect(401);
      await t.get(path, (await t.session()).access_token).expect(200);
    }
  });

  @Controller('contradictory')
  class WithAbility {
    @Get()
    @Authenticated({ optional: true })
    @Abilities('a')
    any() {
      return {};
    }
  }

  @Controller('confirmed')
  @RequireConfirmation()
  class Confirmed {
    @Get()
    @Authenticated({ optional: true })
    any() {
      return {};
    }
  }

  @Controller('guarded')
  class Guarded {
    @Get()
    @Authenticated({ optional: true })
    @UseGuards(AccessTokenGuard)
    any() {
      return {};
    }
  }

  it.each([
    ['abilities', WithAbility, /^WithAbility\.any: .*both @Public\(\) and guarded/],
    ['a confirmation on its class', Confirmed, /^Confirmed\.any: .*has a requirement that needs a user/],
    ['a guard class', Guarded, /^Guarded\.any: .*both @Public\(\) and guarded/],
  ])('refuses to start together with %s', async (_, controller, message) => {
    const host = HostModule.with(t.databaseUrl, {}, [controller]);
    const started = NestFactory.create(host, { logger: false, abortOnError: false }).then((one) => one.init());
    await expect(started).rejects.toThrow(message);
  });
});
