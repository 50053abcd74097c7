import { Inject, Injectable, Logger } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { answered } from '../kernel/unavailable';
import { PasswordCheck } from '../password/password-check';
import { PasswordHasher } from '../password/password-hasher';
import { UserProvider } from '../users/user-provider';
import type { LoginRequest } from './login.request';

/** What a login is about to be checked against. */
export interface Candidate {
  /** The account the identifier names, or null. */
  readonly user: object | null;
  readonly userId: string | null;
  readonly digest: string | null;
  readonly password: string;
}

/** Checks an identifier and a password in time that depends on neither: one look-up and one hash. */
@Injectable()
export class Credentials {
  private readonly logger = new Logger(Credentials.name);

  constructor(
    private readonly users: UserProvider,
    private readonly passwords: PasswordCheck,
    private readonly hasher: PasswordHasher,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /** Looks the identifier up, known or not. */
  async find({ identifier, password }: LoginRequest): Promise<Candidate> {
    const found = await this.inTime(this.users.findByIdentifier(identifier ?? ''));
    const user = found?.user ?? null;
    const userId = user && this.users.idOf(user);
    return { user, userId, digest: found?.passwordHash ?? null, password: password ?? '' };
  }

  /** The user, if the password is right. An unknown one costs a hash too. */
  async check({ user, userId, digest, password }: Candidate): Promise<object | null> {
    const matches = await this.passwords.matches(digest, password);
    if (user === null || userId === null || !matches) return null;
    await this.renew(userId, digest, password);
    return user;
  }

  /** Replaces a hash of another system or with former parameters, now that the password is known. */
  private async renew(userId: string, digest: string | null, password: string): Promise<void> {
    if (digest === null || !this.hasher.needsRehash(digest)) return;
    try {
      await this.inTime(this.users.savePasswordHash(userId, await this.hasher.hash(password), digest));
    } catch (error) {
      // The password was right: that the better hash has to wait for another login stops nobody.
      this.logger.warn(`a password hash could not be renewed: ${(error as Error).message}`);
    }
  }

  private inTime<T>(work: Promise<T>): Promise<T> {
    return answered('The user store', this.config.storeTimeoutMs, work);
  }
}
