import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { answered } from '../kernel/unavailable';
import { UserProvider } from '../users/user-provider';

/** Whether what a session is granted for still holds, given the password hash that is stored now. */
export type Grounds = (passwordHash: string | null) => boolean | Promise<boolean>;

/**
 * Asks of a session that was just stored whether it may go out.
 *
 * Between a right password and the session that it opens, the password may be replaced or the user deleted, and all
 * sessions ended. Whoever does that stores first and sweeps then; a session is stored first and looked into then.
 * So the sweep meets the session, or this look meets what was stored, whatever the order.
 */
@Injectable()
export class SessionGrounds {
  constructor(
    private readonly users: UserProvider,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /** @param grounds left out where the user's being there is enough */
  async hold(userId: string, grounds?: Grounds): Promise<boolean> {
    const digest = grounds ? await this.inTime(this.users.passwordHashOf(userId)) : null;
    if (grounds && !(await grounds(digest))) return false;
    // Who has a password hash is there.
    return digest !== null || (await this.inTime(this.users.findById(userId))) !== null;
  }

  private inTime<T>(work: Promise<T>): Promise<T> {
    return answered('The user store', this.config.storeTimeoutMs, work);
  }
}
