import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../kernel/auth-events';
import { AccountLockout } from '../lockout/account-lockout';
import { loginLock, userLock } from '../lockout/lock-key';
import type { Reason } from '../observability/reasons';
import { Realm } from '../realm/realm';
import { FailureLimiter } from '../throttling/failure-limiter';
import { FailureLimits } from '../throttling/failure-limits';
import { TooManyFailures } from '../throttling/too-many-failures.exception';
import { UserProvider } from '../users/user-provider';
import { type Candidate, Credentials, type Verified } from './credentials';
import { Lockout } from './lockout.event';
import type { LoginRequest } from './login.request';
import { WrongCredentials } from './wrong-credentials.exception';

/** Checks credentials within the lockout and the limits on failures. */
@Injectable()
export class LoginAttempts {
  constructor(
    private readonly credentials: Credentials,
    private readonly lockout: AccountLockout,
    private readonly failures: FailureLimiter,
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
  async verify(login: LoginRequest, request: object): Promise<Verified> {
    const { username: field } = this.realm.options;
    const identifier = login.identifier ?? '';
    // Before any store is asked: what a flood is refused for is to cost next to nothing.
    if (!this.realm.options.hooks.authenticate) this.credentials.admit();
    const candidate = await this.credentials.find(login);
    const lock = loginLock(candidate.userId, identifier);

    // The lock first: "try again in a minute" would be a lie to someone who is locked out.
    await this.lockout.refuseLocked(lock, field);
    const verified = await this.failures.attempt(
      this.limits.ofLogin(identifier, request),
      () => this.lockout.attempt(lock, field, () => this.authenticate(candidate, request)),
      (seconds) => this.refusal(field, seconds, request),
      this.limits.clearedBy(identifier) ? 'succeeded' : 'undone',
    );
    if (!verified) throw new WrongCredentials(field).because(this.reason(candidate), candidate.userId);
    const userId = this.users.idOf(verified.user);
    await this.lockout.release([lock, loginLock(userId, identifier), userLock('confirm', userId)]);
    return verified;
  }

  private reason({ userId }: Candidate): Reason {
    if (this.realm.options.hooks.authenticate) return 'wrong_credentials';
    return userId === null ? 'unknown_user' : 'wrong_password';
  }

  private async authenticate(candidate: Candidate, request: object): Promise<Verified | null> {
    const { authenticate } = this.realm.options.hooks;
    if (!authenticate) return this.credentials.check(candidate);
    const user = await authenticate(request, { guard: this.realm.guard });
    // A success clears the counters of the account that was named; nobody clears another's with a login of their own.
    if (!user) return null;
    const userId = this.users.idOf(user);
    if (candidate.userId !== null && candidate.userId !== userId) return null;
    return { user, proved: await this.credentials.provedByHost(candidate, userId) };
  }

  private refusal(field: string, seconds: number, request: object): Error {
    this.events.emit(new Lockout(request));
    return new TooManyFailures(field, seconds);
  }
}
