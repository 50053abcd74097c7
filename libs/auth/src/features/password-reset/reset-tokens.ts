import { Injectable } from '@nestjs/common';
import { newSecret, sha256 } from '../../foundation/platform/crypto';
import { ResetTokenStore } from './reset-token.store';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** An account that may have its password reset. */
export interface ResetAccount {
  readonly user: object;
  readonly userId: string;
  /** The address as it is stored, which may be spelled otherwise than it was given. */
  readonly email: string;
  /** What its user signs in with: the email, or something else. */
  readonly identifier: string | null;
}

/** A token that was used up, and the account that it resets. */
export interface Redeemed {
  readonly account: ResetAccount;
  /** Takes the use back. */
  readonly restore: () => Promise<void>;
}

/** Secrets that reset one password, once. At rest there are only their hashes. */
@Injectable()
export class ResetTokens {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly store: ResetTokenStore,
  ) {}

  async accountOf(address: string): Promise<ResetAccount | null> {
    const user = await this.users.findByEmail(address);
    const email = user && this.users.emailOf(user);
    if (!user || !email) return null;
    return { user, userId: this.users.idOf(user), email, identifier: this.users.identifierOf(user) };
  }

  /** A new token; null where the account was given one just now. */
  async issue(account: ResetAccount): Promise<string | null> {
    const token = newSecret();
    return (await this.store.issue(claim(account, token))) ? token : null;
  }

  /** Uses a token up; null for one that resets nothing. The same work for an address without an account. */
  async redeem(address: string, token: string): Promise<Redeemed | null> {
    const account = await this.accountOf(address);
    const claimed = claim(account ?? { userId: '', email: address }, token);
    const madeAt = await this.store.redeem(claimed);
    return account && madeAt !== null ? { account, restore: () => this.store.restore(claimed, madeAt) } : null;
  }
}

const claim = ({ userId, email }: Pick<ResetAccount, 'userId' | 'email'>, token: string) => ({
  userId,
  emailHash: sha256(email),
  tokenHash: sha256(token),
});
