import { Injectable } from '@nestjs/common';
import { Unauthenticated } from '../../foundation/platform/errors';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Clock } from '../../foundation/platform/clock';
import { Realm } from '../../foundation/realm/realm';
import { WrongCode } from '../login-challenge/challenge';
import { NO_SECOND_FACTOR, UserProvider } from '../../foundation/ports/user-provider';
import { AlreadyEnrolled, NotEnrolled } from './two-factor.errors';
import { otpauthUri, UsedCodes, Totp } from './totp';
import { hashesIn, RecoveryCodes } from './recovery-codes';
import { RecoveryCodesReplaced, TwoFactorDisabled, TwoFactorEnabled } from './two-factor.events';
import { SecondFactors, isEnabled } from './stored-factors';

/** What a user is shown at enrolment, this once. */
export interface Enrolment {
  /** For the QR code. */
  otpauthUri: string;
  recoveryCodes: string[];
}

/**
 * A user's second factor: none → pending (secret and codes are there) → enabled (a code proved that the
 * authenticator works) → none.
 *
 * Every change is made on the state it was decided on: see `SecondFactors.change`.
 *
 * @publicApi
 */
@Injectable()
export class TwoFactor {
  constructor(
    private readonly factors: SecondFactors,
    private readonly totp: Totp,
    private readonly usedCodes: UsedCodes,
    private readonly codes: RecoveryCodes,
    private readonly users: UserProvider,
    private readonly events: AuthEvents,
    private readonly clock: Clock,
    private readonly realm: Realm,
  ) {}

  /**
   * Starts enrolment, or starts it anew where it is pending.
   *
   * @param isWanted asked once it is stored: whether whoever asked for it still may; always, by default
   * @throws AlreadyEnrolled; Unauthenticated where it is not wanted any more: nothing is pending then
   */
  async enrol(user: object, isWanted: () => Promise<boolean> = async () => true): Promise<Enrolment> {
    const userId = this.users.idOf(user);
    if (isEnabled(await this.factors.read(userId))) throw new AlreadyEnrolled();
    const secret = this.totp.newSecret();
    const { codes, column } = await this.codes.generate();
    const pending = { secret: this.factors.encrypted(userId, secret), recoveryCodes: column, confirmedAt: null };
    // Confirmed by another request meanwhile, it stays.
    const stored = await this.factors.change(userId, (current) => (isEnabled(current) ? null : pending));
    if (!stored) throw new AlreadyEnrolled();
    if (!(await isWanted())) {
      await this.factors.change(userId, ({ secret: now }) => (now === pending.secret ? NO_SECOND_FACTOR : null));
      throw new Unauthenticated(true).withReason('revoked_token', userId);
    }
    const holder = this.users.identifierOf(user) ?? userId;
    return { otpauthUri: otpauthUri(this.realm.options.twoFactor.issuer, holder, secret), recoveryCodes: codes };
  }

  /** Enables the second factor that is pending, with a code of it. That code is used up. @throws WrongCode */
  async confirm(userId: string, code: string): Promise<void> {
    const factor = await this.factors.read(userId);
    const match = this.totp.match(this.factors.secretOf(userId, factor), code);
    if (!match || !(await this.usedCodes.claim(match))) throw new WrongCode();
    const confirmedAt = new Date(this.clock.now());
    let wasEnabled = false;
    const stored = await this.factors.change(userId, (current) => {
      wasEnabled = isEnabled(current);
      // The code proves the secret it was checked against, and no other.
      return current.secret === factor.secret ? { ...current, confirmedAt: current.confirmedAt ?? confirmedAt } : null;
    });
    if (!stored) throw new WrongCode();
    if (!wasEnabled) this.events.emit(new TwoFactorEnabled(userId, this.realm.guard));
  }

  /** Removes the second factor, pending or enabled. */
  async disable(userId: string): Promise<void> {
    let wasEnabled = false;
    await this.factors.change(userId, (current) => {
      wasEnabled = isEnabled(current);
      return current.secret || current.recoveryCodes || current.confirmedAt ? NO_SECOND_FACTOR : null;
    });
    if (wasEnabled) this.events.emit(new TwoFactorDisabled(userId, this.realm.guard));
  }

  /** Whether the login asks this user for a second factor. */
  async isEnabled(userId: string): Promise<boolean> {
    return isEnabled(await this.factors.read(userId));
  }

  /** How many recovery codes are left, and how many a set has. */
  async recoveryCodeCount(userId: string): Promise<{ remaining: number; total: number }> {
    const { recoveryCodes } = await this.factors.read(userId);
    return { remaining: hashesIn(recoveryCodes).length, total: this.realm.options.twoFactor.recoveryCodes };
  }

  /** New recovery codes; the former ones are dead. @throws NotEnrolled */
  async replaceRecoveryCodes(userId: string): Promise<string[]> {
    if (!(await this.isEnabled(userId))) throw new NotEnrolled();
    const { codes, column } = await this.codes.generate();
    const stored = await this.factors.change(userId, (current) => {
      return isEnabled(current) ? { ...current, recoveryCodes: column } : null;
    });
    if (!stored) throw new NotEnrolled();
    this.events.emit(new RecoveryCodesReplaced(userId, this.realm.guard));
    return codes;
  }
}
