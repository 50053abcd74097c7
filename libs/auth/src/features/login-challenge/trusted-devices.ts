import { Injectable } from '@nestjs/common';
import { type LoggedEvents, ofUser } from '../../foundation/realm/log-events';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { newSecret, sha256 } from '../../foundation/platform/crypto';
import { bestEffort } from '../../foundation/platform/deadline';
import { Unauthenticated } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import type { ClientInfo } from '../../request/http/client-info';
import { OptionalText, ownField } from '../../request/http/request-body';
import { TokenCookie } from '../../request/http/cookies';
import type { FirstFactor } from '../sessions/sign-in';
import { type ListedDevice, TrustedDeviceStore } from './trusted-device.store';
import { GuardFactors } from './second-factor';

/**
 * A device was trusted: the password alone signs the user in from it, until the trust ends. A good reason to mail the
 * account's owner.
 *
 * @publicApi
 */
export class DeviceTrusted {
  constructor(
    readonly userId: string,
    /** The id in the list of the user's trusted devices. */
    readonly deviceId: string,
    readonly guard: string,
  ) {}
}

declare module '../../foundation/platform/catalogue' {
  interface SecurityEvents {
    'auth.device.trusted': DeviceTrusted;
  }
}

export const TRUSTED_DEVICE_EVENTS: LoggedEvents = {
  'auth.device.trusted': { event: DeviceTrusted, severity: 'info', details: ofUser },
};

declare module '../../request/http/route-answer' {
  interface SessionTokens {
    /** A device that is trusted from now on, with the seconds until the end of the trust. Only after `trust_device`. */
    readonly trustedDevice?: DeviceToken;
  }
}

declare module '../../foundation/ports/presenter' {
  interface TokenBody {
    /** The token of a device that is trusted from now on. Only in body mode, and only after `trust_device`. */
    trusted_device_token?: string;
  }
}

/** The cookie of a trusted device. It stays when a session ends. */
@Injectable()
export class TrustedDeviceCookie extends TokenCookie {
  static override readonly suffix = '.trusted-device';
  static readonly delivered = {
    property: 'trustedDevice',
    field: 'trusted_device_token',
    meaning: 'Of a device that is trusted from now on. Only after `trust_device`.',
  } as const;
}

/** The field that the body of a login gets. */
export class TrustedDeviceField {
  /** In body mode, the token of a trusted device. */
  @OptionalText()
  trusted_device_token: string | null = null;
}

declare module '../login/login.controller' {
  interface LoginInput {
    /** The token of a trusted device. Default: in cookie mode, the cookie of the request. */
    trustedDeviceToken?: string;
  }
}

const DAY_SECONDS = 86_400;

/** A device that is trusted from now on. */
interface Trusted {
  readonly trusted: { readonly token: string; readonly expiresIn: number };
  /** Reports the trust, when the session of the client has started. */
  announce(): void;
  /** Ends the trust, when the token is not sent to the client. */
  forget(): Promise<void>;
}

/**
 * Trusts devices after a completed second factor, if `twoFactor.trustedDeviceDays` is set. A device is bound to the
 * password hash and to the second factors of its user: a change of one of them ends the trust, also one by code of the host.
 */
@Injectable()
export class TrustedDevices {
  constructor(
    private readonly store: TrustedDeviceStore,
    private readonly cookie: TrustedDeviceCookie,
    private readonly factors: GuardFactors,
    private readonly users: TimedUserProvider,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {}

  /** Returns null if the option is off. Must be called before the factor is verified. @throws StoreUnavailable */
  async prepare(userId: string): Promise<{ trust(client: ClientInfo): Promise<Trusted> } | null> {
    const days = this.days;
    if (days === 0) return null;
    const binding = await this.bindingOf(userId);
    return { trust: ({ userAgent }) => this.add(userId, binding, userAgent, days) };
  }

  private async add(userId: string, binding: string, userAgent: string | null, days: number): Promise<Trusted> {
    const token = newSecret();
    const id = await this.store.add({ userId, token, binding, userAgent, days });
    const forget = (): Promise<void> => bestEffort('forgetting a device', () => this.store.remove(userId, id));
    // A deletion of the user removes the devices afterwards: either it removes this one, or this check finds no user.
    if (!(await this.users.findById(userId))) {
      await forget();
      throw new Unauthenticated(false).withReason('unknown_user', userId);
    }
    const announce = (): void => this.events.emit(new DeviceTrusted(userId, id, this.realm.guard));
    return { trusted: { token, expiresIn: days * DAY_SECONDS }, announce, forget };
  }

  /** The store is read only after a correct password. @throws StoreUnavailable */
  async trustOf({ userId, digest }: FirstFactor, request: object): Promise<(() => Promise<boolean>) | null> {
    const sent = ownField((request as { body?: unknown }).body, 'trusted_device_token');
    const token = this.cookie.presented(sent, request);
    if (!token) return null;
    const isTrusted = async (): Promise<boolean> =>
      this.store.isTrusted(userId, token, await this.bindingOf(userId, digest));
    return (await isTrusted()) ? isTrusted : null;
  }

  async list(userId: string): Promise<ListedDevice[]> {
    return this.store.list(userId, await this.bindingOf(userId));
  }

  private get days(): number {
    return this.realm.options.twoFactor.trustedDeviceDays;
  }

  private async bindingOf(userId: string, digest?: string | null): Promise<string> {
    const state = await Promise.all([
      digest === undefined ? this.users.passwordHashOf(userId) : digest,
      this.factors.stateOf(userId),
    ]);
    return sha256(JSON.stringify(state));
  }
}
