import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { answered } from '../kernel/unavailable';
import { PasswordCheck } from '../password/password-check';
import { UserProvider } from '../users/user-provider';

/** A password that was right, and the hash that it was right for. */
export interface ProvedPassword {
  readonly password: string;
  /** Null where the host signs in users who have no password here. */
  readonly digest: string | null;
}

/** Tells whether a password that was right a moment ago still is. */
@Injectable()
export class StandingPassword {
  constructor(
    private readonly users: UserProvider,
    private readonly passwords: PasswordCheck,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /** The same password with the hash that is stored now; null where that is of another one. */
  async now(userId: string, proved: ProvedPassword): Promise<ProvedPassword | null> {
    const digest = await answered('The user store', this.config.storeTimeoutMs, this.users.passwordHashOf(userId));
    return (await this.holds(proved, digest)) ? { ...proved, digest } : null;
  }

  /**
   * Whether the password gives the stored hash. Another hash alone says nothing: of parallel logins that renew
   * one, one stores its own.
   */
  async holds({ password, digest }: ProvedPassword, stored: string | null): Promise<boolean> {
    return stored === digest || (stored !== null && this.passwords.matches(stored, password));
  }
}
