import { Injectable } from '@nestjs/common';
import type { SecondFactorMethod } from '../../foundation/ports/presenter';

/** Checks the codes that can complete a login: TOTP codes and recovery codes. */
export abstract class CodeFactor {
  /** Returns the methods that the user can use now; null without an enabled second factor. */
  abstract methodsOf(userId: string): Promise<SecondFactorMethod[] | null>;

  /** A text that differs for each secret of an enabled second factor; null without an enabled one. */
  abstract stateOf(userId: string): Promise<string | null>;

  /** Checks a TOTP code without consuming it. Null for a wrong code or a user without this factor. */
  abstract matchCode(userId: string, code: string): Promise<FactorMatch | null>;

  /** Checks a recovery code without consuming it. Null for a wrong code or a user without this factor. */
  abstract matchRecoveryCode(userId: string, code: string): Promise<FactorMatch | null>;
}

/** Used when `features.twoFactor` is off: no user has codes. */
@Injectable()
export class NoCodeFactor extends CodeFactor {
  async methodsOf(): Promise<null> {
    return null;
  }

  async stateOf(): Promise<null> {
    return null;
  }

  async matchCode(): Promise<null> {
    return null;
  }

  async matchRecoveryCode(): Promise<null> {
    return null;
  }
}

/** Checks a passkey that completes a login after the password. */
export abstract class PasskeyFactor {
  /** Whether this user must present a second factor if the user has a passkey: `passkeys.required`. */
  abstract isRequiredOf(user: object): Promise<boolean>;

  /** Whether the user has a passkey. */
  abstract isHeldBy(userId: string): Promise<boolean>;

  /** The ids of the user's passkeys. */
  abstract idsOf(userId: string): Promise<string[]>;

  /**
   * Verifies the response to a login ceremony. The ceremony cannot be used again. Null when `features.passkeys` is off.
   *
   * @throws AuthException under `credential` unless the response is valid and from a passkey of this user
   */
  abstract match(userId: string, ceremonyId: string, credential: object): Promise<FactorMatch | null>;
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

  async idsOf(): Promise<string[]> {
    return [];
  }

  async match(): Promise<null> {
    return null;
  }
}

/** The passkey of a sign-in. */
export interface UsedPasskey {
  readonly passkeyId: string;
  /** Whether it still exists. Called after the session is stored: either this sees the removal, or the removal ends the session. */
  isCurrent(): Promise<boolean>;
}

/** A correct second factor that is not consumed yet. */
export interface FactorMatch {
  /** The authentication method besides the password (RFC 8176). */
  readonly amr: string;
  /** The passkey, whose removal ends the session. */
  readonly passkey?: UsedPasskey;
  /** Consumes the factor, atomically; false if another request has consumed it. */
  spend(): Promise<boolean>;
}
