import type { RealmScope } from '../../foundation/realm/realm';
import { type HeldSession, TokenBindings } from './caller';

const SESSION: HeldSession = { userId: '1', familyId: 'f', jkt: null };
const BOUND: HeldSession = { ...SESSION, jkt: 'key' };

/** The bindings of a realm whose features have these hooks. */
const bindingsWith = (hooks: Readonly<Record<string, unknown[]>>): TokenBindings =>
  new TokenBindings({ hooks: (name: string) => hooks[name] ?? [] } as unknown as RealmScope);

describe('the bindings of tokens', () => {
  it('ask nothing where no feature binds sessions, and a session with a key is of no use there', async () => {
    const none = bindingsWith({});
    expect([none.isUsed, none.isHeldByAll(SESSION), none.isHeldByAll(BOUND)]).toEqual([false, true, false]);
    expect(await none.isHolder({}, BOUND)).toBe(false);
  });

  it('ask each feature about a session, up to the first that refuses its sender', async () => {
    const refusal = new Error('later');
    for (const [first, second] of [
      [false, 0],
      [refusal, 0],
      [true, 1],
    ] as const) {
      const sessionHolder = [async () => first, jest.fn(async () => true)];
      const bindings = bindingsWith({ sessionHolder });
      expect(bindings.isHeldByAll(SESSION)).toBe(false);
      expect(await bindings.isHolder({}, SESSION)).toBe(first);
      expect(sessionHolder[1]).toHaveBeenCalledTimes(second);
    }
    expect(bindingsWith({ tokenBinding: [{}] }).isHeldByAll(SESSION)).toBe(false);
  });
});
