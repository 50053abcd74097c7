import { event } from '../../kit';

/** Whose key it is: a user, or a service, whose `userId` is null. */
abstract class OfKey {
  constructor(
    readonly guard: string,
    readonly userId: string | null,
    readonly service: string | null,
    readonly keyId: string,
  ) {}
}

/**
 * An access key was created. A good reason to mail the account's owner.
 *
 * @publicApi
 */
export class KeyCreated extends OfKey {}

/** Why an access key ended: its owner or code of the host revoked it, it was found in public, or the access to the account ended. */
export type KeyEndReason = 'revoked' | 'leaked' | 'account';

/**
 * An access key was revoked. Not emitted for a key that expires, and when the account is deleted.
 *
 * @publicApi
 */
export class KeyRevoked extends OfKey {
  constructor(
    guard: string,
    userId: string | null,
    service: string | null,
    keyId: string,
    readonly reason: KeyEndReason,
  ) {
    super(guard, userId, service, keyId);
  }
}

/**
 * An access key was used from a network that it was not used from before; not for its first network. Emitted within a minute after
 * the request.
 *
 * @publicApi
 */
export class KeyUsedFromNewNetwork extends OfKey {
  constructor(
    guard: string,
    userId: string | null,
    service: string | null,
    keyId: string,
    /** The /24 of an IPv4 address, the /48 of an IPv6 address. */
    readonly network: string,
  ) {
    super(guard, userId, service, keyId);
  }
}

declare module '../../foundation/platform/catalogue' {
  interface SecurityEvents {
    'auth.access_key.created': KeyCreated;
    'auth.access_key.revoked': KeyRevoked;
    'auth.access_key.new_network': KeyUsedFromNewNetwork;
  }
  interface SecurityLine {
    /** The access key of an event. */
    readonly key_id?: string;
  }
}

const details = ({ guard, userId, keyId }: OfKey) => ({
  guard,
  ...(userId !== null && { user_id: userId }),
  key_id: keyId,
});

export const ACCESS_KEY_EVENTS: event.LoggedEvents = {
  'auth.access_key.created': { event: KeyCreated, severity: 'info', details },
  'auth.access_key.revoked': { event: KeyRevoked, severity: 'info', details },
  'auth.access_key.new_network': { event: KeyUsedFromNewNetwork, severity: 'warning', details },
};
