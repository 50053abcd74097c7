import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { newSecret, sha256 } from '../kernel/secrets';
import { answered } from '../kernel/unavailable';
import { UserProvider } from '../users/user-provider';
import { ResetTokenStore } from './reset-token.store';

/** An account that may have its password reset. */
export interface ResetAccount {
  readonly user: object;
  readonly userId: string;
  /** The address as it is stored, which may be spelled otherwise than it was given. */
  readonly email: string;
}

/** Secrets that reset one password, once. At rest there are only their hashes. */
@Injectable()
export class ResetTokens {
  constructor(
    private readonly users: UserProvider,
    private readonly store: ResetTokenStore,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  async accountOf(address: string): Promise<ResetAccount | null> {
    const user = await answered('The user store', this.config.storeTimeoutMs, this.users.findByEmail(address));
    const email = user && this.users.emailOf(user);
    return user && email ? { user, userId: this.users.idOf(user), email } : null;
  }

  /** A new token; null where the account was given one just now. */
  async issue(account: ResetAccount): Promise<string | null> {
    const token = newSecret();
    return (await this.store.issue(claim(account, token))) ? token : null;
  }

  /** The account that the token resets, now that it is used up. The same work for an address without one. */
  async redeem(address: string, token: string): Promise<ResetAccount | null> {
    const account = await this.accountOf(address);
    const redeemed = await this.store.redeem(claim(account ?? { userId: '', email: address }, token));
    return redeemed ? account : null;
  }
}

const claim = ({ userId, email }: Omit<ResetAccount, 'user'>, token: string) => ({
  userId,
  emailHash: sha256(email),
  tokenHash: sha256(token),
});
