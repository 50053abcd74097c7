import { Controller, Get, Post, Scope, type Type, UseGuards } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import {
  Abilities,
  AccessTokenGuard,
  Authenticated,
  type Caller,
  CurrentCaller,
  Public,
  RequireConfirmation,
  RequireVerifiedEmail,
  Throttled,
  UserProvider,
  VerifiedEmailGuard,
} from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { TestApp, type TestAppOptions } from '../support/hosts/app';
import { expectGateOrder } from '../support/views/gate-order';
import { startStepUp } from '../support/flows/step-up';
import { forge } from '../support/clients/forge';
import { ADMIN_AUDIENCE, HostModule } from '../support/hosts/host.module';
import { VerifiablePerson } from '../support/hosts/user-entities';

/** Wraps a handler and copies its metadata, as tracing and transaction decorators do. */
const Traced = (): MethodDecorator => (_target, _key, descriptor: PropertyDescriptor) => {
  const original = descriptor.value;
  descriptor.value = function (this: unknown, ...args: unknown[]) {
    return original.apply(this, args);
  };
  for (const key of Reflect.getMetadataKeys(original)) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, original), descriptor.value);
  }
};

@Controller('wrapped')
class Wrapped {
  @Get('outside')
  @Traced()
  @Authenticated()
  outside() {
    return {};
  }

  @Get('inside')
  @Authenticated()
  @Traced()
  inside() {
    return {};
  }
}

@Controller('open')
@Public()
class Open {
  @Get('to-all')
  all() {
    return {};
  }

  @Get('closed')
  @Authenticated()
  closed() {
    return {};
  }
}

@Controller('contradictory')
class Contradictory {
  @Get()
  @Public()
  @Authenticated()
  both() {
    return {};
  }
}

@Controller('mistyped')
class Mistyped {
  @Get()
  @Authenticated('amdin')
  list() {
    return {};
  }
}

@Controller('public-base')
@Public()
class PublicBase {
  @Get('base')
  base() {
    return {};
  }
}

@Controller('closed-child')
@Authenticated()
class ClosedChild extends PublicBase {
  @Get('own')
  own() {
    return {};
  }
}

@Controller('open-child')
class OpenChild extends PublicBase {
  @Get('closed')
  @UseGuards(AccessTokenGuard)
  closed() {
    return {};
  }
}

@Controller('open-grandchild')
@Public()
class OpenGrandchild extends ClosedChild {}

@Controller('both')
@Public()
@Abilities('secret')
class BothOnClass {
  @Get()
  any() {
    return {};
  }
}

@Controller('both-too')
@Authenticated()
@Public()
class BothOnClassToo {
  @Get()
  any() {
    return {};
  }
}

/** Wraps a handler without its metadata. */
const DropsMetadata = (): MethodDecorator => (_target, _key, descriptor: PropertyDescriptor) => {
  const original = descriptor.value;
  descriptor.value = (...args: unknown[]) => original(...args);
};

@Controller('lost')
@Authenticated()
class Lost {
  @Get()
  @DropsMetadata()
  @Abilities('secret')
  any() {
    return {};
  }
}

@Controller('either')
@UseGuards(AuthGuard(['api', 'admin']))
class Either {
  @Get()
  who(@CurrentCaller() { guard, userId }: Caller) {
    return { guard, userId };
  }

  @Get('own')
  @Authenticated()
  own(@CurrentCaller() { guard }: Caller) {
    return { guard };
  }
}

@Authenticated()
class Base {}

@Controller('derived')
class Derived extends Base {
  @Get()
  inherited() {
    return {};
  }
}

