import { Injectable, Logger } from '@nestjs/common';
import { bestEffort } from '../../foundation/platform/deadline';
import { PasswordCheck } from '../../identity/password/password-check';
import { PasswordHasher } from '../../identity/password/password-hasher';
import { OptionalText, UsernameField } from '../../request/http/request-body';
import type { GuardServices } from '../../foundation/realm/feature-data';
import { Accounts } from '../sessions/accounts';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { AuthException } from '../../foundation/platform/errors';

/** A verified password, and the hash that it matched. */
export interface VerifiedPassword {
  readonly password: string;
  /** Null when `hooks.authenticate` signs in a user without a stored password. */
  readonly digest: string | null;
}

/** Checks whether a verified password still matches the stored hash. */
@Injectable()
export class PasswordRecheck {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly passwords: PasswordCheck,
  ) {}

  /** Returns the password with the hash that is stored now; null if that hash is of another password. */
  async current(userId: string, verified: VerifiedPassword): Promise<VerifiedPassword | null> {
    const digest = await this.users.passwordHashOf(userId);
    return (await this.stillMatches(verified, digest)) ? { ...verified, digest } : null;
  }

  /**
   * Whether the password matches the stored hash. A different hash does not mean a different password: a concurrent
   * login may have renewed the hash.
   */
  async stillMatches({ password, digest }: VerifiedPassword, stored: string | null): Promise<boolean> {
    return stored === digest || (stored !== null && this.passwords.matches(stored, password));
  }
}

/** The account and the password of a login before the check. */
export interface LoginCandidate {
  /** The user with the identifier, or null. */
  readonly user: object | null;
  readonly userId: string | null;
  readonly digest: string | null;
  readonly password: string;
}

/** The user of a login and the verified password. */
export interface VerifiedCredentials {
  readonly user: object;
  readonly password: VerifiedPassword;
}

/** A login has replaced the hash of a password by another hash of the same password. */
export interface RenewedHash {
  readonly userId: string;
  readonly former: string;
  readonly renewed: string;
}

declare module '../../foundation/realm/feature' {
  interface HookPoints {
    /** Keeps what is bound to the stored password hash. */
    readonly passwordRenewed?: (services: GuardServices, hash: RenewedHash) => Promise<void>;
  }
}

/** Checks an identifier and a password with one look-up and one hash, so the time does not show whether the user exists. */
@Injectable()
export class Credentials {
  private readonly logger = new Logger(Credentials.name);

  constructor(
    private readonly users: TimedUserProvider,
    private readonly passwords: PasswordCheck,
    private readonly hasher: PasswordHasher,
    private readonly recheck: PasswordRecheck,
    private readonly accounts: Accounts,
  ) {}

  /** @throws HasherBusy when the hash queue would refuse a check immediately */
  admit(): void {
    this.passwords.admit();
  }

  /** Looks up the identifier. Returns a candidate without a user for an unknown one. */
  async find({ identifier, password }: LoginRequest): Promise<LoginCandidate> {
    const found = await this.users.findByIdentifier(identifier ?? '');
    const user = found?.user ?? null;
    const userId = user && this.users.idOf(user);
    return { user, userId, digest: found?.passwordHash ?? null, password: password ?? '' };
  }

  /** Returns the user if the password is correct. Also computes a hash for an unknown user. */
  async check({ user, userId, digest, password }: LoginCandidate): Promise<VerifiedCredentials | null> {
    const matches = await this.passwords.matches(digest, password);
    if (user === null || userId === null || digest === null || !matches) return null;
    return { user, password: await this.renewed(userId, digest, password) };
  }

  /**
   * Returns the password and hash for a login by `hooks.authenticate`. It uses the hash that was read before the hook ran,
   * so that a change of the password during the hook also refuses this login.
   */
  async verifiedByHost({ userId, digest, password }: LoginCandidate, verifiedId: string): Promise<VerifiedPassword> {
    if (userId === verifiedId) return { password, digest };
    return { password, digest: await this.users.passwordHashOf(verifiedId) };
  }

  /** Replaces an imported hash, or one with outdated parameters, after the password was verified. */
  private async renewed(userId: string, former: string, password: string): Promise<VerifiedPassword> {
    const verified = { password, digest: former };
    if (!this.hasher.needsRehash(former)) return verified;
    try {
      const digest = await this.hasher.hash(password);
      const isStored = await this.users.savePasswordHash(userId, digest, former);
      if (isStored) {
        await bestEffort('keeping what is bound to a renewed hash', async () => {
          for (const [renew, services] of this.accounts.hooks('passwordRenewed'))
            await renew(services, { userId, former, renewed: digest });
        });
        return { password, digest };
      }
      // A concurrent request has changed the hash. If it is of another password, the former hash is returned: the check
      // before the session starts refuses it.
      return (await this.recheck.current(userId, { password, digest })) ?? verified;
    } catch (error) {
      // The password is correct, so the login continues. A later login can renew the hash.
      this.logger.warn(`a password hash could not be renewed: ${(error as Error).message}`);
      return verified;
    }
  }
}

/** Body of `POST /login`. Absent fields are treated as wrong credentials. */
export class LoginRequest {
  @UsernameField()
  @OptionalText()
  identifier: string | null = null;

  @OptionalText()
  password: string | null = null;

  /** In body mode, the token of a trusted device. */
  @OptionalText()
  trusted_device_token: string | null = null;
}

/** The credentials are wrong: 422, with the same body for an unknown identifier and a wrong password. */
export class WrongCredentials extends AuthException {
  /** @param field the request field of the identifier */
  constructor(field: string) {
    super('wrong_credentials', { status: 422, errors: { [field]: [{ key: 'auth.wrong_credentials' }] } });
  }
}
