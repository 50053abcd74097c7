import { event } from '../../kit';

/**
 * A user has asked for a change of the email. Emitted also if the new address has an account, and gets no link.
 *
 * @publicApi
 */
export class EmailChangeRequested {
  constructor(
    readonly userId: string,
    readonly guard: string,
  ) {}
}

/**
 * The email of a user was changed, by the link that was mailed to the new address. The new one is verified; `Verified` is not
 * emitted. The other sessions of the user have ended. Emitted once for each change.
 *
 * @publicApi
 */
export class EmailChanged {
  constructor(
    readonly userId: string,
    readonly guard: string,
    /** The former email; null for a user without one. */
    readonly from: string | null,
    readonly to: string,
  ) {}
}

/**
 * A change of email was undone, by the link that was mailed to the former address. The account may have been in the hands of
 * another person: all its sessions have ended, and its password was replaced. A good reason for an alarm. Emitted once for each
 * undo.
 *
 * @publicApi
 */
export class EmailChangeUndone {
  constructor(
    readonly userId: string,
    readonly guard: string,
    /** The email that the change had stored. A later change may have replaced it. */
    readonly from: string,
    /** The former email, which the account has again. */
    readonly to: string,
  ) {}
}

declare module '../../foundation/platform/catalogue' {
  interface SecurityEvents {
    'auth.email.changed': EmailChanged;
    'auth.email.change_undone': EmailChangeUndone;
  }
}

export const EMAIL_CHANGE_EVENTS: event.LoggedEvents = {
  'auth.email.changed': { event: EmailChanged, severity: 'info', details: event.ofUser },
  'auth.email.change_undone': { event: EmailChangeUndone, severity: 'warning', details: event.ofUser },
};

declare module '../sessions/sessions.events' {
  interface SessionEndReasons {
    /** The email was changed by a link that another session had asked for. */
    email_change: true;
    /** A change of the email was undone. */
    email_undo: true;
  }
}
