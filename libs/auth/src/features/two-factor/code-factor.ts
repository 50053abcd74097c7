import { Injectable } from '@nestjs/common';
import type { SecondFactorMethod } from '../../foundation/ports/presenter';
import { OptionalText } from '../../request/http/request-body';
import { AuthEvents } from '../../foundation/platform/auth-events';
import type { GuardServices } from '../../foundation/realm/feature-data';
import { Realm } from '../../foundation/realm/realm';
import { type FactorMatch, SecondFactor } from '../login-challenge/second-factor';
import type { TakenAccount } from '../sessions/accounts';
import { RecoveryCodeUsed } from './two-factor.events';
import { without, RecoveryCodes } from './recovery-codes';
import { SecondFactors, isEnabled } from './stored-factors';
import { UsedCodes, Totp } from './totp';
import { TwoFactor } from './two-factor';

/** The fields with a code, in bodies that contain a second factor. */
export class CodeFields {
  @OptionalText()
  code: string | null = null;

  @OptionalText()
  recovery_code: string | null = null;
}

/** Checks TOTP codes and recovery codes of the realm's users. */
@Injectable()
export class TwoFactorCodes extends SecondFactor {
  constructor(
    private readonly factors: SecondFactors,
    private readonly totp: Totp,
    private readonly usedCodes: UsedCodes,
    private readonly recoveryCodes: RecoveryCodes,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {
    super();
  }

  async methodsOf(userId: string): Promise<SecondFactorMethod[] | null> {
    const factor = await this.factors.read(userId);
    if (!isEnabled(factor)) return null;
    const secret = this.factors.secretOf(userId, factor);
    const hasTotp = secret !== null && this.totp.isUsable(secret);
    this.factors.recordUsability(userId, hasTotp);
    const hasRecoveryCode = this.recoveryCodes.count(factor.recoveryCodes) > 0;
    return [...(hasTotp ? ['totp' as const] : []), ...(hasRecoveryCode ? ['recovery_code' as const] : [])];
  }

  async stateOf(userId: string): Promise<string | null> {
    const factor = await this.factors.read(userId);
    return isEnabled(factor) ? (factor.secret ?? '') : null;
  }

  async match(userId: string, { code, recovery_code: recoveryCode }: CodeFields): Promise<FactorMatch | null> {
    const factor = await this.factors.read(userId);
    if (!isEnabled(factor)) return null;
    if (recoveryCode !== null) {
      const entry = await this.recoveryCodes.find(factor.recoveryCodes, recoveryCode);
      return entry === null ? null : { spend: () => this.spendRecoveryCode(userId, entry) };
    }
    const match = this.totp.match(this.factors.secretOf(userId, factor), code ?? '');
    return match && { spend: () => this.usedCodes.claim(match) };
  }

  private async spendRecoveryCode(userId: string, entry: string): Promise<boolean> {
    const left = await this.factors.change(userId, (factor) => {
      const recoveryCodes = isEnabled(factor) ? without(factor.recoveryCodes, entry) : null;
      return recoveryCodes === null ? null : { ...factor, recoveryCodes };
    });
    if (!left) return false;
    this.events.emit(new RecoveryCodeUsed(userId, this.realm.guard, this.recoveryCodes.count(left.recoveryCodes)));
    return true;
  }
}

/**
 * The hook `takeover`: removes the factor of the user, also one whose enrolment is pending. A concurrent enrolment stores its
 * factor first and then checks its session, which has ended.
 */
export async function removeFactor(services: GuardServices, { userId, since }: TakenAccount): Promise<boolean> {
  if (since) {
    const { confirmedAt } = await services.get(SecondFactors).read(userId);
    if (confirmedAt && confirmedAt < since) return false;
  }
  await services.get(TwoFactor).disable(userId);
  return false;
}
