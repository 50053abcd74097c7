import { Inject, Injectable, Logger } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { answered } from '../kernel/unavailable';
import { PasswordHasher } from '../password/password-hasher';
import { UserProvider } from '../users/user-provider';
import type { LoginRequest } from './login.request';

/** Checks an identifier and a password in time that depends on neither. */
@Injectable()
export class Credentials {
  private readonly logger = new Logger(Credentials.name);

  constructor(
    private readonly users: UserProvider,
    private readonly hasher: PasswordHasher,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /** The user these credentials belong to, or null. Every call costs one look-up and one hash. */
  async check({ identifier, password }: LoginRequest): Promise<object | null> {
    const found = await this.inTime(this.users.findByIdentifier(identifier ?? ''));
    const matches = await this.hasher.verify(found?.passwordHash ?? null, password ?? '');
    if (!found || !matches) return null;
    await this.renew(found.user, found.passwordHash, password ?? '');
    return found.user;
  }

  /** Replaces a hash made with former parameters, now that the password is known. */
  private async renew(user: object, digest: string | null, password: string): Promise<void> {
    if (digest === null || !this.hasher.needsRehash(digest)) return;
    try {
      await this.inTime(this.users.savePasswordHash(this.users.idOf(user), await this.hasher.hash(password), digest));
    } catch (error) {
      // The password was right: that the better hash has to wait for another login stops nobody.
      this.logger.warn(`a password hash could not be renewed: ${(error as Error).message}`);
    }
  }

  private inTime<T>(work: Promise<T>): Promise<T> {
    return answered('The user store', this.config.storeTimeoutMs, work);
  }
}
