import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Clock } from '../../foundation/platform/clock';
import { Unauthenticated } from '../../foundation/platform/errors';
import { TEXT, namedSchema, of, record } from '../../foundation/platform/schema';
import { Realm } from '../../foundation/realm/realm';
import { isOver } from '../../identity/tokens/access-token.policy';
import type { Caller } from '../../identity/tokens/caller';
import type { PurposeClaims } from '../../identity/tokens/purpose-token.policy';
import { Keyring } from '../../identity/tokens/keyring';
import { type Purpose, PurposeTokens, fingerprintFor } from '../../identity/tokens/purpose-tokens';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { PinnedSessions } from '../sessions/pinned-ability.gate';
import { SignInRecords } from '../sessions/sign-in';
import { ConfirmationFactors } from './confirmation-factors';
import { ConfirmationOfAnotherSession, ConfirmationRequired } from './step-up.errors';
import { confirmationVerdict, isRecentPasswordLogin, isRecentSignIn, signInOf } from './step-up.policy';

export const CONFIRMATION: Purpose = { type: 'reauth+challenge', lifetime: ({ confirm }) => confirm.ttl };

/** The schema of an answer with a confirmation token. */
export const CONFIRMATION_BODY = namedSchema(
  'AuthConfirmation',
  record<{ confirmation_token: string }>({
    confirmation_token: of(TEXT, 'A proof for this session. Valid for every request until it expires.'),
  }),
);

/** A request that can carry a confirmation token. */
export interface ConfirmedRequest {
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
}

/** Issues and checks the confirmation tokens of step-up. A token is valid only for the session that it was issued to. */
@Injectable()
export class Confirmations {
  constructor(
    private readonly tokens: PurposeTokens,
    private readonly users: TimedUserProvider,
    private readonly factors: ConfirmationFactors,
    private readonly pinnedSessions: PinnedSessions,
    private readonly signIns: SignInRecords,
    private readonly keyring: Keyring,
    private readonly realm: Realm,
    private readonly clock: Clock,
  ) {}

  /**
   * Issues a confirmation token for the caller's session. It can be used several times, until `confirm.ttl` has passed or
   * the stored password hash of the user is replaced, also by code of the host.
   *
   * @param verified the hash that the password matched; for a confirmation without the password, the stored one is read
   * @throws StoreUnavailable
   */
  async mint({ userId, familyId }: Pick<Caller, 'userId' | 'familyId'>, verified?: string): Promise<string> {
    const jti = randomUUID();
    const fpr = fingerprintFor(jti, verified ?? (await this.users.passwordHashOf(userId)));
    return this.tokens.mint(CONFIRMATION, userId, { jti, fpr, ...(familyId !== null && { fid: familyId }) });
  }

  /**
   * Refuses a caller whose token has expired: a gateway may have kept that of an earlier message, and that of an access key has no
   * session to confirm.
   *
   * @throws Unauthenticated
   */
  requireCurrent({ claims, userId }: Caller): void {
    if (isOver(claims, this.realm.options.leeway, this.clock.seconds()))
      throw new Unauthenticated(true).withReason('expired_token', userId);
  }

  /**
   * Accepts a request with the confirmation token of the caller's session, or after a recent sign-in if
   * `confirm.afterLogin` is on.
   *
   * @throws ConfirmationRequired, ConfirmationOfAnotherSession, StoreUnavailable
   */
  async require(caller: Caller, { headers }: ConfirmedRequest): Promise<void> {
    const { confirm } = this.realm.options;
    const token = headers?.[confirm.header.toLowerCase()];
    const verified = typeof token === 'string' && token ? await this.tokens.verify(CONFIRMATION, token) : null;
    const proof = verified && (await this.isCurrent(verified)) ? verified : null;
    const verdict = confirmationVerdict(proof, caller);
    if (verdict === 'confirmed' || (confirm.afterLogin && (await this.hasJustSignedIn(caller)))) return;
    const methods = await this.factors.methodsOf(caller);
    throw verdict === 'missing'
      ? new ConfirmationRequired(confirm, methods)
      : new ConfirmationOfAnotherSession(confirm, methods);
  }

  /**
   * Whether the stored password hash is still the one at mint. A change by code of the host ends the token, too. A service
   * that only verifies and stores no hashes cannot know it: there the token ends with its session or its life.
   */
  private async isCurrent({ sub, jti, fpr }: PurposeClaims): Promise<boolean> {
    const stored = await this.users.passwordHashOf(sub);
    if (stored === null && !this.keyring.canSign) return true;
    return fpr !== undefined && fpr === fingerprintFor(jti, stored);
  }

  /**
   * Accepts a caller that has signed in to this session with the password within the last `confirm.ttl` seconds. Needs
   * `features.conditionalCreate`, which records the sign-ins.
   *
   * @throws ConfirmationRequired, StoreUnavailable
   */
  async requirePasswordLogin(caller: Caller): Promise<void> {
    if (await this.hasJustSignedIn(caller, isRecentPasswordLogin)) return;
    throw new ConfirmationRequired(this.realm.options.confirm, await this.factors.methodsOf(caller));
  }

  private async hasJustSignedIn(caller: Caller, isRecent = isRecentSignIn): Promise<boolean> {
    const { confirm, leeway } = this.realm.options;
    const signIn = signInOf(caller.claims);
    // The stores are read last, only for a sign-in that would count otherwise.
    if (!isRecent(signIn, confirm.ttl, this.clock.seconds(), leeway)) return false;
    if (await this.pinnedSessions.includes(caller)) return false;
    return (await this.factors.areIn(signIn, caller.userId)) && this.signIns.isCurrent(caller);
  }
}
