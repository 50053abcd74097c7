import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { newSecret } from '../../foundation/platform/crypto';
import { valueIf } from '../../foundation/platform/deadline';
import { AuthException } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import { PasswordHasher } from '../../identity/password/password-hasher';
import { AccountStandings } from '../../identity/tokens/access-tokens';
import type { EnrolmentChallenge, LoginChallenge } from '../../foundation/ports/presenter';
import type { PurposeClaims } from '../../identity/tokens/purpose-token.policy';
import { type MailedAccount, TimedUserProvider } from '../../identity/users/timed-user-provider';
import { OptionalText, rememberIn } from '../../request/http/request-body';
import {
  AttemptGuard,
  FailureLimiter,
  FailureLimits,
  type GuardedAttempt,
  afterProof,
} from '../../request/lockout/attempt-guard';
import { type LockKey, lockedUserId, LoginLocks } from '../../request/lockout/lockout.store';
import { ProvedEmails } from '../../identity/users/proved-emails';
import { Lockout, type LoginAnswer } from '../login/login';
import { AccountRecovery, PasswordReplacement, PasswordReset } from '../login/password-replacement';
import { type AdmittedSignIn, SignIn } from '../sessions/sign-in';
import { EmailCodeRequests } from './email-code-requests';
import { EmailCodeCookie, EmailCodes, type OpenRequest } from './email-codes';
import { emailCodeText } from './email-code.texts';

/** The account of a consumed code. */
interface ProvedAccount {
  readonly account: MailedAccount;
  readonly digest: string | null;
  readonly claims: PurposeClaims;
  /** The sign-in; of an {@link UnprovedAccounts unproved account}, the hash that replaces its password before the sign-in. */
  readonly next: AdmittedSignIn<LoginChallenge | EnrolmentChallenge> | string;
}

/**
 * Gives an account whose address no person has proved to the owner of the address. Another person may have registered it: the
 * password, the sessions and the factors may belong to that person.
 */
@Injectable()
export class UnprovedAccounts {
  constructor(
    private readonly provedEmails: ProvedEmails,
    private readonly users: TimedUserProvider,
    private readonly hasher: PasswordHasher,
    private readonly replacement: PasswordReplacement,
    private readonly recovery: AccountRecovery,
    private readonly standings: AccountStandings,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {}

  /** Whether no person has proved the address of the user, and one can. */
  async has(user: object): Promise<boolean> {
    return !(await this.provedEmails.isProved(user));
  }

  /** A hash that replaces the password of a user, of a password that is not known to any person. @throws HasherBusy, SignInRefused */
  async unusableHash(userId: string): Promise<string> {
    // The account of a user who may not sign in is not taken.
    await this.standings.refuse(userId);
    return this.hasher.hash(newSecret());
  }

  /**
   * Ends the sessions, removes the second factors and passkeys, replaces the password, and marks the address as verified.
   *
   * @param digest the stored hash; null for a user without a password, who gets none
   * @param unusable the hash that replaces it
   * @returns false if the password was replaced in the meantime
   */
  async take(account: MailedAccount, digest: string | null, unusable: string): Promise<boolean> {
    const { userId, user } = account;
    const endSessions = (moment?: number): Promise<void> => this.recovery.endAccess(account, true, moment);
    const finish = (): Promise<void> => this.recovery.recordPerson(account);
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
    private readonly signIn: SignIn,
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
    const account = claims && (await this.users.mailedUser(claims.sub));
    if (!account) throw new WrongEmailCode();
    const { user, userId, email } = account;
    const digest = await this.users.passwordHashOf(userId);
    if (!this.codes.isCurrent(claims, { digest, email })) throw new WrongEmailCode();
    // Before the code is consumed: a refused user can use it later.
    const next = (await this.unproved.has(user))
      ? await this.unproved.unusableHash(userId)
      : await this.signIn.admit({ user, userId, digest });
    if (!(await this.codes.consume(token))) throw new WrongEmailCode();
    return { account, digest, claims, next };
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
    private readonly signIn: SignIn,
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
    const { claims, next } = proved;
    const isTaken = typeof next === 'string';
    const { signIn, digest } = isTaken ? await this.taken(proved, next) : { ...proved, signIn: next };
    // An end of all sessions is recorded before the sessions end. So either it ends this one, or this check sees it. For an
    // account that was taken, the sessions have just ended.
    const stillValid = async (stored: string | null): Promise<boolean> =>
      stored === digest && (isTaken || (await this.codes.isOutstanding(claims)));
    const answer = await this.signIn.complete(signIn, { methods: ['email'], request, remember }, stillValid);
    if (!answer) throw new WrongEmailCode();
    return answer;
  }

  /** Takes an unproved account. Returns the sign-in to it, and the hash that is stored now. */
  private async taken({ account, digest: former }: ProvedAccount, unusable: string) {
    const { userId, email } = account;
    const isTaken = await this.unproved.take(account, former, unusable);
    const current = isTaken && (await this.users.mailedUser(userId));
    // A change of email that was confirmed until the sessions ended belongs to the other person.
    if (!current || current.email !== email) throw new WrongEmailCode();
    const digest = former === null ? null : unusable;
    return { signIn: await this.signIn.admit({ user: current.user, userId, digest }), digest };
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
    super('wrong_email_code', { status: 422, errors: { code: [emailCodeText('auth.wrong_email_code')] } });
  }

  /** A correct code that is not valid any more is no guess. Wrong codes are counted where they are compared. */
  override get isInconclusive(): boolean {
    return true;
  }
}
