import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import type { Reason } from '../../foundation/platform/catalogue';
import { UserProvider } from '../../foundation/ports/user-provider';
import { Realm } from '../../foundation/realm/realm';
import { clientInfo } from '../../request/throttling/clients';
import type { LoginChallenge, SessionTokens } from '../../request/http/route.interceptor';
import { loginLock, userLock } from '../../request/lockout/lockout.store';
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

/** What may stand between a right password and a session. */
export abstract class LoginChallengeIssuer {
  /**
   * The challenge this user has to complete, or null where the password is enough.
   *
   * @param digest the hash that the password was right for: once it is replaced, the challenge is none any more
   */
  abstract challengeFor(user: object, userId: string, digest: string | null): Promise<LoginChallenge | null>;
}

/** Stands in where no second factor is switched on. */
@Injectable()
export class NoLoginChallengeIssuer extends LoginChallengeIssuer {
  async challengeFor(): Promise<null> {
    return null;
  }
}

/** The credentials are right, but the account's email is not verified and `blockUnverifiedLogin` is on: 403. */
export class UnverifiedLogin extends AuthException {
  constructor() {
    super('unverified_login', { status: 403, text: { key: 'auth.unverified_login' } });
  }

  /** Whoever gets here guessed nothing. */
  override get isInconclusive(): boolean {
    return true;
  }
}

/** Keeps users without a verified email from signing in, where `emailVerification.blockUnverifiedLogin` says so. */
@Injectable()
export class UnverifiedBlock {
  constructor(
    private readonly users: UserProvider,
    private readonly realm: Realm,
  ) {}

  /** Whether the user has to verify the email first. Users that know no verification pass. */
  isBlocked(user: object): boolean {
    const { blockUnverifiedLogin } = this.realm.options.emailVerification;
    return blockUnverifiedLogin && this.users.isEmailVerified(user) === false;
  }

  /** For the moment before a session starts, whatever the user signed in with. @throws UnverifiedLogin */
  refuse(user: object): void {
    if (this.isBlocked(user)) throw new UnverifiedLogin();
  }
}

/**
 * The limit on failed logins refused an attempt. Not the persistent lockout: that is `AccountLocked`.
 *
 * @publicApi
 */
export class Lockout {
  /** @param request the HTTP request that was refused */
  constructor(readonly request: object) {}
}

/** Checks credentials within the lockout and the limits on failures. */
@Injectable()
export class LoginAttempts {
  constructor(
    private readonly credentials: Credentials,
    private readonly attempts: AttemptGuard,
    private readonly limits: FailureLimits,
    private readonly users: UserProvider,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {}

  /**
   * The user with these credentials, whose counters are cleared.
   *
   * @throws HasherBusy, AccountIsLocked, TooManyFailures, WrongCredentials
   */
  async verify(login: LoginRequest, request: object): Promise<VerifiedCredentials> {
    const { username: field } = this.realm.options;
    const identifier = login.identifier ?? '';
    // Before any store is asked: what a flood is refused for is to cost next to nothing.
    if (!this.realm.options.hooks.authenticate) this.credentials.admit();
    const candidate = await this.credentials.find(login);
    const lock = loginLock(candidate.userId, identifier);
    const attempt: GuardedAttempt<VerifiedCredentials> = {
      lock,
      limits: this.limits.ofLogin(identifier, request),
      field,
      onSuccess: this.limits.clearedBy(identifier) ? 'succeeded' : 'undone',
      onLimit: () => this.events.emit(new Lockout(request)),
      released: ({ user }) => {
        const userId = this.users.idOf(user);
        return [lock, loginLock(userId, identifier), userLock('confirm', userId)];
      },
    };
    const verified = await this.attempts.run(attempt, () => this.authenticate(candidate, request));
    if (!verified) throw new WrongCredentials(field).withReason(this.reason(candidate), candidate.userId);
    return verified;
  }

  private reason({ userId }: LoginCandidate): Reason {
    if (this.realm.options.hooks.authenticate) return 'wrong_credentials';
    return userId === null ? 'unknown_user' : 'wrong_password';
  }

  private async authenticate(loginCandidate: LoginCandidate, request: object): Promise<VerifiedCredentials | null> {
    const { authenticate } = this.realm.options.hooks;
    if (!authenticate) return this.credentials.check(loginCandidate);
    const user = await authenticate(request, { guard: this.realm.guard });
    // A success clears the counters of the account that was named; nobody clears another's with a login of their own.
    if (!user) return null;
    const userId = this.users.idOf(user);
    if (loginCandidate.userId !== null && loginCandidate.userId !== userId) return null;
    return { user, password: await this.credentials.verifiedByHost(loginCandidate, userId) };
  }
}

/** `POST /login`: from credentials to a session, or to a challenge for the second factor. */
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

  /** @throws AccountIsLocked, TooManyFailures, WrongCredentials, also for a password replaced meanwhile; UnverifiedLogin */
  async attempt(login: LoginRequest, request: object): Promise<SessionTokens | LoginChallenge> {
    const { user, password: proved } = await this.attempts.verify(login, request);
    const userId = this.users.idOf(user);
    const challenge = await this.loginChallengeIssuer.challengeFor(user, userId, proved.digest);
    if (challenge) return challenge;
    this.unverified.refuse(user);
    const start = { userId, amr: ['pwd'], client: clientInfo(request) };
    const tokens = await this.sessions.start(start, (stored) => this.recheck.stillMatches(proved, stored));
    if (!tokens) throw new WrongCredentials(this.realm.options.username);
    return tokens;
  }
}
