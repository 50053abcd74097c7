import { Injectable } from '@nestjs/common';
import { Clock, Realm, type data, deadline, errors, event, identity, session } from '../../kit';
import { NO_SECOND_FACTOR } from './two-factor-columns';
import { AlreadyEnrolled, NotEnrolled } from './two-factor.errors';
import { Totp, type TotpMatch, UsedCodes, otpauthUri } from './totp';
import { FactorImports, type ImportedFactor } from './imported-factor';
import { RecoveryCodes } from './recovery-codes';
import { RecoveryCodesReplaced, TwoFactorDisabled, TwoFactorEnabled } from './two-factor.events';
import { type PendingEnrolment, SecondFactors, isEnabled } from './stored-factors';

/** The data that a user sees at enrolment, only once. */
export interface Enrolment {
  /** URI for the QR code. */
  otpauthUri: string;
  recoveryCodes: string[];
}

declare module '../../foundation/realm/feature-data' {
  interface ExportedData {
    two_factor: { enabled: boolean; confirmed_at: string | null };
  }
}

/** A pending enrolment, and the row that contains it. */
interface StartedEnrolment {
  readonly stored: identity.StoredSecondFactor;
  readonly enrolment: PendingEnrolment;
}

/** A correct code of a pending second factor. */
export interface PendingMatch {
  /**
   * Consumes the code and enables the factor. Returns false if another request has replaced the factor.
   *
   * @param isAllowed called after the factor is stored; when it returns false, the factor is removed again, and the result is
   * false; when it throws, the factor is pending again
   * @throws UsedCode
   */
  enable(isAllowed?: () => Promise<boolean>): Promise<boolean>;
}

const sessionEnded = (userId: string): Error => new errors.Unauthenticated(true).withReason('revoked_token', userId);

