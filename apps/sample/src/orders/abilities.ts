import { defineAbilities } from '@svc/auth';

/** The abilities that a token of this application can have. A mistyped name does not compile. */
export const { Abilities, AnyAbility, tokenCan, names } = defineAbilities(
  'orders.read',
  'orders.write',
  'orders.export',
);
