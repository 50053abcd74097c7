import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { AuthException } from '../../foundation/platform/errors';
import type { EnrolmentChallenge, LoginChallenge } from '../../foundation/ports/presenter';
import { UserProvider } from '../../foundation/ports/user-provider';
import { Realm, RealmScope } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { CLOCK_MARGIN } from '../../identity/denylist/denylist';
import { AccountStandings, SignInRefused } from '../../identity/tokens/access-tokens';
import { fingerprintFor } from '../../identity/tokens/purpose-tokens';
import { blocksUnverified } from '../../identity/users/provider-checks';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import type { SessionTokens } from '../../request/http/route-answer';
import { NewSessions, type SessionStart, type StoredSession } from './new-sessions';
import type { SignInOrigin } from './session.entity';
import { SessionStarted, type SignInDevice } from './sessions.events';
import { type SignInFacts, signInVerdict } from './sign-in.policy';
import { sessionText } from './sessions.texts';

declare module '../../foundation/realm/feature' {
  interface HookPoints {
    /** Reads which second factor is asked of a user; null for none. Issues nothing. */
    readonly signInChallenge?: (services: RealmScope, first: FirstFactor) => Promise<AskedFactor | null>;
    /**
     * Reads whether the user trusts the device of the request; null if not. Otherwise a check whether it is still trusted, for the
     * time when the session is stored.
     */
    readonly signInTrust?: (
      services: RealmScope,
      first: FirstFactor,
      request: object,
    ) => Promise<(() => Promise<boolean>) | null>;
    /** Whether the account elsewhere, with which a session was started, still signs in. Asked after the session was stored. */
    readonly originCurrent?: (services: RealmScope, origin: SignInOrigin) => Promise<boolean>;
    /** Runs after a session was stored and checked, before its tokens are sent. If it fails, the session is discarded. */
    readonly sessionStored?: (services: RealmScope, session: StoredSession) => Promise<SessionAddition>;
  }
}

/** A user who has proved an identity with one factor. */
export interface FirstFactor {
  readonly user: object;
  readonly userId: string;
  /** The stored password hash, which the sign-in needs unchanged; null for none. */
  readonly digest: string | null;
  /** The request, of a sign-in in which a trusted device takes the place of the second factor. */
  readonly trustIn?: object;
}

/** How a sign-in ends. */
export interface SignInEnding {
  /** The methods of the sign-in (RFC 8176). */
  readonly methods: readonly string[];
  readonly request: object;
  /** Whether the session has the long life of a remembered one, as long as without `sessions.ttlWithoutRemember`. */
  readonly remember: boolean;
  /** The id of the credential that signed in, alone or as the second factor. Its removal ends the session. */
  readonly credentialId?: string;
  /** The account elsewhere with which the user signed in, also where a second factor completes the sign-in. */
  readonly origin?: SignInOrigin;
}

/** A second factor that is asked of a user. */
export interface AskedFactor {
  readonly secondFactor: 'held' | 'missing';
  /** Issues the challenge, or the token to enrol a factor. @throws StoreUnavailable */
  issue(ending: SignInEnding): Promise<LoginChallenge | EnrolmentChallenge>;
}

/** What a hook adds to a session: to the answer, and to {@link SessionStarted}. */
export interface SessionAddition extends Partial<SessionTokens> {
  readonly device?: SignInDevice | null;
}

/** The credentials are correct, but the email is not verified and `emailVerification.blockUnverifiedLogin` is on: 403. */
export class UnverifiedLogin extends AuthException {
  constructor() {
    super('unverified_login', { status: 403, text: sessionText('auth.unverified_login') });
  }

  /** The request had the right credentials, so it does not count as a failure. */
  override get isInconclusive(): boolean {
    return true;
  }
}

/** Which users have to verify the email before they sign in: `emailVerification.blockUnverifiedLogin`. */
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
    return this.realm.options.facts.concealsAccounts && this.isBlocked(user);
  }
}

/** Returns whether a session may still start, given the password hash that is stored now. */
export type PasswordHashCheck = (passwordHash: string | null) => boolean | Promise<boolean>;

/**
 * Checks whether the tokens of a stored session may be sent.
 *
 * Between the check of a password and the start of the session, the password may be replaced, the user deleted or
 * suspended, and all sessions ended. Such a request first stores its change and then ends the sessions. A login first
 * stores its session and then makes this check. So either the request ends the session, or the check sees the change.
 */