/**
 * Manages the second factor of users. Its states are: none → pending (secret and codes are stored) → enabled (a code has
 * shown that the authenticator works) → none.
 *
 * A change is never based on an outdated state: it is stored only if the factor is still the one that was read.
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
    private readonly imports: FactorImports,
    private readonly guardFactors: session.GuardFactors,
    private readonly users: identity.UserProvider,
    private readonly events: event.AuthEvents,
    private readonly clock: Clock,
    private readonly realm: Realm,
  ) {}

  /**
   * Starts enrolment. Replaces a pending enrolment, unless the same session has started it within `twoFactor.enrolmentTtl`: that
   * one is returned again, so a QR code that is on the screen stays right.
   *
   * @param isAllowed called after the factor is stored: whether the caller may still enrol; always true by default
   * @param refusal makes the error when `isAllowed` returns false; the pending factor is removed then
   * @param startedBy id of the session; null by default, which always replaces
   * @throws AlreadyEnrolled; by default, Unauthenticated when `isAllowed` returns false
   */
  async enrol(
    user: object,
    isAllowed: () => Promise<boolean> = async () => true,
    refusal: (userId: string) => Error = sessionEnded,
    startedBy: string | null = null,
  ): Promise<Enrolment> {
    const userId = this.users.idOf(user);
    const { stored, enrolment } = await this.started(userId, startedBy);
    if (!(await isAllowed())) {
      await this.factors.change(userId, ({ secret: now }) => (now === stored.secret ? NO_SECOND_FACTOR : null));
      throw refusal(userId);
    }
    const holder = this.users.identifierOf(user) ?? userId;
    return {
      otpauthUri: otpauthUri(this.realm.options.twoFactor.issuer, holder, enrolment.secret),
      recoveryCodes: [...enrolment.recoveryCodes],
    };
  }

  /** The enrolment that the session has started before, or a new one, which is stored. @throws AlreadyEnrolled */
  private async started(userId: string, startedBy: string | null): Promise<StartedEnrolment> {
    const found = await this.factors.read(userId);
    if (isEnabled(found)) throw new AlreadyEnrolled();
    const before = this.startedBefore(userId, found, startedBy);
    if (before) return before;
    const { codes: recoveryCodes, column } = await this.codes.generate();
    const enrolment = { secret: this.totp.newSecret(), recoveryCodes, startedBy, startedAt: this.clock.seconds() };
    const pending = { secret: this.factors.encrypted(userId, enrolment), recoveryCodes: column, confirmedAt: null };
    const concurrent: { start?: StartedEnrolment | null } = {};
    const stored = await this.factors.change(userId, (current) => {
      concurrent.start = this.startedBefore(userId, current, startedBy);
      // A factor that a concurrent request has confirmed is not replaced.
      return concurrent.start || isEnabled(current) ? null : pending;
    });
    if (stored) return { stored, enrolment };
    if (!concurrent.start) throw new AlreadyEnrolled();
    return concurrent.start;
  }

  /**
   * The pending enrolment, if this session has started it and may see it again; otherwise null. Another session must not see it:
   * it would know the secret of the factor that the first session confirms. It replaces the enrolment, and the codes of the first
   * session are wrong from then on.
   */
  private startedBefore(
    userId: string,
    stored: identity.StoredSecondFactor,
    startedBy: string | null,
  ): StartedEnrolment | null {
    const enrolment = isEnabled(stored) ? null : this.factors.pendingOf(userId, stored);
    if (!enrolment || startedBy === null || enrolment.startedBy !== startedBy) return null;
    const age = this.clock.seconds() - enrolment.startedAt;
    return age < this.realm.options.twoFactor.enrolmentTtl ? { stored, enrolment } : null;
  }

  /**
   * Enables the pending second factor with a code, and consumes the code.
   *
   * @param isAllowed as in {@link enrol}
   * @throws WrongCode, UsedCode; Unauthenticated when `isAllowed` returns false
   */
  async confirm(userId: string, code: string, isAllowed: () => Promise<boolean> = async () => true): Promise<void> {
    const match = await this.matchPending(userId, code);
    if (!match) throw new session.WrongCode();
    if (await match.enable(isAllowed)) return;
    throw (await isAllowed()) ? new session.WrongCode() : sessionEnded(userId);
  }

  /** Checks a code of the pending second factor without consuming it. Null for a wrong code. @internal */
  async matchPending(userId: string, code: string): Promise<PendingMatch | null> {
    const factor = await this.factors.read(userId);
    const match = this.totp.match(this.factors.secretOf(userId, factor), code);
    if (!match) return null;
    return {
      enable: async (isAllowed) => (await this.usedCodes.claim(match)) && this.enable(userId, factor, match, isAllowed),
    };
  }

  private async enable(
    userId: string,
    pending: identity.StoredSecondFactor,
    { secret }: TotpMatch,
    isAllowed: () => Promise<boolean> = async () => true,
  ): Promise<boolean> {
    await this.guardFactors.endTrust(userId);
    const enabled = { secret: this.factors.encrypted(userId, secret), confirmedAt: new Date(this.clock.now()) };
    let wasEnabled = false;
    const stored = await this.factors.change(userId, (current) => {
      wasEnabled = isEnabled(current);
      // The code is valid only for the secret that it was checked against.
      if (this.factors.secretOf(userId, current) !== secret) return null;
      return wasEnabled ? current : { ...current, ...enabled };
    });
    if (!stored) return false;
    if (wasEnabled) return true;
    let isKept: boolean | undefined;
    try {
      isKept = await isAllowed();
    } finally {
      // After an error the factor is pending again, so that the user can repeat the request with another code.
      const undone = (current: identity.StoredSecondFactor): identity.StoredSecondFactor | null =>
        current.secret !== enabled.secret
          ? null
          : isKept === false
            ? NO_SECOND_FACTOR
            : { ...current, secret: pending.secret, confirmedAt: null };
      if (!isKept)
        await deadline.bestEffort('undoing the confirmation of a factor', () => this.factors.change(userId, undone), 0);
    }
    if (!isKept) return false;
    this.events.emit(new TwoFactorEnabled(userId, this.realm.guard, false));
    return true;
  }

  /**
   * Enables a second factor that the user has enrolled in another system. The codes of the authenticator app stay
   * valid. Replaces a pending enrolment.
   *
   * @param replace whether to replace an enabled second factor, with its recovery codes
   * @returns whether it was stored: false if the same secret is enabled already, so an import can be repeated. After the
   * factor was removed, an import enables it again, with all its recovery codes
   * @throws ValidationFailed under `secret`, `recovery_code_hashes` or `confirmed_at` for a value that cannot be used,
   * and under `user_id` for an unknown user; AlreadyEnrolled if another secret is enabled; TypeError for a value that is
   * no id. Nothing is changed then
   */
  async importFactor(
    userId: string | number,
    imported: ImportedFactor,
    { replace = false }: { replace?: boolean } = {},
  ): Promise<boolean> {
    const id = identity.idText(userId, 'userId');
    const { secret, recoveryCodes, confirmedAt } = this.imports.validated(imported);
    const next = {
      secret: this.factors.encrypted(id, secret),
      recoveryCodes,
      confirmedAt: confirmedAt ?? new Date(this.clock.now()),
    };
    await this.guardFactors.endTrust(id);
    const found: { enabled?: 'none' | 'same' | 'other' } = {};
    const stored = await this.factors.change(id, (current) => {
      const isSame = this.factors.secretOf(id, current) === secret;
      found.enabled = !isEnabled(current) ? 'none' : isSame ? 'same' : 'other';
      return found.enabled === 'none' || replace ? next : null;
    });
    if (!stored && found.enabled === 'same') return false;
    if (!stored && found.enabled === 'other') throw new AlreadyEnrolled();
    if (!stored)
      throw new errors.ValidationFailed({ user_id: [{ key: 'validation.invalid', params: { field: 'user id' } }] });
    this.events.emit(new TwoFactorEnabled(id, this.realm.guard, true));
    return true;
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

  /** Whether the login requires a second factor of this user. */
  async isEnabled(userId: string): Promise<boolean> {
    return isEnabled(await this.factors.read(userId));
  }

  /** Returns the number of remaining recovery codes, and the size of a set. */
  async recoveryCodeCount(userId: string): Promise<{ remaining: number; total: number }> {
    const { recoveryCodes } = await this.factors.read(userId);
    return { remaining: this.codes.count(recoveryCodes), total: this.realm.options.twoFactor.recoveryCodes };
  }

  /**
   * Replaces the recovery codes. The former codes become invalid.
   *
   * @param isAllowed called after the codes are stored; when it returns false or throws, the former ones are restored
   * @throws NotEnrolled; Unauthenticated when `isAllowed` returns false
   */
  async replaceRecoveryCodes(userId: string, isAllowed: () => Promise<boolean> = async () => true): Promise<string[]> {
    if (!(await this.isEnabled(userId))) throw new NotEnrolled();
    const { codes, column } = await this.codes.generate();
    let former: string | null = null;
    const stored = await this.factors.change(userId, (current) => {
      former = current.recoveryCodes;
      return isEnabled(current) ? { ...current, recoveryCodes: column } : null;
    });
    if (!stored) throw new NotEnrolled();
    let isKept = false;
    try {
      isKept = await isAllowed();
    } finally {
      const restored = (current: identity.StoredSecondFactor): identity.StoredSecondFactor | null =>
        current.recoveryCodes === column ? { ...current, recoveryCodes: former } : null;
      if (!isKept)
        await deadline.bestEffort('restoring recovery codes', () => this.factors.change(userId, restored), 0);
    }
    if (!isKept) throw sessionEnded(userId);
    this.events.emit(new RecoveryCodesReplaced(userId, this.realm.guard));
    return codes;
  }
}

/**
 * The hook `takeover`: removes the factor of the user, also one whose enrolment is pending. A concurrent enrolment stores its
 * factor first and then checks its session, which has ended.
 */
export async function removeFactor(
  services: data.GuardServices,
  { userId, since }: session.TakenAccount,
): Promise<boolean> {
  if (since) {
    const { confirmedAt } = await services.get(SecondFactors).read(userId);
    if (confirmedAt && confirmedAt < since) return false;
  }
  await services.get(TwoFactor).disable(userId);
  return false;
}

/** The hook `removeCredential`. */
export async function removeNamedFactor(
  services: data.GuardServices,
  { userId }: session.NamedCredential,
): Promise<boolean> {
  const twoFactor = services.get(TwoFactor);
  if (!(await twoFactor.isEnabled(userId))) return false;
  await twoFactor.disable(userId);
  return true;
}
