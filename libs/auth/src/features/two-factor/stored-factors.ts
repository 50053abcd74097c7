import { Injectable } from '@nestjs/common';
import { AuthConfigError, StoreUnavailable } from '../../foundation/platform/errors';
import { Encryption } from '../../foundation/platform/crypto';
import { Realm } from '../../foundation/realm/realm';
import { NO_SECOND_FACTOR, type StoredSecondFactor } from '../../foundation/ports/user-provider';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** Changes of one user that overtake another one before it is given up. */
const MOST_ATTEMPTS = 100;

/** The second factors of the realm's users as they are stored. */
@Injectable()
export class SecondFactors {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly encryption: Encryption,
    realm: Realm,
  ) {
    if (users.storesSecondFactors()) return;
    throw new AuthConfigError(
      `features.twoFactor is on, but the users of the guard "${realm.guard}" store no second factor. Extend ` +
        'withTwoFactorColumns(withAuthColumns()) and run addTwoFactorColumns(), or implement ' +
        'storesSecondFactors, secondFactorOf and replaceSecondFactor in your UserProvider.',
    );
  }

  async read(userId: string): Promise<StoredSecondFactor> {
    return (await this.users.secondFactorOf(userId)) ?? NO_SECOND_FACTOR;
  }

  /**
   * Changes a second factor by what it is now: asked again whenever someone else was faster, so that no change
   * is made on a state that is over.
   *
   * @param change what it becomes; null leaves it as it is
   * @returns what it became; null where it was left, or the user is gone
   * @throws StoreUnavailable
   */
  async change(
    userId: string,
    change: (current: StoredSecondFactor) => StoredSecondFactor | null,
  ): Promise<StoredSecondFactor | null> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const current = await this.users.secondFactorOf(userId);
      // Of a user who is gone there is nothing to change, however often it is tried.
      const next = current && change(current);
      if (!next || (await this.users.replaceSecondFactor(userId, current, next))) return next;
    }
    throw new StoreUnavailable('The user store');
  }

  encrypted(userId: string, secret: string): string {
    return this.encryption.encrypt(Buffer.from(secret), contextOf(userId));
  }

  /** The TOTP secret in base32; null where there is none, or none that can be read. */
  secretOf(userId: string, { secret }: StoredSecondFactor): string | null {
    return (secret && this.encryption.decrypt(secret, contextOf(userId))?.toString()) || null;
  }
}

export const isEnabled = ({ secret, confirmedAt }: StoredSecondFactor): boolean =>
  secret !== null && confirmedAt !== null;

// Without the guard: guards that share a table share its second factors.
const contextOf = (userId: string): string => `two-factor:${userId}`;
