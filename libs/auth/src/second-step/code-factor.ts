import { Injectable } from '@nestjs/common';
import type { SecondFactorMethod } from '../http/login-challenge';
import type { FactorMatch } from './factor-match';

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
