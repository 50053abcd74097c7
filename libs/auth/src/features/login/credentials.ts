import { Injectable, Logger } from '@nestjs/common';
import { PasswordCheck } from '../../identity/password/password-check';
import { PasswordHasher } from '../../identity/password/password-hasher';
import { OptionalText, UsernameField } from '../../request/http/request-body';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { AuthException } from '../../foundation/platform/errors';

/** A password that was right, and the hash that it was right for. */
export interface VerifiedPassword {
  readonly password: string;
  /** Null where the host signs in users who have no password here. */
  readonly digest: string | null;
}

/** Tells whether a password that was right a moment ago still is. */
@Injectable()
export class PasswordRecheck {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly passwords: PasswordCheck,
  ) {}

  /** The same password with the hash that is stored now; null where that is of another one. */
  async current(userId: string, proved: VerifiedPassword): Promise<VerifiedPassword | null> {
    const digest = await this.users.passwordHashOf(userId);
    return (await this.stillMatches(proved, digest)) ? { ...proved, digest } : null;
  }

  /**
   * Whether the password gives the stored hash. Another hash alone says nothing: of parallel logins that renew
   * one, one stores its own.
   */
  async stillMatches({ password, digest }: VerifiedPassword, stored: string | null): Promise<boolean> {
    return stored === digest || (stored !== null && this.passwords.matches(stored, password));
  }
}

/** What a login is about to be checked against. */
export interface LoginCandidate {
  /** The account the identifier names, or null. */
  readonly user: object | null;
  readonly userId: string | null;
  readonly digest: string | null;
  readonly password: string;
}

/** Who signs in, and by what. */
export interface VerifiedCredentials {
  readonly user: object;
  readonly password: VerifiedPassword;
}

/** Checks an identifier and a password in time that depends on neither: one look-up and one hash. */
@Injectable()
export class Credentials {
  private readonly logger = new Logger(Credentials.name);

  constructor(
    private readonly users: TimedUserProvider,
    private readonly passwords: PasswordCheck,
    private readonly hasher: PasswordHasher,
    private readonly recheck: PasswordRecheck,
  ) {}

  /** @throws HasherBusy where a check would be refused at once */
  admit(): void {
    this.passwords.admit();
  }

  /** Looks the identifier up, known or not. */
  async find({ identifier, password }: LoginRequest): Promise<LoginCandidate> {
    const found = await this.users.findByIdentifier(identifier ?? '');
    const user = found?.user ?? null;
    const userId = user && this.users.idOf(user);
    return { user, userId, digest: found?.passwordHash ?? null, password: password ?? '' };
  }

  /** The user, if the password is right. An unknown one costs a hash too. */
  async check({ user, userId, digest, password }: LoginCandidate): Promise<VerifiedCredentials | null> {
    const matches = await this.passwords.matches(digest, password);
    if (user === null || userId === null || digest === null || !matches) return null;
    return { user, password: await this.renewed(userId, digest, password) };
  }

  /**
   * What a login of the host's own stands on: the hash from before the host was asked, so that a password that was
   * replaced meanwhile ends this login, too.
   */
  async verifiedByHost({ userId, digest, password }: LoginCandidate, provedId: string): Promise<VerifiedPassword> {
    if (userId === provedId) return { password, digest };
    return { password, digest: await this.users.passwordHashOf(provedId) };
  }

  /** Replaces a hash of another system or with former parameters, now that the password is known. */
  private async renewed(userId: string, former: string, password: string): Promise<VerifiedPassword> {
    const proved = { password, digest: former };
    if (!this.hasher.needsRehash(former)) return proved;
    try {
      const digest = await this.hasher.hash(password);
      const isStored = await this.users.savePasswordHash(userId, digest, former);
      if (isStored) return { password, digest };
      // Someone was faster. A hash of another password leaves the former one, which opens nothing any more.
      return (await this.recheck.current(userId, { password, digest })) ?? proved;
    } catch (error) {
      // The password was right: that the better hash has to wait for another login stops nobody.
      this.logger.warn(`a password hash could not be renewed: ${(error as Error).message}`);
      return proved;
    }
  }
}

/** Body of `POST /login`. Absent credentials are wrong credentials. */
export class LoginRequest {
  @UsernameField()
  @OptionalText()
  identifier: string | null = null;

  @OptionalText()
  password: string | null = null;
}

/** No account has these credentials: 422, the same for an unknown identifier and a wrong password. */
export class WrongCredentials extends AuthException {
  /** @param field the login field */
  constructor(field: string) {
    super('wrong_credentials', { status: 422, errors: { [field]: [{ key: 'auth.wrong_credentials' }] } });
  }
}
