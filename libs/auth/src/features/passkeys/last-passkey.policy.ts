/** The state of a user who deletes a passkey. */
export interface PasskeyRemoval {
  /** Whether the last passkey of this user must stay while there is no password: `passkeys.keepLast`. */
  readonly keepsLast: boolean;
  readonly hasPassword: boolean;
  /** The ids of all passkeys of the user. */
  readonly passkeys: readonly string[];
}

export type RemovalVerdict = 'remove' | 'absent' | 'last';

/** Decides whether a user may delete a passkey. Pure. A user without another way to sign in keeps the last one. */
export function removalVerdict(id: string, { keepsLast, hasPassword, passkeys }: PasskeyRemoval): RemovalVerdict {
  if (!passkeys.includes(id)) return 'absent';
  return keepsLast && !hasPassword && passkeys.length === 1 ? 'last' : 'remove';
}
