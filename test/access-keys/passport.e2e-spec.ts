import { ApolloDriver } from '@nestjs/apollo';
import { Controller, type ExecutionContext, Get, Next, Req, UseGuards } from '@nestjs/common';
import { GqlExecutionContext, GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { AuthGuard } from '@nestjs/passport';
import { type Caller, CurrentCaller, Public } from '@svc/auth';
import { AcceptsKeys } from '@svc/auth/access-keys';
import { createKey, keyOwner, serviceKey } from '../support/flows/access-keys';
import { TestApp } from '../support/hosts/app';
import { ADA, type Person } from '../support/hosts/user-entities';

interface Asked {
  readonly user: Person;
}

const shown = ({ user }: Asked, { keyId, userId }: Caller) => ({ email: user.email, keyId, userId });

@Controller('mixed')
class Mixed {
  @Get('key-above')
  @AcceptsKeys()
  @UseGuards(AuthGuard('api'))
  above(@Req() request: Asked, @CurrentCaller() caller: Caller) {
    return shown(request, caller);
  }

  @Get('key-below')
  @UseGuards(AuthGuard('api'))
  @AcceptsKeys()
  below(@Req() request: Asked, @CurrentCaller() caller: Caller) {
    return shown(request, caller);
  }

  @Get('several')
  @UseGuards(AuthGuard(['admin', 'api']))
  @AcceptsKeys()
  several(@Req() request: Asked, @CurrentCaller() caller: Caller) {
    return shown(request, caller);
  }

  @Get('unmarked')
  @UseGuards(AuthGuard('api'))
  unmarked() {
    return {};
  }

  @Get('of-others')
  @AcceptsKeys('admin')
  @UseGuards(AuthGuard('api'))
  ofOthers() {
    return {};
  }

  @Get('at-others')
  @AcceptsKeys()
  @UseGuards(AuthGuard('admin'))
  atOthers() {
    return {};
  }

  @Get('handed-on/:id')
  @AcceptsKeys()
  handsOn(@Next() next: () => void) {
    next();
  }

  @Get('handed-on/secret')
  @UseGuards(AuthGuard('api'))
  handedOn() {
    return {};
  }
}

@Controller('guarded')
@UseGuards(AuthGuard('api'))
class Guarded {
  @Get('marked')
  @AcceptsKeys()
  marked(@Req() request: Asked, @CurrentCaller() caller: Caller) {
    return shown(request, caller);
  }

  @Get('unmarked')
  unmarked() {
    return {};
  }
}

@Controller('derived')
class Derived extends Guarded {
  @Get('overridden')
  override marked() {
    return {} as never;
  }

  @Get('own')
  own() {
    return {};
  }
}

@Controller('inherited')
class Inherited extends Guarded {}

@Controller('class-above')
@AcceptsKeys()
@UseGuards(AuthGuard('api'))
class ClassAbove {
  @Get()
  marked(@Req() request: Asked, @CurrentCaller() caller: Caller) {
    return shown(request, caller);
  }

  @Get('public')
  @Public()
  open() {
    return {};
  }
}

@Controller('class-below')
@UseGuards(AuthGuard('api'))
@AcceptsKeys()
class ClassBelow {
  @Get()
  marked(@Req() request: Asked, @CurrentCaller() caller: Caller) {
    return shown(request, caller);
  }
}

/** As the documentation of Nest has it. */
class GraphqlGuard extends AuthGuard('api') {
  override getRequest(context: ExecutionContext) {
    return GqlExecutionContext.create(context).getContext().req;
  }
}

@Resolver()
class Notes {
  @Query(() => String)
  @AcceptsKeys()
  keyed() {
    return 'keyed';
  }

  @Query(() => String)
  @UseGuards(GraphqlGuard)
  own() {
    return 'own';
  }

  @Query(() => String)
  @UseGuards(GraphqlGuard)
  @AcceptsKeys()
  both() {
    return 'both';
  }
}

describe("an access key at Passport's AuthGuard", () => {
  const t = TestApp.forFile({
    controllers: [Mixed, Guarded, Derived, Inherited, ClassAbove, ClassBelow],
    options: {
      features: { accessKeys: true },
      guards: { admin: { features: { accessKeys: true }, accessKeys: { prefix: 'staff' } } } as never,
    },
    fastify: false,
    imports: [
      {
        module: class Api {},
        imports: [GraphQLModule.forRoot({ driver: ApolloDriver, autoSchemaFile: true })],
        providers: [Notes],
      },
    ],
  });
  let owner: Awaited<ReturnType<typeof keyOwner>>;
  let key: { readonly id: string; readonly access_key: string };
  beforeEach(async () => {
    await t.person(ADA);
    owner = await keyOwner(t);
    key = await createKey(t, owner);
  });

  it.each([
    'mixed/key-above',
    'mixed/key-below',
    'mixed/several',
    'guarded/marked',
    'inherited/marked',
    'class-above',
    'class-below',
  ])('counts at %s, which has @AcceptsKeys() too, as its owner and while it is valid', async (path) => {
    const { access_token: token } = owner.tokens;
    expect((await t.get(`/${path}`, key.access_key).expect(200)).body).toEqual({
      email: ADA,
      keyId: key.id,
      userId: '1',
    });
    expect((await t.get(`/${path}`, token).expect(200)).body).toEqual({ email: ADA, userId: '1' });
    await t.http.get(`/${path}`).expect(401);
    await t.auth.accessKeys.revokeAny(key.id);
    await t.get(`/${path}`, key.access_key).expect(401);
  });

  it.each([
    'mixed/unmarked',
    'mixed/of-others',
    'mixed/at-others',
    'mixed/handed-on/secret',
    'guarded/unmarked',
    'derived/unmarked',
    'derived/overridden',
    'derived/own',
    'class-above/public',
  ])('does not count at %s, which does not accept it', async (path) => {
    await t.get(`/${path}`, key.access_key).expect(401);
  });

  it('of a service is refused: Passport needs a user', async () => {
    const { access_key: text } = await serviceKey(t);
    await t.get('/mixed/key-below', text).expect(401);
    await t.get('/guarded/marked', text).expect(401);
  });

  it('does not count for the fields of a GraphQL operation, whatever the other fields accept', async () => {
    const ask = async (query: string, text: string) =>
      (await t.http.post('/graphql').set('Authorization', `Bearer ${text}`).send({ query })).body;
    for (const query of ['{ own }', '{ keyed own }', '{ own keyed }', '{ keyed both }', '{ both keyed own }']) {
      const { data, errors } = await ask(query, key.access_key);
      expect([query, data, errors.length > 0]).toEqual([query, null, true]);
      expect((await ask(query, owner.tokens.access_token)).errors).toBeUndefined();
    }
    expect((await ask('{ keyed }', key.access_key)).data).toEqual({ keyed: 'keyed' });
  });
});
