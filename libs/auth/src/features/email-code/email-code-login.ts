import { Injectable } from '@nestjs/common';
import {
  Realm,
  crypto,
  deadline,
  errors,
  event,
  type http,
  identity,
  input,
  locking,
  session,
  typedCode,
} from '../../kit';
import { EmailCodeRequests } from './email-code-requests';
import { EmailCodeCookie, EmailCodes, type OpenRequest } from './email-codes';
import { emailCodeText } from './email-code.texts';

/** The account of a consumed code. */
interface ProvedAccount {
  readonly account: identity.MailedAccount;
  readonly digest: string | null;
  readonly claims: identity.PurposeClaims;
  /** The sign-in; of an {@link UnprovedAccounts unproved account}, the hash that replaces its password before the sign-in. */
  readonly next: session.AdmittedSignIn<http.LoginChallenge | http.EnrolmentChallenge> | string;
}

/**
 * Gives an account whose address no person has proved to the owner of the address. Another person may have registered it: the
 * password, the sessions and the factors may belong to that person.
 */
@Injectable()
export class UnprovedAccounts {
  constructor(
    private readonly users: identity.TimedUserProvider,
    private readonly hasher: identity.PasswordHasher,
    private readonly replacement: session.PasswordReplacement,
    private readonly recovery: session.AccountRecovery,
    private readonly standings: identity.AccountStandings,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
  ) {}

  /** A hash that replaces the password of a user, of a password that is not known to any person. @throws HasherBusy, SignInRefused */
  async unusableHash(userId: string): Promise<string> {
    // The account of a user who may not sign in is not taken.
    await this.standings.refuse(userId);
    return this.hasher.hash(crypto.newSecret());
  }

  /**
   * Ends the sessions, removes the second factors and passkeys, replaces the password, and marks the address as verified.
   *
   * @param digest the stored hash; null for a user without a password, who gets none
   * @param unusable the hash that replaces it
   * @returns false if the password was replaced in the meantime
   */
  async take(account: identity.MailedAccount, digest: string | null, unusable: string): Promise<boolean> {
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
    this.events.emit(new session.PasswordReset(user, this.realm.guard));
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
    private readonly attempts: locking.AttemptGuard,
    private readonly guesses: locking.FailureLimiter,
    private readonly limits: locking.FailureLimits,
    private readonly locks: locking.LoginLocks,
    private readonly users: identity.TimedUserProvider,
    private readonly provedEmails: identity.ProvedEmails,
    private readonly unproved: UnprovedAccounts,
    private readonly signIn: session.SignIn,
    private readonly events: event.AuthEvents,
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
    const lock: locking.LockKey = { purpose: 'login', subject: await this.requests.subjectFor(open) };
    const attempt: locking.GuardedAttempt<ProvedAccount> = {
      lock,
      limits: this.limits.ofLogin(lock, request),
      field: 'code',
      onLimit: () => this.events.emit(new session.Lockout(request)),
      released: ({ account }) => [lock, ...this.locks.ofUser(account.user)],
    };
    const proved = await this.attempts.run(attempt, () => this.redeem(token, open, code));
    if (!proved) throw new WrongEmailCode().withReason('wrong_email_code', locking.lockedUserId(lock));
    return proved;
  }

  /** Returns null for a guess, also for one after the last admitted one. Only wrong codes use up the guesses of a request. */
  private async redeem(token: string, open: OpenRequest, code: string): Promise<ProvedAccount | null> {
    const usedUp = new WrongEmailCode();
    const use = async (): Promise<ProvedAccount | null> =>
      open.matches(code) ? locking.afterProof(() => this.use(token, open)) : null;
    return this.guesses
      .attempt(this.codes.guessesOf(token), use, () => usedUp, 'undone')
      .catch(deadline.valueIf((error) => error === usedUp, null));
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
    const next = (await this.provedEmails.isProved(user))
      ? await this.signIn.admit({ user, userId, digest })
      : await this.unproved.unusableHash(userId);
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
    private readonly users: identity.TimedUserProvider,
    private readonly unproved: UnprovedAccounts,
    private readonly signIn: session.SignIn,
    private readonly realm: Realm,
  ) {}

  /**
   * @throws WrongEmailCode, AccountIsLocked, TooManyFailures, UnverifiedLogin, SignInRefused, HasherBusy, StoreUnavailable;
   * ValidationFailed before the code is used
   */
  async attempt(body: CodeAnswer, request: object): Promise<session.LoginAnswer> {
    const remember = input.rememberIn(request, this.realm.options);
    const token = this.cookie.presented(body.code_token, request);
    const format = { alphabet: 'digits', length: this.realm.options.emailCode.digits } as const;
    // A text that is no code is compared, too: the work is that of a wrong code.
    const code = typedCode(body.code ?? '', format) ?? '';
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
  @input.OptionalText()
  code_token: string | null = null;

  @input.OptionalText()
  code: string | null = null;
}

/**
 * The code is wrong, has expired, was used before, belongs to another browser, or was mailed before the password or the
 * address changed or all sessions of the user were ended: 422, with the same body in all cases.
 */
export class WrongEmailCode extends errors.AuthException {
  constructor() {
    super('wrong_email_code', { status: 422, errors: { code: [emailCodeText('auth.wrong_email_code')] } });
  }

  /** A correct code that is not valid any more is no guess. Wrong codes are counted where they are compared. */
  override get isInconclusive(): boolean {
    return true;
  }
}
