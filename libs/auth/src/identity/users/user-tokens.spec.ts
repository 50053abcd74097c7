import * as fc from 'fast-check';
import {
  Grant,
  type UserTokens,
  type VerifiedToken,
  decidingToken,
  recordUser,
  tokenOfUser,
  userTokensWith,
} from './grant';

const USER = {};

const token = (guard: string, scope: string, more: Partial<VerifiedToken> = {}): VerifiedToken => ({
  guard,
  userId: '1',
  grant: Grant.ofScope(scope),
  claims: {},
  user: USER,
  ...more,
});

/** The verified tokens of a request. */
type Tokens = Map<string, VerifiedToken>;

/** The tokens of one object after guards have read it: each step is a request, and a token that is recorded on it. */
function after(...steps: (readonly [Tokens, VerifiedToken])[]): UserTokens {
  return steps.reduce<UserTokens | undefined>((known, [request, recorded]) => {
    request.delete(recorded.guard);
    request.set(recorded.guard, recorded);
    return userTokensWith(known, request, recorded);
  }, undefined)!;
}

const scopeOf = (known: UserTokens, guard?: string): string | undefined =>
  decidingToken(known, guard)?.grant.abilities.join(' ');

describe('the token of a user object', () => {
  let one: Tokens;
  let two: Tokens;
  beforeEach(() => ([one, two] = [new Map(), new Map()]));

  it('is the token of the guard that read the object', () => {
    const known = after([one, token('api', 'a')]);
    expect([undefined, 'api', 'admin'].map((guard) => scopeOf(known, guard))).toEqual(['a', 'a', undefined]);
  });

  it('is that of the active guard, if several guards read the object for one request', () => {
    const known = after([one, token('api', 'a')], [one, token('admin', 'b')]);
    expect([undefined, 'api', 'admin'].map((guard) => scopeOf(known, guard))).toEqual(['b', 'a', 'b']);
    const again = after([one, token('api', 'a')], [one, token('admin', 'b')], [one, token('api', 'a')]);
    expect(scopeOf(again)).toBe('a');
  });

  it('does not exist without a guard name, if several guards read the object and another one is active', () => {
    const known = after([one, token('api', 'a')], [one, token('admin', 'b')]);
    one.set('shop', token('shop', 'c', { user: {} }));
    expect([undefined, 'api', 'admin', 'shop'].map((guard) => scopeOf(known, guard))).toEqual([
      undefined,
      'a',
      'b',
      undefined,
    ]);
  });

  it('is replaced by the next token of the same guard and request', () => {
    expect(scopeOf(after([one, token('api', 'a')], [one, token('api', 'b')]))).toBe('b');
  });

  it('is none, if the provider returns the object for another request, also with an equal token', () => {
    const known = after([one, token('api', 'a b')], [two, token('api', 'a b')], [one, token('api', 'a b')]);
    expect([undefined, 'api'].map((guard) => scopeOf(known, guard))).toEqual([undefined, undefined]);
  });

  it('stays, if a server call passes it on', () => {
    const [api, admin] = [token('api', 'a'), token('admin', 'b')];
    const known = after([one, api], [one, admin], [two, api], [two, admin]);
    expect([undefined, 'api', 'admin'].map((guard) => scopeOf(known, guard))).toEqual(['b', 'a', 'b']);
  });

  it.each<[string, VerifiedToken]>([
    ['with other abilities', token('api', 'b')],
    ['with more abilities', token('api', 'a b')],
    ['without abilities', token('api', '')],
    ['of another user', token('api', 'a', { userId: '2' })],
    ['of another guard', token('admin', 'a')],
    ['of a pinned session', token('api', 'a', { claims: { pin: true } })],
  ])('does not exist, if the provider returns the object for another request %s', (_, other) => {
    const shared = after([one, token('api', 'a')], [two, other]);
    expect([undefined, 'api', 'admin'].map((guard) => scopeOf(shared, guard))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const later = after(
      [one, token('api', 'a')],
      [two, other],
      [new Map(), token('api', 'a')],
      [one, token('api', 'a')],
    );
    expect(scopeOf(later)).toBeUndefined();
  });

  it('does not exist, if a second guard reads an object that two requests share', () => {
    const known = after([one, token('api', 'a')], [two, token('api', 'a')], [one, token('admin', 'b')]);
    expect([undefined, 'api', 'admin'].map((guard) => scopeOf(known, guard))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is never one that another request does not have', () => {
    const step = fc.record({
      request: fc.nat(2),
      guard: fc.constantFrom('api', 'admin'),
      userId: fc.constantFrom('1', '1', '2'),
      scope: fc.constantFrom('a', 'a', 'b', ''),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const requests: Tokens[] = [new Map(), new Map(), new Map()];
        let known: UserTokens | undefined;
        for (const { request, guard, userId, scope } of steps) {
          const recorded = token(guard, scope, { userId });
          requests[request]!.delete(guard);
          requests[request]!.set(guard, recorded);
          known = userTokensWith(known, requests[request]!, recorded);
          for (const asking of requests.filter(({ size }) => size)) {
            for (const by of [undefined, 'api', 'admin']) {
              const found = decidingToken(known, by);
              if (!found) continue;
              const own = asking.get(found.guard);
              expect([found.userId, found.grant.abilities]).toEqual([own?.userId, own?.grant.abilities]);
            }
          }
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the token of an object', () => {
  const record = (user: object, scope: string): void => recordUser(new Map(), token('api', scope, { user }));
  const abilitiesOf = (user: object) => tokenOfUser(user)?.grant.abilities;

  it.each<[string, () => object]>([
    ['plain', () => ({ id: 1 })],
    ['frozen', () => Object.freeze({ id: 1 })],
    ['without a prototype', () => Object.create(null) as object],
    ['a proxy', () => new Proxy({ id: 1 }, {})],
    ['that inherits from another user', () => Object.create(recorded('b')) as object],
  ])('%s is found by the object', (_, create) => {
    const user = create();
    expect(tokenOfUser(user)).toBeUndefined();
    record(user, 'a');
    expect(abilitiesOf(user)).toEqual(['a']);
    record(user, 'b');
    expect(tokenOfUser(user)).toBeUndefined();
  });

  /** A user object with a token. */
  function recorded(scope: string): object {
    const user = { id: 1 };
    record(user, scope);
    return user;
  }

  it('that is frozen later does not keep its token when another token is recorded', () => {
    const user = Object.freeze(recorded('a'));
    expect(abilitiesOf(user)).toEqual(['a']);
    record(user, 'b');
    expect(tokenOfUser(user)).toBeUndefined();
  });

  it.each<[string, (user: object) => object]>([
    ['a copy', (user) => ({ ...user })],
    ['a copy of all its properties', (user) => Object.defineProperties({}, Object.getOwnPropertyDescriptors(user))],
    ['an object that inherits from it', (user) => Object.create(user) as object],
    ['a proxy of it', (user) => new Proxy(user, {})],
    ['a clone', (user) => structuredClone(user)],
  ])('is not found by %s', (_, other) => {
    const user = recorded('a');
    expect(tokenOfUser(other(user))).toBeUndefined();
    expect(abilitiesOf(user)).toEqual(['a']);
  });

  it('is not visible in the object', () => {
    const user = recorded('a');
    expect([Reflect.ownKeys({ ...user }), JSON.stringify(user)]).toEqual([['id'], '{"id":1}']);
    expect(user).toStrictEqual({ id: 1 });
  });

  it('does not exist for a value that is no object', () => {
    for (const user of [undefined, null, 'ada', 7, true]) expect(() => record(user as never, 'a')).not.toThrow();
  });
});
