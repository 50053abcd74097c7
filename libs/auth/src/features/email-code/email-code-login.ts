import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { newSecret } from '../../foundation/platform/crypto';
import { valueIf } from '../../foundation/platform/deadline';
import { AuthException } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import { PasswordHasher } from '../../identity/password/password-hasher';
import { AccountStandings } from '../../identity/tokens/access-tokens';
import type { PurposeClaims } from '../../identity/tokens/purpose-token.policy';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { EmailCodeCookie } from '../../request/http/refresh-cookie';
import { OptionalText, rememberIn } from '../../request/http/request-body';
import {
  AttemptGuard,
  FailureLimiter,
  FailureLimits,
  type GuardedAttempt,
  afterProof,
} from '../../request/lockout/attempt-guard';
import { type LockKey, lockedUserId, LoginLocks } from '../../request/lockout/lockout.store';
import { VerifiedEmails } from '../email-verification/verified-emails';
import { Lockout, type LoginAnswer, LoginChallengeIssuer, UnverifiedBlock } from '../login/login';
import { PasswordReplacement } from '../login/password-replacement';
import { PasswordReset, ResetCleanup } from '../password-reset/password-reset';
import type { ResetAccount } from '../password-reset/reset-token.store';
import { Sessions } from '../sessions/sessions';
import { EmailCodeRequests } from './email-code-requests';
import { EmailCodes, type OpenRequest } from './email-codes';

/** The account of a consumed code. */
interface ProvedAccount {
  readonly account: ResetAccount;
  readonly digest: string | null;
  readonly claims: PurposeClaims;
  /** The hash that replaces the password of an {@link UnprovedAccounts unproved account}; null for any other account. */
  readonly unusable: string | null;
}

/**
 * Gives an account whose address no person has proved to the owner of the address. Another person may have registered it: the
 * password, the sessions and the factors may belong to that person.
 */
@Injectable()
export class UnprovedAccounts {
  constructor(
    private readonly verifiedEmails: VerifiedEmails,
    private readonly users: TimedUserProvider,
    private readonly hasher: PasswordHasher,
    private readonly replacement: PasswordReplacement,
    private readonly cleanup: ResetCleanup,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {}

  /** Whether no person has proved the address of the user, and one can. */
  async has(user: object): Promise<boolean> {
    return !(await this.verifiedEmails.isProved(user));
  }

  /** A hash that replaces a password, of a password that is not known to any person. @throws HasherBusy */
  unusableHash(): Promise<string> {
    return this.hasher.hash(newSecret());
  }

  /**
   * Ends the sessions, removes the second factors and passkeys, replaces the password, and marks the address as verified.
   *
   * @param digest the stored hash; null for a user without a password, who gets none
   * @param unusable the hash that replaces it
   * @returns false if the password was replaced in the meantime
   */
  async take(account: ResetAccount, digest: string | null, unusable: string): Promise<boolean> {
    const { userId, user } = account;
    const endSessions = (): Promise<void> => this.cleanup.run(account, { revokeSessions: true });
    const finish = (): Promise<void> => this.cleanup.recordPerson(account);
    if (digest === null) {
      await endSessions();
      // A session may have set a first password until it ended. It must not become valid.
      if ((await this.users.passwordHashOf(userId)) !== null) return false;
      await finish();
      return true;
    }
    const undo = (): Promise<unknown> => this.users.savePasswordHash(userId, digest, unusable);
    const isMade = await this.replacement.replace({ userId, digest: unusable, replacing: digest, endSessions, undo });
    if (!isMade) return false;
    // Last, and not undone: the former password must not be restored in an account whose address may be verified.
    this.events.emit(new PasswordReset(user, this.realm.guard));
    await finish();
    return true;
  }
}

/** Checks codes, protected by the lockout and the limits of logins. */
@Injectable()
export class EmailCodeAttempts {
  constructor(
    private readonly codes: EmailCodes,
    private readonly requests: EmailCodeRequests,
    private readonly attempts: AttemptGuard,
    private readonly guesses: FailureLimiter,
    private readonly limits: FailureLimits,
    private readonly locks: LoginLocks,
    private readonly users: TimedUserProvider,
    private readonly unproved: UnprovedAccounts,
    private readonly unverified: UnverifiedBlock,
    private readonly standings: AccountStandings,
    private readonly events: AuthEvents,
  ) {}

  /**
   * Verifies and consumes a code, and clears the failure counters of the user. A request without an account is counted in the
   * same way, and does the same work for a wrong code.
   *
   * @throws WrongEmailCode, AccountIsLocked, TooManyFailures, UnverifiedLogin, SignInRefused, StoreUnavailable
   */
  async verify(token: string, code: string, request: object): Promise<ProvedAccount> {
    const open = await this.codes.find(token);
    if (!open) throw new WrongEmailCode();
    const lock: LockKey = { purpose: 'login', subject: await this.requests.subjectFor(open) };
    const attempt: GuardedAttempt<ProvedAccount> = {
      lock,
      limits: this.limits.ofLogin(lock, request),
      field: 'code',
      onLimit: () => this.events.emit(new Lockout(request)),
      released: ({ account }) => [lock, ...this.locks.ofUser(account.user)],
    };
    const proved = await this.attempts.run(attempt, () => this.redeem(token, open, code));
    if (!proved) throw new WrongEmailCode().withReason('wrong_email_code', lockedUserId(lock));
    return proved;
  }

