import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import type { Reason } from '../../foundation/platform/catalogue';
import { callHost } from '../../foundation/platform/deadline';
import { UserProvider } from '../../foundation/ports/user-provider';
import { blocksUnverified } from '../../identity/users/provider-checks';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { Realm } from '../../foundation/realm/realm';
import { rememberIn } from '../../request/http/request-body';
import type { EnrolmentChallenge, LoginChallenge } from '../../foundation/ports/presenter';
import type { SessionTokens } from '../../request/http/route.interceptor';
import { userLock, LoginLocks } from '../../request/lockout/lockout.store';
import { AttemptGuard, type GuardedAttempt, FailureLimits } from '../../request/lockout/attempt-guard';
import { Sessions } from '../sessions/sessions';
import {
  type LoginCandidate,
  Credentials,
  type LoginRequest,
  PasswordRecheck,
  type VerifiedCredentials,
  WrongCredentials,
} from './credentials';
import { AuthException } from '../../foundation/platform/errors';
import { loginText } from './login.texts';

/** Issues the challenge for a second factor after a correct password. */
export abstract class LoginChallengeIssuer {
  /**
   * Returns the challenge that this user has to complete, or the enrolment of a user who must have a second factor. Null if
   * the password is enough, and for a user who would have to enrol and is blocked: the caller has to ask `UnverifiedBlock`.
   *
   * @param digest the hash that the password matched; the challenge becomes invalid when the hash is replaced
   * @param remember as in `SessionStart`, for the session that completes the challenge
   * @param first the method of the first factor (RFC 8176), if it is not the password
   */
  abstract challengeFor(
    user: object,
    userId: string,
    digest: string | null,
    remember: boolean,
    first?: 'email',
  ): Promise<LoginChallenge | EnrolmentChallenge | null>;

  /**
   * Returns null unless the login comes from a trusted device of this user, which needs no challenge. Otherwise a check
   * whether it is still trusted, for the time when the session is stored.
   *
   * @param sent the field `trusted_device_token` of the body
   */
  abstract trustOf(
    userId: string,
    digest: string | null,
    sent: string | null,
    request: object,
  ): Promise<(() => Promise<boolean>) | null>;
}

/** The answer to a correct password. */
export type LoginAnswer = SessionTokens | LoginChallenge | EnrolmentChallenge;

/** Used when no feature with a second factor is on: issues no challenges. */
@Injectable()
export class NoLoginChallengeIssuer extends LoginChallengeIssuer {
  async challengeFor(): Promise<null> {
    return null;
  }

  async trustOf(): Promise<null> {
    return null;
  }
}

/** The credentials are correct, but the email is not verified and `emailVerification.blockUnverifiedLogin` is on: 403. */
export class UnverifiedLogin extends AuthException {
  constructor() {
    super('unverified_login', { status: 403, text: loginText('auth.unverified_login') });
  }

  /** The request had the right credentials, so it does not count as a failure. */
  override get isInconclusive(): boolean {
    return true;
  }
}

/** Refuses logins of users without a verified email when `emailVerification.blockUnverifiedLogin` is on. */
@Injectable()
export class UnverifiedBlock {
  private readonly isOn: boolean;

  constructor(
    private readonly users: UserProvider,
    private readonly realm: Realm,
  ) {
    this.isOn = blocksUnverified(users, realm.options);
  }

  /** Whether the user has to verify the email first. A state that is not known is no proof. */
  isBlocked(user: object): boolean {
    return this.isOn && this.users.isEmailVerified(user) !== true;
  }

  /**
   * Whether a login with the correct password must be answered as one with a wrong password. Otherwise a login with the
   * password of a registration would show whether the registration created the account.
   */
  isConcealed(user: object): boolean {
    return this.realm.options.registration.concealExisting && this.isBlocked(user);
  }

  /** Called before a session starts, for all login methods. @throws UnverifiedLogin */
  refuse(user: object): void {
    if (this.isBlocked(user)) throw new UnverifiedLogin();
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
    private readonly sessions: Sessions,
    private readonly users: UserProvider,
    private readonly loginChallengeIssuer: LoginChallengeIssuer,
    private readonly unverified: UnverifiedBlock,
    private readonly recheck: PasswordRecheck,
    private readonly realm: Realm,
  ) {}

  /**
   * @throws HasherBusy, AccountIsLocked, TooManyFailures, UnverifiedLogin; WrongCredentials, also when the password was
   * replaced during the login; ValidationFailed
   */
  async attempt(login: LoginRequest, request: object): Promise<LoginAnswer> {
    const remember = rememberIn(request, this.realm.options);
    const { user, password: verified } = await this.attempts.verify(login, request);
    const userId = this.users.idOf(user);
    const { digest } = verified;
    const isTrusted = await this.loginChallengeIssuer.trustOf(userId, digest, login.trusted_device_token, request);
    const challenge = isTrusted ? null : await this.loginChallengeIssuer.challengeFor(user, userId, digest, remember);
    if (challenge) return challenge;
    this.unverified.refuse(user);
    const start = { userId, amr: ['pwd'], request, remember };
    // The end of the trust is stored before the sessions end. So either it ends this session, or this check sees it.
    const stillValid = async (stored: string | null): Promise<boolean> =>
      (await this.recheck.stillMatches(verified, stored)) && (isTrusted === null || isTrusted());
    const tokens = await this.sessions.start(start, stillValid);
    if (!tokens) throw new WrongCredentials(this.realm.options.username);
    return tokens;
  }
}
