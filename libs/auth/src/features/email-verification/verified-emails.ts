import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Clock } from '../../foundation/platform/clock';
import { bestEffort } from '../../foundation/platform/deadline';
import { Realm } from '../../foundation/realm/realm';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { AccountLockout } from '../../request/lockout/lockout';
import { loginLock } from '../../request/lockout/lockout.store';

/**
 * A user verified the email address. Emitted once per address.
 *
 * @publicApi
 */
export class Verified {
  /** @param user the user as read before the verification */
  constructor(readonly user: object) {}
}

/** Reads and records which email addresses are verified. */
export abstract class VerifiedEmails {
  /** Whether the user's email address still has to be verified, according to this user object. True if it is not known. */
  abstract isMissing(user: object): boolean;

  /** Whether security mails can go to the user's address: it is verified, or the user store cannot record it. */
  abstract isProved(user: object): boolean;

  /** Marks the address as verified if it is still the user's address and was not verified. Returns whether it did so. */
  abstract record(user: object, email: string): Promise<boolean>;
}

/** Reads and records verified addresses in the user store of the realm. */
@Injectable()
export class StoredVerifiedEmails extends VerifiedEmails {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly events: AuthEvents,
    private readonly clock: Clock,
    private readonly lockout: AccountLockout,
    private readonly realm: Realm,
  ) {
    super();
  }

  isMissing(user: object): boolean {
    return this.users.isEmailVerified(user) !== true;
  }

  isProved(user: object): boolean {
    return !this.users.verifiesEmails() || !this.isMissing(user);
  }

  async record(user: object, email: string): Promise<boolean> {
    const changed = await this.users.markEmailVerified(this.users.idOf(user), email, new Date(this.clock.now()));
    if (!changed) return false;
    this.events.emit(new Verified(user));
    await this.release(email);
    return true;
  }

  /** The failures of a concealed account count for its email until it is verified, and for its id afterwards. */
  private async release(email: string): Promise<void> {
    if (!this.realm.options.registration.concealExisting) return;
    const key = loginLock(null, this.users.spellingOf(email));
    await bestEffort('releasing the lock of a verified email', this.lockout.release([key]));
  }
}

/** Used when `features.emailVerification` is off: no address needs a verification. */
@Injectable()
export class NoVerifiedEmails extends VerifiedEmails {
  isMissing(): boolean {
    return false;
  }

  isProved(): boolean {
    return true;
  }

  async record(): Promise<boolean> {
    return false;
  }
}
