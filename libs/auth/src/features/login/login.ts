import { Injectable, Logger } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import type { Reason } from '../../foundation/platform/catalogue';
import { bestEffort, callHost } from '../../foundation/platform/deadline';
import { UserProvider } from '../../foundation/ports/user-provider';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import type { GuardServices } from '../../foundation/realm/feature-data';
import { Realm } from '../../foundation/realm/realm';
import { OptionalText, UsernameField, rememberIn } from '../../request/http/request-body';
import type { EnrolmentChallenge, LoginChallenge } from '../../foundation/ports/presenter';
import type { SessionTokens } from '../../request/http/route-answer';
import { userLock, LoginLocks } from '../../request/lockout/lockout.store';
import { AttemptGuard, type GuardedAttempt, FailureLimits } from '../../request/lockout/attempt-guard';
import { Accounts } from '../sessions/accounts';
import { SignIn, UnverifiedBlock } from '../sessions/sign-in';
import { PasswordCheck } from '../../identity/password/password-check';
import { PasswordHasher } from '../../identity/password/password-hasher';
import { AuthException } from '../../foundation/platform/errors';
import { loginText } from './login.texts';

/** The answer to a correct password. */
export type LoginAnswer = SessionTokens | LoginChallenge | EnrolmentChallenge;

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
      const digest = await this.passwords.hashAgain(former, password);
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
}

/** The credentials are wrong: 422, with the same body for an unknown identifier and a wrong password. */
export class WrongCredentials extends AuthException {
  /** @param field the request field of the identifier */
  constructor(field: string) {
    super('wrong_credentials', { status: 422, errors: { [field]: [loginText('auth.wrong_credentials')] } });
  }
}

/**
 * The limit on failed logins refused an attempt. The event of the persistent lockout is `AccountLocked`.
 *
 * @publicApi
 */
export class Lockout {
  /** @param request the request that was refused; a `ServerRequest` for a server call */
  constructor(readonly request: object) {}
}

/** Checks credentials, protected by the lockout and the limits on failures. */
@Injectable()
export class LoginAttempts {
  constructor(
    private readonly credentials: Credentials,
    private readonly attempts: AttemptGuard,
    private readonly limits: FailureLimits,
    private readonly locks: LoginLocks,
    private readonly unverified: UnverifiedBlock,
    private readonly users: TimedUserProvider,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {}

  /**
   * Returns the user with these credentials, and clears the user's failure counters.
   *
   * @throws HasherBusy, AccountIsLocked, TooManyFailures, WrongCredentials
   */
  async verify(login: LoginRequest, request: object): Promise<VerifiedCredentials> {
    const { username: field } = this.realm.options;
    const identifier = login.identifier ?? '';
    // Before any query to a store, so that refusing a flood of requests costs little.
    if (!this.realm.options.hooks.authenticate) this.credentials.admit();
    const candidate = await this.credentials.find(login);
    const lock = this.locks.of(identifier, candidate.userId);
    const attempt: GuardedAttempt<VerifiedCredentials> = {
      lock,
      limits: this.limits.ofLogin(lock, request),
      field,
      // `hooks.authenticate` may sign in a user whose identifier is unknown here. Another user may have caused the failures
      // that this spelling has counted, so the limits, which decay, keep them. The lock does not decay: without a release,
      // the failures of years would lock out the owner of the spelling.
      onSuccess: candidate.userId === null ? 'undone' : 'succeeded',
      onLimit: () => this.events.emit(new Lockout(request)),
      released: ({ user }) => [lock, ...this.locks.ofUser(user), userLock('confirm', this.users.idOf(user))],
    };
    let reason = this.reason(candidate);
    const verified = await this.attempts.run(attempt, async () => {
      const found = await this.authenticate(candidate, request);
      if (!found || !this.unverified.isConcealed(found.user)) return found;
      reason = 'unverified_login';
      return null;
    });
    if (!verified) throw new WrongCredentials(field).withReason(reason, candidate.userId);
    return verified;
  }

  private reason({ userId }: LoginCandidate): Reason {
    if (this.realm.options.hooks.authenticate) return 'wrong_credentials';
    return userId === null ? 'unknown_user' : 'wrong_password';
  }

  private async authenticate(loginCandidate: LoginCandidate, request: object): Promise<VerifiedCredentials | null> {
    const { authenticate } = this.realm.options.hooks;
    if (!authenticate) return this.credentials.check(loginCandidate);
    const user = await callHost('hooks.authenticate', () => authenticate(request, { guard: this.realm.guard }));
    // A success clears the counters of the account with the submitted identifier. So the host must return that account:
    // otherwise a user could clear the counters of another account.
    if (!user) return null;
    const userId = this.users.idOf(user);
    if (loginCandidate.userId !== null && loginCandidate.userId !== userId) return null;
    return { user, password: await this.credentials.verifiedByHost(loginCandidate, userId) };
  }
}

/** Signs a user in (`POST /login`): returns the tokens of a session, or a challenge for the second factor. */
@Injectable()
export class Login {
  constructor(
    private readonly attempts: LoginAttempts,
    private readonly signIn: SignIn,
    private readonly users: UserProvider,
    private readonly recheck: PasswordRecheck,
    private readonly realm: Realm,
  ) {}

  /**
   * @throws HasherBusy, AccountIsLocked, TooManyFailures, UnverifiedLogin, SignInRefused; WrongCredentials, also when the password
   * was replaced during the login; ValidationFailed
   */
  async attempt(login: LoginRequest, request: object): Promise<LoginAnswer> {
    const remember = rememberIn(request, this.realm.options);
    const { user, password: verified } = await this.attempts.verify(login, request);
    const { digest } = verified;
    const admitted = await this.signIn.admit({ user, userId: this.users.idOf(user), digest, trustIn: request });
    const answer = await this.signIn.complete(admitted, { methods: ['pwd'], request, remember }, (stored) =>
      this.recheck.stillMatches(verified, stored),
    );
    if (!answer) throw new WrongCredentials(this.realm.options.username);
    return answer;
  }
}
