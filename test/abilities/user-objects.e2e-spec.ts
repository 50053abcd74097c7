import { Controller, Get, Query, Req, UseGuards } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import {
  Abilities,
  AbilitiesGuard,
  Auth,
  Authenticated,
  type CallSource,
  type Caller,
  CurrentCaller,
  CurrentUser,
  Public,
  UserProvider,
  tokenAbilities,
  tokenCan,
  tokenCannot,
} from '@svc/auth';
import * as fc from 'fast-check';
import { DataSource } from 'typeorm';
import { TestApp } from '../support/hosts/app';
import { forge } from '../support/clients/forge';
import { ADMIN_AUDIENCE, API_AUDIENCE } from '../support/hosts/host.module';
import { PausePoint, whilePaused } from '../support/faults/pause-point';
import { Operator, Person } from '../support/hosts/user-entities';

/** What each way of asking answers for one ability. */
const answersOf = (source: object | null | undefined, name: string, auth: Auth) => [
  tokenCan(source, name),
  !tokenCannot(source, name),
  auth.tokenCan(source, name),
  !auth.tokenCannot(source, name),
];

const listsOf = (source: object | null | undefined, auth: Auth) => [
  tokenAbilities(source),
  auth.tokenAbilities(source),
];

@Controller('user')
class UserRoutes {
  constructor(
    private readonly auth: Auth,
    private readonly source: DataSource,
  ) {}

  @Get('answers')
  @Authenticated()
  answers(
    @Req() request: { user: Person },
    @CurrentCaller() caller: Caller,
    @CurrentUser() user: Person,
    @Query('name') name: string,
  ) {
    return {
      sources: [request, caller, user, request.user].map((from) => answersOf(from, name, this.auth)),
      methods: [user.tokenCan(name), !user.tokenCannot(name)],
      lists: [request, caller, user].flatMap((from) => listsOf(from, this.auth)),
      list: user.tokenAbilities(),
    };
  }

  @Get('passport')
  @UseGuards(AuthGuard('api'))
  passport(@Req() { user }: { user: Person }) {
    return { can: user.tokenCan('orders.read'), list: user.tokenAbilities() };
  }

  @Get('others')
  @Authenticated()
  async others(@CurrentUser() user: Person) {
    const people = this.source.getRepository(Person);
    const others: Record<string, Person> = {
      'a copy': { ...user } as Person,
      'a copy of the same class': Object.assign(new Person(), user),
      'an entity of the repository': people.create(user),
      'another object of the same row': await people.findOneByOrFail({ id: user.id }),
      'an object that inherits from it': Object.create(user) as Person,
      'a proxy': new Proxy(user, {}),
      'a parsed copy': JSON.parse(JSON.stringify(user)) as Person,
      'a new user': new Person(),
    };
    return Object.entries(others).map(([name, other]) => [
      name,
      answersOf(other, 'orders.read', this.auth).some(Boolean),
      listsOf(other, this.auth).flat(),
      other instanceof Person ? [other.tokenCan('orders.read'), other.tokenCannot('orders.read')] : [false, true],
      other instanceof Person ? other.tokenAbilities() : [],
    ]);
  }

  @Get('saved')
  @Authenticated()
  async saved(@CurrentUser() user: Person) {
    const before = JSON.stringify(user);
    const saved = await this.source.getRepository(Person).save(Object.assign(user, { email: 'new@example.com' }));
    const stored = await this.source.getRepository(Person).findOneByOrFail({ id: user.id });
    return { before, saved: Object.keys(saved), stored, can: saved.tokenCan('orders.read') };
  }

  @Get('server-call')
  @Authenticated()
  async serverCall(@Req() request: CallSource, @CurrentCaller() caller: Caller<Person>) {
    for (const source of [request, { caller }]) await this.auth.sessions.list(source);
    return { can: caller.user.tokenCan('orders.read'), list: tokenAbilities(caller.user) };
  }

  @Get('resource')
  @Authenticated()
  resource(@CurrentUser() user: Person) {
    return this.auth.userResource(user, user);
  }

  @Get('staff')
  @Authenticated('admin')
  staff(@CurrentUser() user: Operator) {
    return [this.auth, this.auth.guard('admin')].map((auth) => auth.tokenCan(user, 'orders.read'));
  }

  @Get('api-last')
  @UseGuards(AuthGuard('api'))
  @Authenticated('admin')
  apiLast(@Req() request: { user: object }, @CurrentUser() user: object) {
    return this.ofBoth(request, user);
  }

  @Get('admin-last')
  @Authenticated('admin')
  @UseGuards(AuthGuard('api'))
  adminLast(@Req() request: { user: object }, @CurrentUser() user: object) {
    return this.ofBoth(request, user);
  }