@Injectable()
export class SessionPrecondition {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly standings: AccountStandings,
  ) {}

  /**
   * @param passwordHashCheck omitted when it is enough that the user exists
   * @throws SignInRefused
   */
  async stillValid(userId: string, passwordHashCheck?: PasswordHashCheck): Promise<boolean> {
    const digest = passwordHashCheck ? await this.users.passwordHashOf(userId) : null;
    const isOutdated = passwordHashCheck !== undefined && !(await passwordHashCheck(digest));
    // A user with a password hash exists.
    const standing = isOutdated ? undefined : await this.standings.of(userId, digest !== null);
    const facts = { isOutdated: isOutdated || standing === 'missing', isRefused: standing === 'refused' };
    return signInVerdict(requireAdmission(facts, userId)) === 'start';
  }
}

/**
 * Records the password hash of each sign-in that can count as a confirmation (`confirm.afterLogin`, and
 * `features.conditionalCreate` for the first passkey): it does not count any more after a change of the password, also one
 * by code of the host. Without a record, as after a loss of data in the security store, a sign-in does not count.
 */
@Injectable()
export class SignInRecords {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly store: SecurityStore,
    private readonly realm: Realm,
  ) {}

  /**
   * Records a sign-in; does nothing while neither option needs the record.
   *
   * @param digest the stored hash; read if omitted
   * @throws StoreUnavailable
   */
  async record(userId: string, familyId: string, digest?: string | null): Promise<void> {
    const { confirm, features, leeway } = this.realm.options;
    if (!confirm.afterLogin && !features.conditionalCreate) return;
    const fingerprint = fingerprintFor(
      familyId,
      digest === undefined ? await this.users.passwordHashOf(userId) : digest,
    );
    await this.store.setMany([keyOf(familyId)], fingerprint, confirm.ttl + leeway + CLOCK_MARGIN);
  }

  /** Whether the password hash that is stored now is that of the sign-in to a session. @throws StoreUnavailable */
  async isCurrent({ userId, familyId }: { userId: string; familyId: string | null }): Promise<boolean> {
    if (familyId === null) return false;
    const [[recorded = null], digest] = await Promise.all([
      this.store.getMany([keyOf(familyId)]),
      this.users.passwordHashOf(userId),
    ]);
    return recorded === fingerprintFor(familyId, digest);
  }
}

/** Session ids are UUIDs, so guards share no key. */
const keyOf = (familyId: string): string => `svc:sign-in:${familyId}`;

/** Returns the facts. @throws UnverifiedLogin, SignInRefused if the sign-in is refused with them */
function requireAdmission(facts: SignInFacts, userId: string): SignInFacts {
  const verdict = signInVerdict(facts);
  if (verdict === 'unverified') throw new UnverifiedLogin();
  if (verdict === 'refused') throw new SignInRefused().withReason('sign_in_refused', userId);
  return facts;
}

/** A sign-in that no rule refuses. */
export interface AdmittedSignIn<Asked> {
  readonly userId: string;
  readonly facts: SignInFacts;
  /** Issues what the verdict asks of the user. */
  readonly issue: ((ending: SignInEnding) => Promise<Asked>) | null;
  /** Whether the device is still trusted; null for a sign-in without trust. */
  readonly isStillTrusted: (() => Promise<boolean>) | null;
}

/**
 * Ends every sign-in: {@link admit} refuses it while its proof can still be used, and {@link complete} starts the session or asks
 * for a second factor. {@link signInVerdict} decides.
 */
@Injectable()
export class SignIn {
  constructor(
    private readonly sessions: NewSessions,
    private readonly sessionPrecondition: SessionPrecondition,
    private readonly records: SignInRecords,
    private readonly standings: AccountStandings,
    private readonly unverified: UnverifiedBlock,
    private readonly events: AuthEvents,
    private readonly scope: RealmScope,
  ) {}

  /** Reads what is asked of a user after one factor. Nothing is stored. @throws UnverifiedLogin, SignInRefused */
  async admit(first: FirstFactor): Promise<AdmittedSignIn<LoginChallenge | EnrolmentChallenge>> {
    const isStillTrusted = await this.trustOf(first);
    const asked = isStillTrusted ? null : await this.askOf(first);
    const facts = { isTrusted: isStillTrusted !== null, secondFactor: asked?.secondFactor ?? 'none' } as const;
    const issue = asked && ((ending: SignInEnding) => asked.issue(ending));
    return { ...(await this.decided(first, facts)), issue, isStillTrusted };
  }

