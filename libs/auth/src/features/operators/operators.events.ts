import { event } from '../../kit';

/** What an operator can do to an account. */
export type OperatorAction =
  'end_sessions' | 'release' | 'remove_credential' | 'require_password' | 'suspend' | 'restore' | 'act';

/**
 * An operator, the console or code of the host has changed the account of a user. Emitted after the change.
 *
 * @publicApi
 */
export class OperatorActed {
  constructor(
    /** The guard of the user. */
    readonly guard: string,
    readonly userId: string,
    readonly action: OperatorAction,
    /** The operator; null for the console and for code of the host. */
    readonly operator: { readonly guard: string; readonly userId: string } | null,
    /** Why, in the words of the operator. It may contain personal data: the security log does not contain it. */
    readonly reason: string,
  ) {}
}

declare module '../../foundation/platform/catalogue' {
  interface SecurityEvents {
    'auth.operator.acted': OperatorActed;
  }
  interface SecurityLine {
    /** The operator of an action, with the guard of the operators: `admin:7`. */
    readonly operator?: string;
  }
}

declare module '../sessions/sessions.events' {
  interface SessionEndReasons {
    /** The user was suspended. */
    suspended: true;
    /** An operator has ended it, or has required a new password. */
    operator: true;
  }
}

export const OPERATOR_EVENTS: event.LoggedEvents = {
  'auth.operator.acted': {
    event: OperatorActed,
    severity: 'warning',
    details: ({ operator, action, ...of }) => ({
      ...event.ofUser(of),
      purpose: action,
      ...(operator && { operator: `${operator.guard}:${operator.userId}` }),
    }),
  },
};