describe('the gates of a route', () => {
  let t: TestApp;

  beforeAll(async () => {
    t = await TestApp.start({
      controllers: [Wrapped, Open, Either, Derived, PublicBase, ClosedChild, OpenChild, OpenGrandchild],
    });
    for (const guard of ['api', 'admin']) await t.person('x@example.com', guard);
  });
  afterAll(() => t.stop());

  const staff = (): string => forge({ claims: { aud: ADMIN_AUDIENCE } });

  it.each([['/wrapped/outside'], ['/wrapped/inside'], ['/derived'], ['/open/closed']])('apply at %s', async (path) => {
    await t.get(path).expect(401);
    await t.get(path, forge()).expect(200);
    await t.get(path, staff()).expect(401);
  });

  it.each([['/closed-child/own'], ['/closed-child/base'], ['/open-child/closed']])(
    'apply at %s, although a base class is public',
    async (path) => {
      await t.get(path).expect(401);
      await t.get(path, forge()).expect(200);
    },
  );

  it.each([['/public-base/base'], ['/open-child/base'], ['/open-grandchild/own']])(
    'do not apply at %s: the nearest class with a marker decides',
    async (path) => {
      await t.get(path).expect(200);
    },
  );

  it('do not apply if the controller is public and the route has no marker', async () => {
    await t.get('/open/to-all').expect(200);
  });

  it.each([
    ['is marked both public and guarded', Contradictory, /^Contradictory\.both: .*both @Public\(\) and guarded/],
    ['has a class both public and guarded', BothOnClass, /^BothOnClass\.any: .*both @Public\(\) and guarded/],
    ['has them in the other order', BothOnClassToo, /^BothOnClassToo\.any: .*both @Public\(\) and guarded/],
    ['lost its gates to a wrapper', Lost, /^Lost\.any: A route lost its gates/],
    ['names an undeclared guard', Mistyped, /^Mistyped\.list: There is no guard "amdin"\. Declared: admin, api/],
  ])('refuse to start with a route that %s', async (_, controller, message) => {
    const host = HostModule.with(t.databaseUrl, {}, [controller]);
    const started = NestFactory.create(host, { logger: false, abortOnError: false }).then((one) => one.init());
    await expect(started).rejects.toThrow(message);
  });

  it('accept tokens of both guards if Nest`s own guard names two', async () => {
    expect((await t.get('/either', forge()).expect(200)).body).toEqual({ guard: 'api', userId: '1' });
    expect((await t.get('/either', staff()).expect(200)).body).toEqual({ guard: 'admin', userId: '1' });
    await t.get('/either').expect(401);
  });

  it('use the default guard if the route names none, whatever guard authenticated before', async () => {
    await t.get('/either/own', forge()).expect(200);
    await t.get('/either/own', staff()).expect(401);
  });
});

@Controller('one-way')
class OneWay {
  @Post()
  @Authenticated()
  @Abilities('a')
  @Throttled('once')
  @RequireConfirmation()
  @RequireVerifiedEmail()
  any() {
    return {};
  }
}

@Controller('other-way')
@RequireVerifiedEmail()
@Throttled('once')
class OtherWay {
  @Post()
  @RequireConfirmation()
  @Abilities('a')
  @Authenticated()
  any() {
    return {};
  }
}

describe.each(['/one-way', '/other-way'])('the gates of a route with all gates, at %s', (path) => {
  it('are passed in one order: 401, 403, 429, 423, 409', async () => {
    const t = await startStepUp(
      {
        users: { entity: VerifiablePerson },
        keyPrefix: `${randomUUID()}:`,
        rateLimits: { limiters: { once: (request) => ({ key: round(request), maxAttempts: 1, decaySeconds: 60 }) } },
      },
      [OneWay, OtherWay],
    );
    const round = (request: unknown): string => (request as { headers: { round: string } }).headers.round;
    await expectGateOrder(t, path);
    await t.stop();
  });
});

@Controller('verified')
class Verified {
  @Post()
  @RequireVerifiedEmail()
  any() {
    return {};
  }
}

@Controller('verified/staff')
@Authenticated('admin')
class VerifiedStaff {
  @Post()
  @RequireVerifiedEmail()
  any() {
    return {};
  }
}

/** A provider of users whose ids name the state. */
class StateById extends UserProvider<{ id: string }> {
  findById = async (id: string) => ({ id });
  findByIdentifier = async () => null;
  passwordHashOf = async () => null;
  savePasswordHash = async () => undefined;
  idOf = ({ id }: { id: string }) => id;
  override isEmailVerified({ id }: { id: string }): boolean | null {
    return { verified: true, unverified: false }[id] ?? null;
  }
}

