import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import type { Reason } from '../../foundation/platform/catalogue';
import { callHost } from '../../foundation/platform/deadline';
import { UserProvider } from '../../foundation/ports/user-provider';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { Realm } from '../../foundation/realm/realm';
import { rememberIn } from '../../request/http/request-body';
import type { EnrolmentChallenge, LoginChallenge } from '../../foundation/ports/presenter';
import type { SessionTokens } from '../../request/http/route.interceptor';
import { userLock, LoginLocks } from '../../request/lockout/lockout.store';
import { AttemptGuard, type GuardedAttempt, FailureLimits } from '../../request/lockout/attempt-guard';
import { SignIn, UnverifiedBlock } from '../sessions/sign-in';
import {
  type LoginCandidate,
  Credentials,
  type LoginRequest,
  PasswordRecheck,
  type VerifiedCredentials,
  WrongCredentials,
} from './credentials';

/** The answer to a correct password. */
export type LoginAnswer = SessionTokens | LoginChallenge | EnrolmentChallenge;

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
