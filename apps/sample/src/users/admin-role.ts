/** The abilities of operators by their role. Each action on the account of a customer needs its own: see docs/operators.md. */
const ABILITIES = {
  administrator: ['svc.operators.*'],
  // Sees accounts, and helps people who are locked out. Takes nothing away, and does not act as a customer.
  support: ['svc.operators.read', 'svc.operators.sessions', 'svc.operators.locks'],
} as const;

export type AdminRole = keyof typeof ABILITIES;

/** Null: the account was deleted after the sign-in. */
export const abilitiesOf = (admin: { role: AdminRole } | null): readonly string[] =>
  admin ? ABILITIES[admin.role] : [];
