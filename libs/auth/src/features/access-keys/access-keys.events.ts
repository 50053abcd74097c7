import { event } from '../../kit';

/**
 * An access key was created. A good reason to mail the account's owner.
 *
 * @publicApi
 */
export class KeyCreated {
  constructor(
    readonly guard: string,
    /** Null for a key of a service. */
    readonly userId: string | null,
    /** The name of the service; null for a key of a user. */
    readonly service: string | null,
    readonly keyId: string,
  ) {}
}

/**
 * An access key was revoked. Not emitted for a key that expires, and when the account is deleted.
 *
 * @publicApi
 */
export class KeyRevoked {
  constructor(
    readonly guard: string,
    /** Null for a key of a service. */
    readonly userId: string | null,
    /** The name of the service; null for a key of a user. */
    readonly service: string | null,
    readonly keyId: string,
    /** `revoked` by its owner or by code of the host, `leaked`: found in public, `account`: the access to the account ended. */
    readonly reason: 'revoked' | 'leaked' | 'account',
  ) {}
}

/**
 * An access key was used from a network that it was not used from before; not for its first network. Emitted within a minute after
 * the request.
 *
 * @publicApi
 */
export class KeyUsedFromNewNetwork {
  constructor(
    readonly guard: string,
    /** Null for a key of a service. */
    readonly userId: string | null,
    /** The name of the service; null for a key of a user. */
    readonly service: string | null,
    readonly keyId: string,
    /** The /24 of an IPv4 address, the /48 of an IPv6 address. */
    readonly network: string,
  ) {}
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

const details = ({ guard, userId, keyId }: KeyCreated) => ({
  guard,
  ...(userId !== null && { user_id: userId }),
  key_id: keyId,
});

export const ACCESS_KEY_EVENTS: event.LoggedEvents = {
  'auth.access_key.created': { event: KeyCreated, severity: 'info', details },
  'auth.access_key.revoked': { event: KeyRevoked, severity: 'info', details },
  'auth.access_key.new_network': { event: KeyUsedFromNewNetwork, severity: 'warning', details },
};
