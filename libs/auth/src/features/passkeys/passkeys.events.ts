import { event } from '../../kit';

/**
 * A user registered a passkey, and can sign in with it. A good reason to mail the account's owner. A registration of an account
 * with a passkey emits it, too, after `Registered`.
 *
 * @publicApi
 */
export class PasskeyAdded {
  constructor(
    readonly userId: string,
    readonly credentialId: string,
    readonly guard: string,
  ) {}
}

/**
 * A passkey was removed: its user deleted it, or a password reset removed it from an account with an unverified email.
 * Not emitted when the account is deleted. A good reason to mail the account's owner.
 *
 * @publicApi
 */
export class PasskeyRemoved {
  constructor(
    readonly userId: string,
    readonly credentialId: string,
    readonly guard: string,
  ) {}
}

/**
 * A passkey signed with a signature counter that is not higher than the previous one: there may be a copy of the
 * passkey. The attempt was refused and the passkey was kept. Ask its owner, and delete the passkey if in doubt.
 *
 * @publicApi
 */
export class PasskeyCloneDetected {
  constructor(
    readonly userId: string,
    readonly credentialId: string,
    readonly guard: string,
  ) {}
}

/**
 * The backup state of a passkey has changed since its last use: it is synced now, or is not synced any more.
 *
 * @publicApi
 */
export class PasskeyBackupChanged {
  constructor(
    readonly userId: string,
    readonly credentialId: string,
    readonly guard: string,
    /** Whether the passkey is backed up now. */
    readonly backedUp: boolean,
  ) {}
}

/**
 * A passkey was used, and whether it can be synced has changed since its registration. This is a property of the key pair, so
 * either the provider of the passkey has changed, or another program signs with its key. `passkeys.backupChange` decides whether
 * the attempt was refused.
 *
 * @publicApi
 */
export class PasskeyEligibilityChanged {
  constructor(
    readonly userId: string,
    readonly credentialId: string,
    readonly guard: string,
    /** Whether the passkey states now that it can be synced. */
    readonly backupEligible: boolean,
    /** The value of `passkeys.backupChange`. */
    readonly backupChange: 'refuse' | 'accept',
  ) {}
}

declare module '../../foundation/platform/catalogue' {
  interface SecurityEvents {
    'auth.passkey.cloned': PasskeyCloneDetected;
    'auth.passkey.added': PasskeyAdded;
    'auth.passkey.removed': PasskeyRemoved;
    'auth.passkey.backup_changed': PasskeyBackupChanged;
    'auth.passkey.eligibility_changed': PasskeyEligibilityChanged;
  }
}

export const PASSKEY_EVENTS: event.LoggedEvents = {
  'auth.passkey.cloned': { event: PasskeyCloneDetected, severity: 'warning', details: event.ofUser },
  'auth.passkey.added': { event: PasskeyAdded, severity: 'info', details: event.ofUser },
  'auth.passkey.removed': { event: PasskeyRemoved, severity: 'info', details: event.ofUser },
  'auth.passkey.backup_changed': { event: PasskeyBackupChanged, severity: 'info', details: event.ofUser },
  'auth.passkey.eligibility_changed': {
    event: PasskeyEligibilityChanged,
    severity: 'warning',
    details: event.ofUser,
  },
};

declare module '../sessions/sessions.events' {
  interface SessionEndReasons {
    /** The passkey that started it was deleted in another session. */
    passkey_removed: true;
  }
}
