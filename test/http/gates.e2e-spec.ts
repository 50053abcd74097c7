import { Controller, Get, type INestApplication, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import { Abilities, AccessTokenGuard, Authenticated, type Caller, CurrentCaller, Public } from '@svc/auth';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { startHost } from '../support/adapter';
import { createDatabase } from '../support/database';
import { forge } from '../support/forge';
import { ADMIN_AUDIENCE, HostModule } from '../support/host.module';
import { Operator, Person } from '../support/people';

/** Wraps a handler as tracing and transaction decorators do, metadata included. */
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

/** Wraps a handler and forgets its metadata. */
const Careless = (): MethodDecorator => (_target, _key, descriptor: PropertyDescriptor) => {
  const original = descriptor.value;
  descriptor.value = (...args: unknown[]) => original(...args);
};

@Controller('lost')
@Authenticated()
class Lost {
  @Get()
  @Careless()
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
  let app: INestApplication;
  let database: Awaited<ReturnType<typeof createDatabase>>;

  beforeAll(async () => {
    database = await createDatabase();

    const host = HostModule.with(database.url, {}, [
      Wrapped,
      Open,
      Either,
      Derived,
      PublicBase,
      ClosedChild,
      OpenChild,
      OpenGrandchild,
    ]);
    app = await startHost(host);
    for (const entity of [Person, Operator])
      await app.get(DataSource).getRepository(entity).save({ email: 'x@example.com' });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const get = (path: string, token?: string) => {
    const call = request(app.getHttpServer()).get(path);
    return token ? call.set('Authorization', `Bearer ${token}`) : call;
  };
  const staff = (): string => forge({ claims: { aud: ADMIN_AUDIENCE } });

  it.each([['/wrapped/outside'], ['/wrapped/inside'], ['/derived'], ['/open/closed']])('hold at %s', async (path) => {
    await get(path).expect(401);
    await get(path, forge()).expect(200);
    await get(path, staff()).expect(401);
  });

  it.each([['/closed-child/own'], ['/closed-child/base'], ['/open-child/closed']])(
    'hold at %s, although a base class is public',
    async (path) => {
      await get(path).expect(401);
      await get(path, forge()).expect(200);
    },
  );

  it.each([['/public-base/base'], ['/open-child/base'], ['/open-grandchild/own']])(
    'are none at %s: the nearest class that says anything decides',
    async (path) => {
      await get(path).expect(200);
    },
  );

  it('are none where the controller is public and the route says nothing else', async () => {
    await get('/open/to-all').expect(200);
  });

  it.each([
    ['is marked both public and guarded', Contradictory, /^Contradictory\.both: .*both @Public\(\) and guarded/],
    ['has a class both public and guarded', BothOnClass, /^BothOnClass\.any: .*both @Public\(\) and guarded/],
    ['has them in the other order', BothOnClassToo, /^BothOnClassToo\.any: .*both @Public\(\) and guarded/],
    ['lost its gates to a wrapper', Lost, /^Lost\.any: A route lost its gates/],
    ['names a guard nobody declared', Mistyped, /^Mistyped\.list: There is no guard "amdin"\. Declared: admin, api/],
  ])('refuse at boot a route that %s', async (_, controller, message) => {
    const host = HostModule.with(database.url, {}, [controller]);
    const started = NestFactory.create(host, { logger: false, abortOnError: false }).then((one) => one.init());
    await expect(started).rejects.toThrow(message);
  });

  it('let either guard in where Nest`s own guard names two', async () => {
    expect((await get('/either', forge()).expect(200)).body).toEqual({ guard: 'api', userId: '1' });
    expect((await get('/either', staff()).expect(200)).body).toEqual({ guard: 'admin', userId: '1' });
    await get('/either').expect(401);
  });

  it('mean the default guard when no guard is named, whoever was authenticated before', async () => {
    await get('/either/own', forge()).expect(200);
    await get('/either/own', staff()).expect(401);
  });
});
