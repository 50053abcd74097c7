import { AuthConfigError } from '../../foundation/platform/errors';
import { Grant } from '../../identity/users/grant';
import { AbilityGate } from './ability.gate';
import { defineAbilities } from './abilities';
import { DetailedGate, Gates, gatesOf } from '../gates/route-plan';

describe('declared abilities', () => {
  const { Abilities, AnyAbility, AbilitiesGuard, AnyAbilityGuard, tokenCan, tokenCannot, names } = defineAbilities(
    'orders.read',
    'orders.write',
    '0',
  );

  it('are checked by the compiler', () => {
    class Host {
      @Abilities('orders.read', '0')
      right() {}

      // @ts-expect-error -- mistyped
      @Abilities('orders.raed')
      mistyped() {}

      // @ts-expect-error -- not declared
      @AnyAbility('orders.read', 'users.read')
      undeclared() {}
    }
    const caller = { guard: 'api', grant: new Grant(['orders.*']) } as never;
    expect(tokenCan(caller, 'orders.read')).toBe(true);
    // @ts-expect-error -- not declared
    expect(tokenCan(caller, 'users.read')).toBe(false);
    expect(tokenCannot(caller, 'orders.read')).toBe(false);
    // @ts-expect-error -- not declared
    expect(tokenCannot(caller, 'users.read')).toBe(true);
    const listed: readonly ('orders.read' | 'orders.write' | '0')[] = names;
    expect(listed).toEqual(['orders.read', 'orders.write', '0']);
    const required = new DetailedGate(AbilityGate, { abilities: ['orders.read', '0'], met: 'every' });
    expect(Gates.on(Host.prototype.right)).toContainEqual(required);
    expect(gatesOf(AbilitiesGuard('orders.read', '0'))).toContainEqual(required);
    // @ts-expect-error -- mistyped
    expect(gatesOf(AnyAbilityGuard('orders.raed'))).toHaveLength(2);
  });

  it.each([['a,b'], ['a b'], [''], ['é'], ['x'.repeat(129)]])('cannot be named %j', (name) => {
    expect(() => defineAbilities('a', name)).toThrow(AuthConfigError);
  });
});
