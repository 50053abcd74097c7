import { Injectable } from '@nestjs/common';
import { Realm, crypto, type data, errors, event, type http, identity, input, session } from '../../kit';
import { RecoveryCodes, without } from './recovery-codes';
import { Totp, UsedCodes } from './totp';
import { NO_SECOND_FACTOR } from './two-factor-columns';
import { RecoveryCodeUsed, TwoFactorUnusable } from './two-factor.events';

/** Maximum number of attempts to change a second factor while concurrent requests change it. */
const MAX_ATTEMPTS = 100;

/** Maximum number of users that {@link SecondFactors} remembers with an unusable authenticator. */
const MOST_UNUSABLE = 1000;

/**
 * An enrolment until its confirmation, which is stored encrypted in the place of the secret. It contains what the user has been
 * shown, so that a repeated start can show the same. The confirmation stores the secret alone.
 */
export interface PendingEnrolment {
  /** The TOTP secret in base32. */
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
  /** The session or the sign-in that started it; null for code of the host. */
  readonly startedBy: string | null;
  /** In seconds of Unix time. */
  readonly startedAt: number;
}

/** Reads and changes the stored second factors of the realm's users. */
@Injectable()
export class SecondFactors {
  private readonly unusable = new Set<string>();

  constructor(
    private readonly users: identity.TimedUserProvider,
    private readonly encryption: crypto.Encryption,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
  ) {
    if (users.offers('secondFactorOf')) return;
    throw new errors.AuthConfigError(
      `features.twoFactor is on, but the users of the guard "${realm.guard}" store no second factor. Extend ` +
        'withTwoFactorColumns(withAuthColumns()) and run addTwoFactorColumns(), or implement ' +
        'secondFactorOf and replaceSecondFactor in your UserProvider.',
    );
  }

  async read(userId: string): Promise<identity.StoredSecondFactor> {
    return (await this.stored(userId)) ?? NO_SECOND_FACTOR;
  }

  /** The factor of a user whom code of the host may have named. */
  private async stored(userId: string): Promise<identity.StoredSecondFactor | null> {
    return this.users.secondFactorOf(identity.idText(userId, 'userId'));
  }

  /**
   * Changes a second factor depending on its current state. When a concurrent request has changed it, `change` is called
   * again with the new state, so no change is based on an outdated state.
   *
   * @param change returns the new state; null makes no change
   * @returns the new state; null if nothing was changed or the user does not exist
   * @throws StoreUnavailable
   */
  async change(
    userId: string,
    change: (current: identity.StoredSecondFactor) => identity.StoredSecondFactor | null,
  ): Promise<identity.StoredSecondFactor | null> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const current = await this.stored(userId);
      // Also ends the loop for a user that does not exist.
      const next = current && change(current);
      if (!next) return next;
      if (!(await this.users.replaceSecondFactor(userId, current, next))) continue;
      if (!isEnabled(next) || next.secret !== current.secret) this.unusable.delete(userId);
      return next;
    }
    throw new errors.StoreUnavailable('The user store');
  }

  /**
   * Whether a login since the start of this process found an enabled factor whose codes cannot be checked, and the factor
   * was not replaced here since. A query for such factors would read the whole table of users.
   */
  get hasUnusable(): boolean {
    return this.unusable.size > 0;
  }

  /** Records whether the codes of an enabled factor can be checked. */
  recordUsability(userId: string, isUsable: boolean): void {
    if (isUsable) this.unusable.delete(userId);
    else {
      if (this.unusable.size < MOST_UNUSABLE) this.unusable.add(userId);
      this.events.emit(new TwoFactorUnusable(userId, this.realm.guard));
    }
  }

  encrypted(userId: string, secret: string | PendingEnrolment): string {
    const text = typeof secret === 'string' ? secret : JSON.stringify(secret);
    return this.encryption.encrypt(Buffer.from(text), contextOf(userId));
  }

  /** Returns the TOTP secret in base32, pending or not; null if there is none or it cannot be decrypted. */
  secretOf(userId: string, factor: identity.StoredSecondFactor): string | null {
    return this.pendingOf(userId, factor)?.secret ?? this.textOf(userId, factor);
  }

  /** Returns the pending enrolment; null if there is none or it cannot be decrypted. */
  pendingOf(userId: string, factor: identity.StoredSecondFactor): PendingEnrolment | null {
    const text = this.textOf(userId, factor);
    // Base32 has no brace.
    return text?.startsWith('{') ? (JSON.parse(text) as PendingEnrolment) : null;
  }

  private textOf(userId: string, { secret }: identity.StoredSecondFactor): string | null {
    return (secret && this.encryption.decrypt(secret, contextOf(userId))?.toString()) || null;
  }
}

/**
 * Whether the login requires the factor. The date alone decides: a confirmed factor whose secret is missing or cannot be
 * read is not switched off, but accepts no code.
 */
export const isEnabled = ({ confirmedAt }: identity.StoredSecondFactor): boolean => (confirmedAt ?? null) !== null;

// Without the guard, because guards that share a user table share its second factors.
const contextOf = (userId: string): string => `two-factor:${userId}`;

/** The second factor in the export of an account. */
export async function exportedFactor(
  users: identity.TimedUserProvider,
  userId: string,
): Promise<data.ExportedData['two_factor']> {
  const factor = users.offers('secondFactorOf') ? await users.secondFactorOf(userId) : null;
  const confirmedAt = factor?.confirmedAt ?? null;
  return { enabled: confirmedAt !== null, confirmed_at: confirmedAt?.toISOString() ?? null };
}

/** The fields with a code, in bodies that contain a second factor. */
export class CodeFields {
  @input.OptionalText()
  code: string | null = null;

  @input.OptionalText()
  recovery_code: string | null = null;
}

/** Checks TOTP codes and recovery codes of the realm's users. */
@Injectable()
export class TwoFactorCodes extends session.SecondFactor {
  constructor(
    private readonly factors: SecondFactors,
    private readonly totp: Totp,
    private readonly usedCodes: UsedCodes,
    private readonly recoveryCodes: RecoveryCodes,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
  ) {
    super();
  }

  async methodsOf(userId: string): Promise<http.SecondFactorMethod[] | null> {
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

  async match(userId: string, { code, recovery_code: recoveryCode }: CodeFields): Promise<session.FactorMatch | null> {
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
