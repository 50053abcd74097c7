import { event } from '../../kit';

/** Where the key of a passkey is: in the device with which the user signs in, or in a security key. */
export type AuthenticatorKind = 'platform' | 'roaming';

/** By the transports that the browser has reported. Without any, that of the device, which keeps most passkeys. */
export const authenticatorKind = (transports: readonly string[]): AuthenticatorKind =>
  !transports.includes('internal') && transports.some((name) => ['usb', 'nfc', 'ble', 'smart-card'].includes(name))
    ? 'roaming'
    : 'platform';

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
    readonly authenticator: AuthenticatorKind,
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
    readonly authenticator: AuthenticatorKind,
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
 * The backup flags of a passkey differ from the stored ones. Either it is synced now, or is not synced any more. Or, with
 * `refused` or `accepted`, whether it can be synced has changed. This is a property of the key pair, so either the provider of the
 * passkey has changed, or another program signs with its key.
 *
 * @publicApi
 */
export class PasskeyBackupChanged {
  constructor(
    readonly userId: string,
    readonly credentialId: string,
    readonly guard: string,
    /** Whether the passkey states that it is backed up. */
    readonly backedUp: boolean,
    /** Whether the attempt was refused or accepted, if the passkey states another backup eligibility than at its registration. */
    readonly eligibility: 'unchanged' | 'refused' | 'accepted',
  ) {}
}

declare module '../../foundation/platform/catalogue' {
  interface SecurityEvents {
    'auth.passkey.cloned': PasskeyCloneDetected;
    'auth.passkey.added': PasskeyAdded;
    'auth.passkey.removed': PasskeyRemoved;
    'auth.passkey.backup_changed': PasskeyBackupChanged;
  }
}

export const PASSKEY_EVENTS: event.LoggedEvents = {
  'auth.passkey.cloned': { event: PasskeyCloneDetected, severity: 'warning', details: event.ofUser },
  'auth.passkey.added': { event: PasskeyAdded, severity: 'info', details: event.ofUser },
  'auth.passkey.removed': { event: PasskeyRemoved, severity: 'info', details: event.ofUser },
  'auth.passkey.backup_changed': {
    event: PasskeyBackupChanged,
    severity: 'info',
    details: ({ eligibility, ...of }) => ({
      ...event.ofUser(of),
      ...(eligibility !== 'unchanged' && { purpose: eligibility }),
    }),
  },
};

declare module '../sessions/sessions.events' {
  interface SessionEndReasons {
    /** The passkey that started it was deleted in another session. */
    passkey_removed: true;
  }
}
