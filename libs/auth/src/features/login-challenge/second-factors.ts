import { Injectable } from '@nestjs/common';
import type { Sql } from '../../foundation/platform/database';
import type { SecondFactorMethod, LoginChallenge } from '../../request/http/route.interceptor';
import { LoginChallengeIssuer } from '../login/login';
import { LoginChallenges } from './login-challenges';

/** The codes a login may be completed with: those of an authenticator, and recovery codes. */
export abstract class CodeFactor {
  /** What of it the user can use now; null without an enabled second factor. */
  abstract methodsOf(userId: string): Promise<SecondFactorMethod[] | null>;

  /** Judges an authenticator's code, and consumes nothing. Null where it is wrong or the user has no such factor. */
  abstract matchCode(userId: string, code: string): Promise<FactorMatch | null>;

  /** Judges a recovery code, and consumes nothing. Null where it is wrong or the user has no such factor. */
  abstract matchRecoveryCode(userId: string, code: string): Promise<FactorMatch | null>;

  /** Removes the user's factor, and one whose enrolment is pending. */
  abstract remove(userId: string): Promise<void>;
}

/** Stands in when `features.twoFactor` is off. */
@Injectable()
export class NoCodeFactor extends CodeFactor {
  async methodsOf(): Promise<null> {
    return null;
  }

  async matchCode(): Promise<null> {
    return null;
  }

  async matchRecoveryCode(): Promise<null> {
    return null;
  }

  async remove(): Promise<void> {}
}

/** How many passkeys were removed, and what tells the host of it. */
export interface RemovedPasskeys {
  readonly removed: number;
  readonly tell: () => void;
}

/** A passkey presented after the password. */
export abstract class PasskeyFactor {
  /** Whether this user, having a passkey, must present a second factor: `passkeys.required`. */
  abstract isRequiredOf(user: object): Promise<boolean>;

  /** Whether the user has a passkey. */
  abstract isHeldBy(userId: string): Promise<boolean>;

  /**
   * Judges an answered login ceremony, which is over then. Null where passkeys are switched off.
   *
   * @throws AuthException under `credential` for every other one than a sound answer of a passkey of this user
   */
  abstract match(userId: string, ceremonyId: string, credential: object): Promise<FactorMatch | null>;

  /** Removes all passkeys of the user, in a transaction of the caller's; `tell` is for after its commit. */
  abstract removeAll(sql: Sql, userId: string): Promise<RemovedPasskeys>;
}

/** Stands in when `features.passkeys` is off. */
@Injectable()
export class NoPasskeyFactor extends PasskeyFactor {
  async isRequiredOf(): Promise<boolean> {
    return false;
  }

  async isHeldBy(): Promise<boolean> {
    return false;
  }

  async match(): Promise<null> {
    return null;
  }

  async removeAll(): Promise<RemovedPasskeys> {
    return { removed: 0, tell: () => undefined };
  }
}

/** A right answer that is still good. */
export interface FactorMatch {
  /** How the user authenticated besides the password (RFC 8176). */
  readonly amr: string;
  /** Uses the answer up; false where someone else just did. Decided atomically. */
  spend(): Promise<boolean>;
}

/** Challenges whoever enabled a second factor, and whoever has a passkey where `passkeys.required` says so. */
@Injectable()
export class SecondFactorChallengeIssuer extends LoginChallengeIssuer {
  constructor(
    private readonly codes: CodeFactor,
    private readonly passkeys: PasskeyFactor,
    private readonly challenges: LoginChallenges,
  ) {
    super();
  }

  async challengeFor(user: object, userId: string, digest: string | null): Promise<LoginChallenge | null> {
    const codes = await this.codes.methodsOf(userId);
    // An enabled factor of which nothing is usable any more does not let the password alone in.
    if (!codes && !(await this.passkeys.isRequiredOf(user))) return null;
    const hasPasskey = await this.passkeys.isHeldBy(userId);
    if (!codes && !hasPasskey) return null;
    const methods = [...(codes ?? []), ...(hasPasskey ? ['passkey' as const] : [])];
    return { two_factor: true, challenge_token: await this.challenges.mint(userId, digest), methods };
  }
}
