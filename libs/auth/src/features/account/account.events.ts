import { event } from '../../kit';

/**
 * An account was deleted, with all its data in the library. Emitted after the commit. No later event contains the
 * identifier.
 *
 * @publicApi
 */
export class AccountDeleted {
  constructor(
    readonly userId: string,
    /** The identifier that the user signed in with; null when there was none. */
    readonly identifier: string | null,
    readonly guard: string,
  ) {}
}

/**
 * An account is about to be deleted; emitted for each attempt. Unlike for all other events, the library waits for the
 * listeners of this event, for at most 30 seconds. If a listener throws, the account is not deleted; an `HttpException`
 * becomes the response. At this point the user's sessions have ended, nothing else was changed, and no transaction is
 * open.
 *
 * @publicApi
 */
export class AccountDeleting {
  constructor(
    readonly user: object,
    readonly guard: string,
  ) {}
}

declare module '../../foundation/platform/catalogue' {
  interface SecurityEvents {
    'auth.account.deleted': AccountDeleted;
  }
}

export const ACCOUNT_EVENTS: event.LoggedEvents = {
  'auth.account.deleted': { event: AccountDeleted, severity: 'info', details: event.ofUser },
};
