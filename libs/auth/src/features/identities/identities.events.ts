import { event } from '../../kit';

/**
 * An account at a provider was linked, and its owner can sign in with it. A good reason to mail the account's owner. A registration
 * with a provider emits it, too, after `Registered`.
 *
 * @publicApi
 */
export class IdentityLinked {
  constructor(
    readonly userId: string,
    readonly identityId: string,
    /** The name of the provider in the options. */
    readonly provider: string,
    readonly guard: string,
  ) {}
}

/**
 * An account at a provider is not linked any more: its user removed it, or the account has another owner. Not emitted when the
 * account is deleted. A good reason to mail the account's owner.
 *
 * @publicApi
 */
export class IdentityUnlinked {
  constructor(
    readonly userId: string,
    readonly identityId: string,
    /** The name of the provider in the options. */
    readonly provider: string,
    readonly guard: string,
  ) {}
}

declare module '../../foundation/platform/catalogue' {
  interface SecurityEvents {
    'auth.identity.linked': IdentityLinked;
    'auth.identity.unlinked': IdentityUnlinked;
  }
}

export const IDENTITY_EVENTS: event.LoggedEvents = {
  'auth.identity.linked': { event: IdentityLinked, severity: 'info', details: event.ofUser },
  'auth.identity.unlinked': { event: IdentityUnlinked, severity: 'info', details: event.ofUser },
};

declare module '../sessions/sessions.events' {
  interface SessionEndReasons {
    /** The account at a provider that started it was removed in another session. */
    identity_removed: true;
    /** The provider at which the user had signed in has ended its session. */
    provider_logout: true;
  }
}