  private ofBoth(request: { user: object }, user: object) {
    const guards = [this.auth, this.auth.guard('admin')];
    return {
      class: [request.user, user].map((one) => one.constructor.name),
      user: [tokenCan(user, 'orders.read'), ...guards.map((auth) => auth.tokenCan(user, 'orders.read'))],
      request: guards.map((auth) => auth.tokenCan(request, 'orders.read')),
    };
  }

  @Get('open')
  @Public()
  async open(@Req() request: { user?: object }) {
    const user = await this.source.getRepository(Person).findOneByOrFail({ id: 1 });
    return [request.user ?? null, tokenCan(user, 'orders.read'), user.tokenCan('orders.read'), user.tokenAbilities()];
  }
}

/** Requires each of these names, by the decorator and by the guard class. */
const REQUIRED = ['orders.read', 'orders.items.read', 'orders.*', 'orders', 'Orders.read', '0'];
const GRANTED = [...REQUIRED, '*', 'orders.items.*', 'orders.write', '*.read', 'users.*'];

@Controller('needs')
class Needs {}
for (const [i, name] of REQUIRED.entries()) {
  const define = (path: string, decorator: MethodDecorator): void => {
    const descriptor = { value: () => ({}) };
    Object.defineProperty(Needs.prototype, path, descriptor);
    for (const decorate of [decorator, Get(path)]) decorate(Needs.prototype, path, descriptor);
  };
  define(`decorator-${i}`, Abilities(name));
  define(`guard-${i}`, UseGuards(AbilitiesGuard(name)));
}

describe('a user object that a guard put on the request', () => {
  const t = TestApp.forFile({ controllers: [UserRoutes, Needs] });
  beforeEach(async () => {
    await t.person('ada@example.com');
    await t.person('root@example.com', 'admin');
  });
  const token = async (abilities: string[], guard = 'api'): Promise<string> =>
    (await t.auth.guard(guard).startSession(1, {}, abilities)).accessToken;

  it('can do what the token of the request grants, by functions, by Auth and by its methods', async () => {
    const accessToken = await token(['orders.*', 'a']);
    for (const [name, can] of [
      ['orders.read', true],
      ['a', true],
      ['b', false],
      ['', false],
    ]) {
      const { body } = await t.get(`/user/answers?name=${name}`, accessToken).expect(200);
      expect(body.sources.flat()).toEqual(Array.from({ length: 16 }, () => can));
      expect(body.methods).toEqual([can, can]);
      for (const list of [...body.lists, body.list]) expect(list).toEqual(['orders.*', 'a']);
    }
    expect((await t.get('/user/passport', accessToken)).body).toEqual({ can: true, list: ['orders.*', 'a'] });
  });

  it('can do nothing with a token without abilities', async () => {
    const { body } = await t.get('/user/answers?name=orders.read', (await t.session()).access_token).expect(200);
    expect([...body.sources.flat(), ...body.methods].some(Boolean)).toBe(false);
    expect(body.list).toEqual([]);
  });

  it('is recognized by the object itself: a copy, another object of the row or a new user can do nothing', async () => {
    const { body } = await t.get('/user/others', await token(['*'])).expect(200);
    expect(body).toHaveLength(8);
    for (const [name, ...answers] of body) expect([name, ...answers]).toEqual([name, false, [], [false, true], []]);
    expect((await t.get('/user/open', await token(['*']))).body).toEqual([null, false, false, []]);
  });

  it('is saved and serialized as before: its methods are no columns', async () => {
    const { body } = await t.get('/user/saved', await token(['orders.read'])).expect(200);
    expect(body).toMatchObject({ stored: { id: 1, email: 'new@example.com' }, can: true });
    expect(JSON.parse(body.before)).toEqual({ id: 1, email: 'ada@example.com' });
    expect([...body.saved, ...Object.keys(body.stored)].filter((name) => name.startsWith('token'))).toEqual([]);
    const columns = t.database.getMetadata(Person).columns.map(({ propertyName }) => propertyName);
    expect(columns.filter((name) => name.startsWith('token'))).toEqual([]);
  });

  it('keeps its abilities after a server call with its request or its caller', async () => {
    const abilities = ['orders.read', 'svc.sessions'];
    const { body } = await t.get('/user/server-call', await token(abilities)).expect(200);
    expect(body).toEqual({ can: true, list: abilities });
  });

  it('is a source for the user resource', async () => {
    const { body } = await t.get('/user/resource', await token(['x'])).expect(200);
    expect(body.data).toMatchObject({ id: 1, abilities: ['x'], token_pinned: true });
  });

  it('of one guard can do nothing at another guard', async () => {
    expect((await t.get('/user/staff', await token(['orders.read'], 'admin')).expect(200)).body).toEqual([false, true]);
  });

  it('has the token of its own guard, if several guards authenticated the request', async () => {
    const both = forge({ claims: { aud: [API_AUDIENCE, ADMIN_AUDIENCE], scope: 'orders.read' } });
    const request = [true, true];
    const [apiLast, adminLast] = [await t.get('/user/api-last', both), await t.get('/user/admin-last', both)];
    expect(apiLast.body).toEqual({ class: ['Person', 'Person'], user: [true, true, false], request });
    expect(adminLast.body).toEqual({ class: ['Operator', 'Operator'], user: [true, false, true], request });
  });

  it('can do an ability exactly if the decorator and the guard class accept the token', async () => {
    await fc.assert(
      fc.asyncProperty(fc.subarray(GRANTED), async (abilities) => {
        const accessToken = await token(abilities);
        for (const [i, name] of REQUIRED.entries()) {
          const { body } = await t.get(`/user/answers?name=${encodeURIComponent(name)}`, accessToken).expect(200);
          const answers = new Set<boolean>([...body.sources.flat(), ...body.methods]);
          for (const path of [`decorator-${i}`, `guard-${i}`])
            answers.add((await t.get(`/needs/${path}`, accessToken)).status === 200);
          expect([name, abilities, answers.size]).toEqual([name, abilities, 1]);
        }
      }),
      { numRuns: 12 },
    );
  });
});

