import { defineAbilities } from '@svc/auth';

/** What tokens of this application may be allowed to do. A mistyped name does not compile. */
export const { Abilities, AnyAbility, tokenCan, names } = defineAbilities(
  'orders.read',
  'orders.write',
  'orders.export',
);
