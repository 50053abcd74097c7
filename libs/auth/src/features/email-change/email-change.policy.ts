/**
 * The states of a change of email.
 *
 * - `requested`: the link was mailed to the new address.
 * - `changed`: the new address is stored; the other sessions may not have ended yet.
 * - `confirmed`: they have ended. The link that was mailed to the former address is valid.
 * - `restored`: the former address is stored again; the access to the account may not have ended yet.
 * - `undone`: it has ended.
 * - `superseded`: the undo of an earlier change has ended this one.
 */
export type EmailChangeState = 'requested' | 'changed' | 'confirmed' | 'restored' | 'undone' | 'superseded';

export type EmailChangeStep = 'request' | 'confirm' | 'settle' | 'undo' | 'close' | 'supersede';

/**
 * The state machine of a change of email: the next state, by state and step. A step that is not listed is refused. In every
 * state, the row is refused after its expiry, and the pruning deletes it.
 */
export const EMAIL_CHANGE: Readonly<
  Record<EmailChangeState, Readonly<Partial<Record<EmailChangeStep, EmailChangeState>>>>
> = {
  // A user has one request: a new one replaces it.
  requested: { request: 'requested', confirm: 'changed', supersede: 'superseded' },
  changed: { settle: 'confirmed', undo: 'restored', supersede: 'superseded' },
  // A later change does not end it, so its link undoes the later changes, too.
  confirmed: { undo: 'restored', supersede: 'superseded' },
  restored: { close: 'undone', supersede: 'superseded' },
  undone: {},
  superseded: {},
};

/** The states in which a step is possible, and the state after it: for the condition of a statement. Pure. */
export function transition(step: EmailChangeStep): { from: EmailChangeState[]; to: EmailChangeState } {
  const rows = Object.entries(EMAIL_CHANGE) as [EmailChangeState, (typeof EMAIL_CHANGE)[EmailChangeState]][];
  const possible = rows.filter(([, steps]) => steps[step]);
  return { from: possible.map(([state]) => state), to: possible[0]![1][step]! };
}

/** A stored change, found by the token of a link. */
export interface FoundLink {
  readonly state: EmailChangeState;
  readonly isExpired: boolean;
  /** Whether the session that asked for the change has ended, or the user has got another password since. */
  readonly isRevoked: boolean;
}

/**
 * What a request with a link does. `perform`: the step of the link. `resume`: the work that follows it, because an earlier
 * request could not finish it. `done`: nothing, because it is done; the link was opened again.
 */
export type LinkVerdict = 'perform' | 'resume' | 'done' | 'refuse';

/** Decides what a link does. Pure. A request that was revoked is refused; a change that was made is not concerned. */
export function linkVerdict(link: 'confirm' | 'undo', found: FoundLink | null): LinkVerdict {
  if (!found || found.isExpired) return 'refuse';
  const { state, isRevoked } = found;
  if (EMAIL_CHANGE[state][link]) return link === 'confirm' && isRevoked ? 'refuse' : 'perform';
  const after = EMAIL_CHANGE[transition(link).to];
  if (state === transition(link).to) return 'resume';
  return state === after[link === 'confirm' ? 'settle' : 'close'] ? 'done' : 'refuse';
}