interface CachedUser {
  id: string;
}

/** A provider that keeps its users in memory, and returns the same object for every request. */
class CachingProvider extends UserProvider<CachedUser> {
  /** The object of every user; otherwise each user has its own. */
  static shared?: CachedUser;
  private readonly users = new Map<string, CachedUser>();

  findById = async (id: string): Promise<CachedUser> => {
    const user = CachingProvider.shared ?? this.users.get(id) ?? { id };
    this.users.set(id, user);
    return user;
  };
  findByIdentifier = async () => null;
  idOf = ({ id }: CachedUser) => id;
  passwordHashOf = async () => null;
  savePasswordHash = async () => undefined;
}

const pause = PausePoint.disabled();

@Controller('cached')
@Authenticated()
class CachedRoutes {
  constructor(private readonly auth: Auth) {}

  @Get()
  answers(@Req() request: object, @CurrentUser() user: CachedUser, @CurrentCaller() caller: Caller) {
    const auth = ['a', 'b'].map((name) => this.auth.tokenCan(user, name));
    return { user: tokenAbilities(user), auth, request: tokenAbilities(request), caller: tokenAbilities(caller) };
  }

  @Get('paused')
  async paused(@Req() request: object, @CurrentUser() user: CachedUser) {
    const before = tokenAbilities(user);
    await pause.pass();
    return { before, after: tokenAbilities(user), request: tokenAbilities(request) };
  }
}

describe('a user object that a provider returns for several requests', () => {
  const t = TestApp.forFile({
    options: { users: { provider: CachingProvider }, features: { accountDeletion: false } },
    controllers: [CachedRoutes],
  });
  afterEach(() => (CachingProvider.shared = undefined));

  let lastUser = 0;
  /** Tokens of a new user, which no earlier test has read, one for each list of abilities. */
  async function tokensOfOneUser(...lists: string[][]): Promise<string[]> {
    const id = ++lastUser;
    return Promise.all(lists.map(async (abilities) => (await t.auth.startSession(id, {}, abilities)).accessToken));
  }
  const answers = async (accessToken: string) => (await t.get('/cached', accessToken).expect(200)).body;

  it('can do nothing from the second request on, also with an equal token', async () => {
    const [one, two] = await tokensOfOneUser(['a'], ['a']);
    const own = { request: ['a'], caller: ['a'] };
    expect(await answers(one!)).toEqual({ user: ['a'], auth: [true, false], ...own });
    for (const accessToken of [two!, one!])
      expect(await answers(accessToken)).toEqual({ user: [], auth: [false, false], ...own });
  });

  it('can do nothing after a token with other abilities, in no later request either', async () => {
    const [narrow, wide] = await tokensOfOneUser(['a'], ['a', 'b']);
    expect(await answers(narrow!)).toMatchObject({ user: ['a'] });
    expect(await answers(wide!)).toEqual({ user: [], auth: [false, false], request: ['a', 'b'], caller: ['a', 'b'] });
    expect(await answers(narrow!)).toEqual({ user: [], auth: [false, false], request: ['a'], caller: ['a'] });
  });

  it('can do nothing in two requests at the same time', async () => {
    const [one, two] = await tokensOfOneUser(['a'], ['b']);
    const first = t.get('/cached/paused', one).expect(200);
    const { body } = await whilePaused(pause, first, async () => {
      expect(await answers(two!)).toMatchObject({ user: [], request: ['b'] });
    });
    expect(body).toEqual({ before: ['a'], after: [], request: ['a'] });
  });

  it('can do nothing if it stands for several users', async () => {
    CachingProvider.shared = { id: 'all' };
    const [ada] = await tokensOfOneUser(['a']);
    const [bob] = await tokensOfOneUser(['a']);
    expect(await answers(ada!)).toMatchObject({ user: ['a'] });
    expect(await answers(bob!)).toMatchObject({ user: [], request: ['a'] });
  });
});