  /** As {@link admit}, for a user who has proved two factors. */
  async admitTwoFactors(user: Pick<FirstFactor, 'user' | 'userId'>): Promise<AdmittedSignIn<never>> {
    return { ...(await this.decided(user, { hasTwoFactors: true })), issue: null, isStillTrusted: null };
  }

  /**
   * Starts the session of a sign-in, or asks for a second factor. Null if the user was deleted meanwhile or `isCurrent` fails: no
   * session starts then.
   *
   * @param isCurrent whether the proof of the identity is still valid, given the password hash that is stored now. Omitted where only
   * {@link SignInEnding.origin} decides
   * @throws SignInRefused; and the errors of {@link NewSessions.start}
   */
  async complete<Asked>(
    { userId, facts, issue, isStillTrusted }: AdmittedSignIn<Asked>,
    ending: SignInEnding,
    isCurrent?: PasswordHashCheck,
  ): Promise<SessionTokens | Asked | null> {
    if (issue && signInVerdict(facts) !== 'start') return issue(ending);
    const { methods: amr, request, remember, credentialId, origin } = ending;
    // The end of a trust is stored before the sessions end. So either it ends this session, or this check sees it.
    const check = isCurrent
      ? async (stored: string | null): Promise<boolean> =>
          (await isCurrent(stored)) && (isStillTrusted === null || isStillTrusted())
      : (isStillTrusted ?? undefined);
    return this.begin({ userId, amr, request, remember, credentialId, origin }, check);
  }

  /** Starts a session of a user that the host has authenticated; null for a user that does not exist. @throws as {@link complete} */
  async startForHost(start: SessionStart): Promise<SessionTokens | null> {
    requireAdmission({ isRefused: await this.standings.isRefused(start.userId) }, start.userId);
    return this.begin(start);
  }

  private async decided(
    { user, userId }: Pick<FirstFactor, 'user' | 'userId'>,
    read: SignInFacts,
  ): Promise<{ userId: string; facts: SignInFacts }> {
    const facts = requireAdmission({ ...read, isUnverified: this.unverified.isBlocked(user) }, userId);
    // The hook of the host is not called for a user who has to do something else first.
    const isRefused = signInVerdict(facts) === 'start' && (await this.standings.isRefused(userId));
    return { userId, facts: requireAdmission({ ...facts, isRefused }, userId) };
  }

  private async trustOf(first: FirstFactor): Promise<(() => Promise<boolean>) | null> {
    for (const trustOf of first.trustIn ? this.scope.hooks('signInTrust') : []) {
      const isTrusted = await trustOf(this.scope, first, first.trustIn!);
      if (isTrusted) return isTrusted;
    }
    return null;
  }

  private async askOf(first: FirstFactor): Promise<AskedFactor | null> {
    for (const askOf of this.scope.hooks('signInChallenge')) {
      const asked = await askOf(this.scope, first);
      if (asked) return asked;
    }
    return null;
  }

  /** A removal of the account elsewhere ends its sessions afterwards. So either it ends this one, or this check sees it. */
  private async isOfOrigin(origin: SignInOrigin | undefined): Promise<boolean> {
    const hooks = origin ? this.scope.hooks('originCurrent') : [];
    const checked = await Promise.all(hooks.map((isCurrent) => isCurrent(this.scope, origin!)));
    return !checked.includes(false);
  }

  private begin(start: SessionStart, isCurrent?: PasswordHashCheck): Promise<SessionTokens | null> {
    const { userId } = start;
    let digest: string | null | undefined;
    const check =
      isCurrent &&
      ((stored: string | null): ReturnType<PasswordHashCheck> => {
        digest = stored;
        return isCurrent(stored);
      });
    return this.sessions.start(start, {
      isValid: async ({ familyId, amr, isPinned }) => {
        const isValid = await Promise.all([
          this.sessionPrecondition.stillValid(userId, check),
          this.isOfOrigin(start.origin),
        ]);
        if (isValid.includes(false)) return false;
        // With the hash of the check: a sign-in with a former password must not count as one with the new password.
        if (amr.length > 0 && !isPinned) await this.records.record(userId, familyId, digest);
        return true;
      },
      stored: async (session) => {
        const added: { -readonly [Key in keyof SessionAddition]: SessionAddition[Key] } = {};
        for (const add of this.scope.hooks('sessionStored')) Object.assign(added, await add(this.scope, session));
        const { familyId, client, amr } = session;
        const { device = null, ...sent } = added;
        this.events.emit(new SessionStarted(this.scope.realm.guard, userId, familyId, client, [...amr], device));
        return sent;
      },
    });
  }
}
