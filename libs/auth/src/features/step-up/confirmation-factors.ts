import { Injectable } from '@nestjs/common';
import { isMissing } from '../../foundation/platform/pg-errors';
import { valueIf } from '../../foundation/platform/deadline';
import { ValidationFailed } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import type { Caller } from '../../identity/tokens/caller';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { AttemptGuard, FailureLimits, afterProof } from '../../request/lockout/attempt-guard';
import { userLock } from '../../request/lockout/lockout.store';
import { WrongCode } from '../login-challenge/challenge';
import { CodeFactor, PasskeyFactor } from '../login-challenge/second-factors';
import { PinnedSessions } from '../sessions/pinned-ability.gate';
import { type ConfirmationMethod, PasskeyConfirmationRequired } from './step-up.errors';
import { type SignInClaims, hasSignedInWith } from './step-up.policy';
import { challengeText } from '../login-challenge/challenge.texts';

/** The fields of a confirmation with the password that can contain a second factor; null for absent fields. */
export interface SentCodes {
  readonly code: string | null;
  readonly recovery_code: string | null;
}

/** Decides which factors a user confirms with: `confirm.factors`. */
@Injectable()
export class ConfirmationFactors {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly codes: CodeFactor,
    private readonly passkeys: PasskeyFactor,
    private readonly pinnedSessions: PinnedSessions,
    private readonly attempts: AttemptGuard,
    private readonly limits: FailureLimits,
    private readonly realm: Realm,
  ) {}

  /**
   * The ways in which this user can confirm. A host can add its own with `auth.confirm`. Empty for a pinned session that
   * cannot confirm: it may not read how the user signs in.
   */
  async methodsOf(caller: Caller): Promise<ConfirmationMethod[]> {
    const { userId, grant } = caller;
    if (!grant.covers('svc.account') && (await this.pinnedSessions.includes(caller))) return [];
    const [digest, hasPasskey, hasCodes] = await Promise.all([
      this.users.passwordHashOf(userId),
      this.hasPasskey(userId),
      this.asksAll ? this.hasCodes(userId) : false,
    ]);
    const withPassword = hasCodes ? 'password+otp' : this.asksAll && hasPasskey ? null : 'password';
    return [
      ...(digest === null || withPassword === null ? [] : [withPassword as ConfirmationMethod]),
      ...(hasPasskey ? ['passkey' as const] : []),
      ...(this.realm.options.confirm.afterLogin ? ['login' as const] : []),
    ];
  }

  /**
   * Checks which second factor has to be sent beside the password, before anything is verified or counted. The methods of
   * a refused request already show it to every session that can confirm.
   *
   * @returns a function that verifies and consumes the factor, after the password
   * @throws ValidationFailed, PasskeyConfirmationRequired
   */
  async besidePassword(userId: string, { code, recovery_code: recoveryCode }: SentCodes): Promise<() => Promise<void>> {
    if (!this.asksAll) return async () => undefined;
    if (!(await this.hasCodes(userId))) {
      if (await this.hasPasskey(userId)) throw new PasskeyConfirmationRequired();
      return async () => undefined;
    }
    if (code !== null && recoveryCode !== null) {
      const text = [challengeText('auth.one_factor_only')];
      throw new ValidationFailed({ code: text, recovery_code: text });
    }
    if (recoveryCode !== null)
      return () => this.verify(userId, () => this.codes.matchRecoveryCode(userId, recoveryCode));
    if (code === null)
      throw new ValidationFailed({ code: [{ key: 'validation.required', params: { field: 'code' } }] });
    return () => this.verify(userId, () => this.codes.matchCode(userId, code), true);
  }

  /** Whether a sign-in has used the factors that a confirmation of this user needs. */
  async areIn(signIn: Omit<SignInClaims, 'authTime'>, userId: string): Promise<boolean> {
    if (!this.asksAll || hasSignedInWith('any', signIn, true)) return true;
    return !(await this.hasCodes(userId)) && !(await this.hasPasskey(userId));
  }

  /** @param canBeGuessed whether wrong codes lock the account, as at a login challenge */
  private async verify(userId: string, match: () => ReturnType<CodeFactor['matchCode']>, canBeGuessed = false) {
    const lock = userLock('two_factor', userId);
    const attempt = {
      lock: canBeGuessed ? lock : undefined,
      limits: this.limits.ofTwoFactor(userId),
      field: 'code',
      released: () => [lock],
    };
    const spent = await this.attempts.run(attempt, async () => {
      const found = await match();
      return found && (await afterProof(() => found.spend())) ? found : null;
    });
    if (!spent) throw new WrongCode();
  }

  private get asksAll(): boolean {
    return this.realm.options.confirm.factors === 'all';
  }

  private async hasCodes(userId: string): Promise<boolean> {
    return (await this.codes.stateOf(userId)) !== null;
  }

  private hasPasskey(userId: string): Promise<boolean> {
    // A service that only verifies tokens may have no table of passkeys.
    return this.passkeys.isHeldBy(userId).catch(valueIf(isMissing, false));
  }
}
