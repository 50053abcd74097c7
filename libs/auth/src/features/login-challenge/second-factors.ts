import { Injectable } from '@nestjs/common';
import type { Sql } from '../../foundation/platform/database';
import type { SecondFactorMethod, LoginChallenge } from '../../foundation/ports/presenter';
import { LoginChallengeIssuer } from '../login/login';
import { LoginChallenges } from './login-challenges';

/** Checks the codes that can complete a login: TOTP codes and recovery codes. */
export abstract class CodeFactor {
  /** Returns the methods that the user can use now; null without an enabled second factor. */
  abstract methodsOf(userId: string): Promise<SecondFactorMethod[] | null>;

  /** Checks a TOTP code without consuming it. Null for a wrong code or a user without this factor. */
  abstract matchCode(userId: string, code: string): Promise<FactorMatch | null>;

  /** Checks a recovery code without consuming it. Null for a wrong code or a user without this factor. */
  abstract matchRecoveryCode(userId: string, code: string): Promise<FactorMatch | null>;

  /** Removes the user's factor, also one whose enrolment is pending. */
  abstract remove(userId: string): Promise<void>;
}

/** Used when `features.twoFactor` is off: no user has codes. */
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

/** The number of removed passkeys, and a function that emits their events. */
export interface RemovedPasskeys {
  readonly removed: number;
  readonly emitEvents: () => void;
}

/** Checks a passkey that completes a login after the password. */
export abstract class PasskeyFactor {
  /** Whether this user must present a second factor if the user has a passkey: `passkeys.required`. */
  abstract isRequiredOf(user: object): Promise<boolean>;

  /** Whether the user has a passkey. */
  abstract isHeldBy(userId: string): Promise<boolean>;

  /**
   * Verifies the response to a login ceremony. The ceremony cannot be used again. Null when `features.passkeys` is off.
   *
   * @throws AuthException under `credential` unless the response is valid and from a passkey of this user
   */
  abstract match(userId: string, ceremonyId: string, credential: object): Promise<FactorMatch | null>;

  /**
   * Removes all passkeys of the user, or those added since a time, in the caller's transaction. The caller calls `emitEvents`
   * after the commit.
   */
  abstract removeAll(sql: Sql, userId: string, since?: Date): Promise<RemovedPasskeys>;
}

/** Used when `features.passkeys` is off: no user has a passkey. */
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
    return { removed: 0, emitEvents: () => undefined };
  }
}

/** A correct second factor that is not consumed yet. */
export interface FactorMatch {
  /** The authentication method besides the password (RFC 8176). */
  readonly amr: string;
  /** Consumes the factor, atomically; false if another request has consumed it. */
  spend(): Promise<boolean>;
}

/** Issues a challenge to users with an enabled second factor, and to users with a passkey if `passkeys.required` applies. */
@Injectable()
export class SecondFactorChallengeIssuer extends LoginChallengeIssuer {
  constructor(
    private readonly codes: CodeFactor,
    private readonly passkeys: PasskeyFactor,
    private readonly challenges: LoginChallenges,
  ) {
    super();
  }

  async challengeFor(
    user: object,
    userId: string,
    digest: string | null,
    remember: boolean,
    first?: 'email',
  ): Promise<LoginChallenge | null> {
    const codes = await this.codes.methodsOf(userId);
    // An enabled factor without any usable method still requires the challenge: the password alone is not enough.
    if (!codes && !(await this.passkeys.isRequiredOf(user))) return null;
    const hasPasskey = await this.passkeys.isHeldBy(userId);
    if (!codes && !hasPasskey) return null;
    const methods = [...(codes ?? []), ...(hasPasskey ? ['passkey' as const] : [])];
    const token = await this.challenges.mint(userId, digest, remember, first);
    return { two_factor: true, challenge_token: token, methods };
  }
}