  /** Returns null for a guess, also for one after the last admitted one. Only wrong codes use up the guesses of a request. */
  private async redeem(token: string, open: OpenRequest, code: string): Promise<ProvedAccount | null> {
    const usedUp = new WrongEmailCode();
    const use = async (): Promise<ProvedAccount | null> =>
      open.matches(code) ? afterProof(() => this.use(token, open)) : null;
    return this.guesses
      .attempt(this.codes.guessesOf(token), use, () => usedUp, 'undone')
      .catch(valueIf((error) => error === usedUp, null));
  }

  /** Consumes the code of a request. @throws WrongEmailCode for a correct code that is not valid any more */
  private async use(token: string, open: OpenRequest): Promise<ProvedAccount> {
    const claims = await this.codes.claimsOf(open);
    const user = claims && (await this.users.findById(claims.sub));
    const email = user && this.users.emailOf(user);
    if (!user || !email) throw new WrongEmailCode();
    const digest = await this.users.passwordHashOf(claims.sub);
    if (!this.codes.isCurrent(claims, { digest, email })) throw new WrongEmailCode();
    const isUnproved = await this.unproved.has(user);
    // Before the code is consumed: a refused user can use it later.
    if (!isUnproved) this.unverified.refuse(user);
    await this.standings.refuse(claims.sub);
    const unusable = isUnproved ? await this.unproved.unusableHash() : null;
    if (!(await this.codes.consume(token))) throw new WrongEmailCode();
    const account = { user, userId: claims.sub, email, identifier: this.users.identifierOf(user) };
    return { account, digest, claims, unusable };
  }
}

/** Signs a user in with a mailed code (`POST /login/code/verify`), or returns a challenge for the second factor. */
@Injectable()
export class EmailCodeLogin {
  constructor(
    private readonly attempts: EmailCodeAttempts,
    private readonly codes: EmailCodes,
    private readonly cookie: EmailCodeCookie,
    private readonly users: TimedUserProvider,
    private readonly unproved: UnprovedAccounts,
    private readonly unverified: UnverifiedBlock,
    private readonly challengeIssuer: LoginChallengeIssuer,
    private readonly sessions: Sessions,
    private readonly realm: Realm,
  ) {}

  /**
   * @throws WrongEmailCode, AccountIsLocked, TooManyFailures, UnverifiedLogin, SignInRefused, HasherBusy, StoreUnavailable;
   * ValidationFailed before the code is used
   */
  async attempt(body: CodeAnswer, request: object): Promise<LoginAnswer> {
    const remember = rememberIn(request, this.realm.options);
    const token = this.cookie.presented(body.code_token, request);
    // People type a code in groups.
    const code = (body.code ?? '').replaceAll(/[\s-]/g, '');
    const proved = await this.attempts.verify(token, code, request);
    const { userId } = proved.account;
    const { user, digest } = await this.owned(proved);
    this.unverified.refuse(user);
    const challenge = await this.challengeIssuer.challengeFor(user, userId, digest, remember, 'email');
    if (challenge) return challenge;
    // An end of all sessions is recorded before the sessions end. So either it ends this one, or this check sees it. For an
    // account that was taken, the sessions have just ended.
    const stillValid = async (stored: string | null): Promise<boolean> =>
      stored === digest && (proved.unusable !== null || (await this.codes.isOutstanding(proved.claims)));
    const tokens = await this.sessions.start({ userId, amr: ['email'], request, remember }, stillValid);
    if (!tokens) throw new WrongEmailCode();
    return tokens;
  }

  /** The user and the stored hash, after an unproved account was taken. */
  private async owned({ account, digest, unusable }: ProvedAccount): Promise<{ user: object; digest: string | null }> {
    if (unusable === null) return { user: account.user, digest };
    const isTaken = await this.unproved.take(account, digest, unusable);
    const user = isTaken && (await this.users.findById(account.userId));
    // A change of email that was confirmed until the sessions ended belongs to the other person.
    if (!user || this.users.emailOf(user) !== account.email) throw new WrongEmailCode();
    return { user, digest: digest === null ? null : unusable };
  }
}

/** Body of `POST /login/code/verify`. An absent code is a wrong one. In cookie mode, the token is in a cookie. */
export class CodeAnswer {
  @OptionalText()
  code_token: string | null = null;

  @OptionalText()
  code: string | null = null;
}

/**
 * The code is wrong, has expired, was used before, belongs to another browser, or was mailed before the password or the
 * address changed or all sessions of the user were ended: 422, with the same body in all cases.
 */
export class WrongEmailCode extends AuthException {
  constructor() {
    super('wrong_email_code', { status: 422, errors: { code: [{ key: 'auth.wrong_email_code' }] } });
  }

  /** A correct code that is not valid any more is no guess. Wrong codes are counted where they are compared. */
  override get isInconclusive(): boolean {
    return true;
  }
}
