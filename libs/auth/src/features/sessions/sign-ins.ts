import { Injectable } from '@nestjs/common';
import { Realm } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { CLOCK_MARGIN } from '../../identity/denylist/denylist';
import { AccountStandings, SignInRefused } from '../../identity/tokens/access-tokens';
import { fingerprintFor } from '../../identity/tokens/purpose-tokens';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import type { ClientInfo } from '../../request/http/client-info';
import type { DeviceToken } from '../../request/http/route.interceptor';

/** Returns whether a session may still start, given the password hash that is stored now. */
export type PasswordHashCheck = (passwordHash: string | null) => boolean | Promise<boolean>;

/**
 * Checks whether the tokens of a stored session may be sent.
 *
 * Between the check of a password and the start of the session, the password may be replaced, the user deleted or
 * suspended, and all sessions ended. Such a request first stores its change and then ends the sessions. A login first
 * stores its session and then makes this check. So either the request ends the session, or the check sees the change.
 */
@Injectable()
export class SessionPrecondition {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly standings: AccountStandings,
  ) {}

  /**
   * @param passwordHashCheck omitted when it is enough that the user exists
   * @throws SignInRefused
   */
  async stillValid(userId: string, passwordHashCheck?: PasswordHashCheck): Promise<boolean> {
    const digest = passwordHashCheck ? await this.users.passwordHashOf(userId) : null;
    if (passwordHashCheck && !(await passwordHashCheck(digest))) return false;
    // A user with a password hash exists.
    const standing = await this.standings.of(userId, digest !== null);
    if (standing === 'refused') throw new SignInRefused().withReason('sign_in_refused', userId);
    return standing === 'good';
  }
}

/**
 * Records the password hash of each sign-in that can count as a confirmation (`confirm.afterLogin`, and
 * `features.conditionalCreate` for the first passkey): it does not count any more after a change of the password, also one
 * by code of the host. Without a record, as after a loss of data in the security store, a sign-in does not count.
 */
@Injectable()
export class SignIns {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly store: SecurityStore,
    private readonly realm: Realm,
  ) {}

  /** Records a sign-in; does nothing while neither option needs the record. @throws StoreUnavailable */
  async record(userId: string, familyId: string): Promise<void> {
    const { confirm, features, leeway } = this.realm.options;
    if (!confirm.afterLogin && !features.conditionalCreate) return;
    const fingerprint = fingerprintFor(familyId, await this.users.passwordHashOf(userId));
    await this.store.setMany([keyOf(familyId)], fingerprint, confirm.ttl + leeway + CLOCK_MARGIN);
  }

  /** Whether the password hash that is stored now is that of the sign-in to a session. @throws StoreUnavailable */
  async isCurrent({ userId, familyId }: { userId: string; familyId: string | null }): Promise<boolean> {
    if (familyId === null) return false;
    const [[recorded = null], digest] = await Promise.all([
      this.store.getMany([keyOf(familyId)]),
      this.users.passwordHashOf(userId),
    ]);
    return recorded === fingerprintFor(familyId, digest);
  }
}

/** Session ids are UUIDs, so guards share no key. */
const keyOf = (familyId: string): string => `svc:sign-in:${familyId}`;

/** Whether the user has signed in on a device before. */
export type SignInDevice = 'known' | 'new';

/** A complete sign-in. */
export interface CompleteSignIn {
  readonly userId: string;
  readonly familyId: string;
  readonly client: ClientInfo;
  /** The request of the device; undefined for a session that is not a sign-in, which has no device. */
  readonly request: object | undefined;
}

/** The device of a sign-in. */
export interface RecordedDevice {
  /** Null without a device. */
  readonly device: SignInDevice | null;
  /** The token that the device keeps. */
  readonly deviceToken?: DeviceToken;
}

export const NO_DEVICE: RecordedDevice = { device: null };

/** Records the devices on which users sign in. */
export abstract class SignInDevices {
  /** Called after the session was stored and checked, before its tokens are sent. @throws StoreUnavailable */
  abstract record(signIn: CompleteSignIn): Promise<RecordedDevice>;
}

/** Used when `features.knownDevices` is off: records nothing. */
@Injectable()
export class NoSignInDevices extends SignInDevices {
  async record(): Promise<RecordedDevice> {
    return NO_DEVICE;
  }
}
