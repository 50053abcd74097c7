import { Injectable } from '@nestjs/common';
import { AuthConfigError, StoreUnavailable } from '../../foundation/platform/errors';
import { Encryption } from '../../foundation/platform/crypto';
import { Realm } from '../../foundation/realm/realm';
import { NO_SECOND_FACTOR, type StoredSecondFactor } from '../../foundation/ports/user-provider';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** Maximum number of attempts to change a second factor while concurrent requests change it. */
const MAX_ATTEMPTS = 100;

/** Reads and changes the stored second factors of the realm's users. */
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
   * Changes a second factor depending on its current state. When a concurrent request has changed it, `change` is called
   * again with the new state, so no change is based on an outdated state.
   *
   * @param change returns the new state; null makes no change
   * @returns the new state; null if nothing was changed or the user does not exist
   * @throws StoreUnavailable
   */
  async change(
    userId: string,
    change: (current: StoredSecondFactor) => StoredSecondFactor | null,
  ): Promise<StoredSecondFactor | null> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const current = await this.users.secondFactorOf(userId);
      // Also ends the loop for a user that does not exist.
      const next = current && change(current);
      if (!next || (await this.users.replaceSecondFactor(userId, current, next))) return next;
    }
    throw new StoreUnavailable('The user store');
  }

  encrypted(userId: string, secret: string): string {
    return this.encryption.encrypt(Buffer.from(secret), contextOf(userId));
  }

  /** Returns the TOTP secret in base32; null if there is none or it cannot be decrypted. */
  secretOf(userId: string, { secret }: StoredSecondFactor): string | null {
    return (secret && this.encryption.decrypt(secret, contextOf(userId))?.toString()) || null;
  }
}

export const isEnabled = ({ secret, confirmedAt }: StoredSecondFactor): boolean =>
  secret !== null && confirmedAt !== null;

// Without the guard, because guards that share a user table share its second factors.
const contextOf = (userId: string): string => `two-factor:${userId}`;
