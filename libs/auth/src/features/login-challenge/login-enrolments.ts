import { Injectable } from '@nestjs/common';
import { bestEffort } from '../../foundation/platform/deadline';
import { AuthException } from '../../foundation/platform/errors';
import { unverifiedClaims } from '../../identity/tokens/keyring';
import type { PurposeClaims } from '../../identity/tokens/purpose-token.policy';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { RequiredString } from '../../request/http/request-body';
import type { SessionTokens } from '../../request/http/route-answer';
import { signInRefusal } from '../../request/routes/route';
import { unverifiedRefusal } from '../login/login.controller';
import { Sessions } from '../sessions/sessions';
import { type AdmittedSignIn, SignIn } from '../sessions/sign-in';
import { EnrolmentTokens, begunSignIn } from './login-challenges';
import { GuardFactors } from './second-factor';
import { challengeText } from './challenge.texts';

/**
 * The enrolment token is invalid, expired, already used, from another guard, was issued for a former password or before all
 * sessions of the user were ended, or the user has a second factor now: 422. The client must start the login again.
 */
export class BadEnrolment extends AuthException {
  constructor() {
    super('bad_enrolment', { status: 422, errors: { enrolment_token: [challengeText('auth.bad_enrolment')] } });
  }

  /** When several requests complete one enrolment concurrently, the refused ones were not guesses. */
  override get isInconclusive(): boolean {
    return true;
  }
}

/** The refusals of an enrolment token. */
export const enrolmentRefusals = (...of: Parameters<typeof signInRefusal>): AuthException[] => [
  new BadEnrolment(),
  ...unverifiedRefusal(of[0]),
  ...signInRefusal(...of),
];

/** Body of the routes below `/two-factor-enrolment`. */
export class EnrolmentRequest {
  @RequiredString()
  enrolment_token!: string;
}

/** A user who may set up a first second factor, in place of tokens. */
export interface OpenEnrolment {
  readonly user: object;
  readonly userId: string;
  /** Whether the enrolment is still open: the password is the same, and the sessions of the user were not ended. */
  readonly isOpen: () => Promise<boolean>;
  readonly claims: PurposeClaims;
  readonly signIn: AdmittedSignIn<never>;
}

/** A session of an enrolment: {@link isAlive} until it ends. */
export interface EnrolmentSession {
  readonly userId: string;
  readonly familyId: string;
  readonly isAlive: () => Promise<boolean>;
}

/**
 * Enrols the second factor of a user who must have one and has none. The states of an enrolment:
 *
 * - open: the token is valid, and the user has no second factor
 * - completed: the token is consumed, the factor is stored, and a session has started
 * - closed: the token is invalid, or the user has a factor from elsewhere
 */
@Injectable()
export class LoginEnrolments {
  constructor(
    private readonly challenges: EnrolmentTokens,
    private readonly factors: GuardFactors,
    private readonly users: TimedUserProvider,
    private readonly signIn: SignIn,
    private readonly sessions: Sessions,
  ) {}

  /** @throws BadEnrolment, UnverifiedLogin, SignInRefused, StoreUnavailable */
  async open(token: string): Promise<OpenEnrolment> {
    const claims = await this.challenges.verify(token);
    if (!claims) throw new BadEnrolment();
    const { sub: userId } = claims;
    const user = await this.users.findById(userId);
    const isOpen = async (): Promise<boolean> =>
      this.challenges.isCurrent(claims, await this.users.passwordHashOf(userId)) &&
      (await this.challenges.tokens.isOutstanding(claims));
    if (!user || !(await isOpen()) || (await this.factors.isHeldBy(userId))) throw new BadEnrolment();
    // The factor that is enrolled is the second one of the sign-in.
    return { user, userId, isOpen, claims, signIn: await this.signIn.admitTwoFactors({ user, userId }) };
  }

  /**
   * Consumes the token, starts a session, and stores the factor from this session. Of several concurrent calls with one
   * token, one succeeds.
   *
   * The session is stored first: all that ends a session also ends the enrolment. A change of the password or an end of all
   * sessions is recorded before the sessions end. So either the start of the session sees it, or `store` finds that the
   * session has ended.
   *
   * @param amr the method of the factor (RFC 8176)
   * @param store stores the factor, unless the session has ended or the user has another factor. Returns whether it did
   * @param credentialId of a credential whose removal ends the session
   * @throws BadEnrolment; nothing is stored then
   */
  async complete(
    { userId, claims, isOpen, signIn }: OpenEnrolment,
    amr: string,
    request: object,
    store: (session: EnrolmentSession) => Promise<boolean>,
    credentialId?: string,
  ): Promise<SessionTokens> {
    if (!(await this.challenges.tokens.spend(claims))) throw new BadEnrolment();
    let familyId: string | undefined;
    let isStored = false;
    try {
      const { first, remember, origin } = begunSignIn(claims);
      const ending = { methods: [first, amr], request, remember, credentialId, origin };
      const tokens = await this.signIn.complete(signIn, ending, isOpen);
      if (!tokens) throw new BadEnrolment();
      const session = String(unverifiedClaims(tokens.accessToken)?.fid);
      familyId = session;
      isStored = await store({ userId, familyId, isAlive: () => this.sessions.isAlive(session) });
      if (!isStored) throw new BadEnrolment();
      return tokens;
    } finally {
      if (!isStored) {
        const session = familyId;
        const end = async (): Promise<unknown> => session !== undefined && this.sessions.end(session, 'revoked');
        await Promise.all([
          bestEffort('ending the session of an enrolment', end),
          // Not repeated: it could restore a token that was consumed again meanwhile.
          bestEffort('reopening an enrolment', () => this.challenges.tokens.restore(claims), 0),
        ]);
      }
    }
  }
}