/** The same users, of whom nothing is known. */
class Stateless extends StateById {
  override isEmailVerified = UserProvider.prototype.isEmailVerified;
}

const features = { accountDeletion: false };

describe('a route for users with a verified email', () => {
  it.each<[string, Type, TestAppOptions['options'], string]>([
    ['the entity of the users has no column for it', Verified, {}, 'Verified'],
    ['those of the named guard have none', VerifiedStaff, { users: { entity: VerifiablePerson } }, 'VerifiedStaff'],
    [
      'only those of another guard have one',
      Verified,
      { guards: { admin: { users: { entity: VerifiablePerson } } } },
      'Verified',
    ],
    ['their provider does not implement it', Verified, { users: { provider: Stateless }, features }, 'Verified'],
  ])('is refused at boot if %s', async (_, controller, options, name) => {
    await expect(TestApp.start({ options, controllers: [controller], entities: [VerifiablePerson] })).rejects.toThrow(
      new RegExp(`^${name}\\.any: @RequireVerifiedEmail\\(\\).*column emailVerifiedAt.*isEmailVerified`),
    );
  });

  @Controller('plain')
  class Plain {
    @Get()
    any() {
      return {};
    }
  }

  const asAppGuard = (scope?: Scope): TestAppOptions => ({
    imports: [{ module: class Guarded {}, providers: [{ provide: APP_GUARD, useClass: VerifiedEmailGuard, scope }] }],
  });
  const asGlobal: TestAppOptions = {
    prepare: (app) => app.useGlobalGuards(app.get(VerifiedEmailGuard, { strict: false })),
  };

  it.each<[string, TestAppOptions]>([
    ['APP_GUARD', asAppGuard()],
    ['APP_GUARD for each request', asAppGuard(Scope.REQUEST)],
    ['useGlobalGuards', asGlobal],
  ])('is refused at boot if its guard is global, by %s', async (_, more) => {
    const host = { controllers: [Plain], entities: [VerifiablePerson], ...more };
    await expect(TestApp.start(host)).rejects.toThrow(/@RequireVerifiedEmail\(\).*users of the guard "/);
    const users = { entity: VerifiablePerson };
    const t = await TestApp.start({ ...host, options: { users, guards: { admin: { users } } } });
    await t.person('ada@example.com');
    expect((await t.get('/plain', (await t.auth.startSession(1)).accessToken)).status).toBe(409);
    await t.stop();
  });

  it('answers 409 to a user of whom it is not known', async () => {
    const t = await TestApp.start({ options: { users: { provider: StateById }, features }, controllers: [Verified] });
    const call = async (id: string) => t.call('post', '/verified', (await t.auth.startSession(id)).accessToken);
    expect((await call('verified')).status).toBe(201);
    for (const id of ['unverified', 'unknown']) {
      const { status, body } = await call(id);
      expect([id, status, body.message]).toEqual([id, 409, 'Confirm your email address first.']);
    }
    await t.stop();
  });
});

@Controller('limited')
@Throttled('thrice')
class Limited {
  @Get('guarded')
  @UseGuards(AccessTokenGuard)
  guarded() {
    return {};
  }

  @Get('twice')
  @Throttled('thrice')
  @UseGuards(AccessTokenGuard)
  twice() {
    return {};
  }
}

describe('a route with gates on its class and another guard on itself', () => {
  const thrice = (request: unknown) => ({ key: (request as { url: string }).url, maxAttempts: 3, decaySeconds: 60 });
  const t = TestApp.forFile({
    options: { keyPrefix: `${randomUUID()}:`, rateLimits: { limiters: { thrice } } },
    controllers: [Limited],
  });
  beforeEach(() => t.person('ada@example.com'));

  it.each([['/limited/guarded'], ['/limited/twice']])('passes each of them once at %s', async (path) => {
    const { accessToken } = await t.auth.startSession(1);
    await t.get(path).expect(401);
    await t.get(path, 'no.such.token').expect(401);
    // A request without a valid token is refused before the limiter counts it.
    for (let i = 0; i < 3; i++) await t.get(path, accessToken).expect(200);
    await t.get(path, accessToken).expect(429);
  });
});
