import { Controller, Injectable } from '@nestjs/common';
import { http, identity, input, schema, session } from '../../kit';
import { type EnrolmentBody, ENROLMENT_BODY, bodyOfEnrolment, enrolmentIn } from './required-two-factor';
import { TwoFactorCodes } from './stored-factors';
import { type Enrolment, TwoFactor } from './two-factor';
import { AlreadyEnrolled, NotEnrolled } from './two-factor.errors';

declare module '../../foundation/ports/presenter' {
  interface SecondFactorMethods {
    totp: true;
    recovery_code: false;
  }
}

declare module '../login-challenge/challenge.controller' {
  interface SecondFactorAnswers {
    code: { readonly code: string };
    recoveryCode: { readonly recoveryCode: string };
  }
}

declare module '../step-up/confirm-password.controller' {
  interface FactorBesidePassword {
    code?: string;
    recoveryCode?: string;
  }
}

/**
 * The second factor of a caller. Nothing is stored for a user whom `hooks.canSignIn` refuses, and nothing remains stored if the
 * session of the caller ends meanwhile.
 */
@Injectable()
export class OwnTwoFactor {
  constructor(
    private readonly twoFactor: TwoFactor,
    private readonly sessions: session.Sessions,
    private readonly standings: identity.AccountStandings,
    private readonly requiredFactors: session.RequiredFactors,
  ) {}

  /** @throws SignInRefused; and the errors of {@link TwoFactor.enrol} */
  async enrol(caller: identity.Caller): Promise<Enrolment> {
    await this.standings.refuse(caller.userId);
    const { user, familyId } = caller;
    return this.twoFactor.enrol(user, () => this.sessions.isAlive(familyId), undefined, familyId);
  }

  /** @throws SignInRefused, before the code is used; and the errors of {@link TwoFactor.confirm} */
  async confirm({ userId, familyId }: identity.Caller, code: string): Promise<void> {
    await this.standings.refuse(userId);
    await this.twoFactor.confirm(userId, code, () => this.sessions.isAlive(familyId));
  }

  /** @throws SignInRefused; and the errors of {@link TwoFactor.replaceRecoveryCodes} */
  async replaceRecoveryCodes({ userId, familyId }: identity.Caller): Promise<string[]> {
    await this.standings.refuse(userId);
    return this.twoFactor.replaceRecoveryCodes(userId, () => this.sessions.isAlive(familyId));
  }

  /** An operator calls {@link TwoFactor.disable}. @throws SecondFactorRequired for the last factor of a user who must have one */
  remove(caller: identity.Caller): Promise<void> {
    const { userId } = caller;
    // A pending factor does not count.
    const isNone = async (): Promise<boolean> => !(await this.twoFactor.isEnabled(userId));
    return this.requiredFactors.remove(caller, TwoFactorCodes, isNone, () => this.twoFactor.disable(userId));
  }
}

/** Body of `POST /two-factor/confirm`. A missing code is treated as a wrong code. */
export class ConfirmTwoFactorRequest {
  @input.OptionalText()
  code: string | null = null;
}

@Controller('two-factor')
export class TwoFactorController {
  constructor(private readonly twoFactor: OwnTwoFactor) {}

  @http.Route('POST', '', 'two_factor_enrol', {
    summary: 'Begins to set up an authenticator',
    gates: [http.RequireConfirmation()],
    limiter: 'svc-2fa-setup',
    answer: ENROLMENT_BODY,
    refusals: [AlreadyEnrolled, identity.HasherBusy, http.signInRefusal],
  })
  async enrol(@http.CurrentCaller() caller: identity.Caller): Promise<EnrolmentBody> {
    return bodyOfEnrolment(await this.twoFactor.enrol(caller));
  }

  @http.Route('POST', 'confirm', 'two_factor_confirm', {
    summary: 'Switches the second factor on with a first code',
    gates: [http.RequireConfirmation()],
    limiter: 'svc-2fa-confirm',
    refusals: [session.WrongCode, session.UsedCode, http.signInRefusal],
    quiet: true,
  })
  confirm(
    @http.CurrentCaller() caller: identity.Caller,
    @http.RequestBody() { code }: ConfirmTwoFactorRequest,
  ): Promise<void> {
    return this.twoFactor.confirm(caller, code ?? '');
  }

  @http.Route('DELETE', '', 'two_factor_disable', {
    summary: 'Switches the second factor off',
    gates: [http.RequireConfirmation()],
    unlimited: 'it removes the factor of the caller, which has to be set up again before',
    refusals: [http.lastFactorRefusal],
    quiet: true,
  })
  disable(@http.CurrentCaller() caller: identity.Caller): Promise<void> {
    return this.twoFactor.remove(caller);
  }
}

@Controller('two-factor/recovery-codes')
export class RecoveryCodesController {
  constructor(
    private readonly twoFactor: TwoFactor,
    private readonly own: OwnTwoFactor,
  ) {}

  @http.Route('GET', '', 'recovery_codes_count', {
    summary: 'How many recovery codes are left',
    gates: [http.RequireIfPinned('svc.account')],
    unlimited: 'it reads one row',
    answer: schema.record<{ remaining: number; total: number }>({ remaining: schema.INTEGER, total: schema.INTEGER }),
    quiet: true,
  })
  count(@http.CurrentCaller() { userId }: identity.Caller): Promise<{ remaining: number; total: number }> {
    return this.twoFactor.recoveryCodeCount(userId);
  }

  @http.Route('POST', '', 'recovery_codes_renew', {
    summary: 'Replaces the recovery codes',
    gates: [http.RequireConfirmation()],
    limiter: 'svc-2fa-setup',
    answer: schema.record<{ recovery_codes: string[] }>({ recovery_codes: schema.listOf(schema.TEXT) }),
    refusals: [NotEnrolled, identity.HasherBusy, http.signInRefusal],
  })
  async replace(@http.CurrentCaller() caller: identity.Caller): Promise<{ recovery_codes: string[] }> {
    return { recovery_codes: await this.own.replaceRecoveryCodes(caller) };
  }
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Second factors and recovery codes of a caller. `Auth.twoFactor` is the same without a caller, for operators. */
    readonly enrolment: EnrolmentFlow;
    /**
     * Manages the second factors of this guard's users from server code: an extra guard has no enrolment routes, and an
     * operator may have to remove a factor. @throws AuthConfigError when `features.twoFactor` is off for the guard
     */
    readonly twoFactor: TwoFactor;
  }
}

/**
 * Enrolment of an authenticator and recovery codes by their user, for code of the host. All calls except {@link
 * recoveryCodes} need a confirmation token. `Auth.twoFactor` is the same without a caller, for operators.
 *
 * @publicApi
 */
export class EnrolmentFlow extends http.Flow {
  /**
   * As `POST /two-factor`: starts the enrolment. The factor is enabled by {@link confirm}.
   *
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, AlreadyEnrolled, TooManyRequests, HasherBusy, StoreUnavailable
   */
  async start(source: http.CallSource): Promise<Enrolment> {
    return enrolmentIn(await this.call(TwoFactorController, 'enrol', source));
  }

  /**
   * As `POST /two-factor/confirm`.
   *
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, WrongCode, UsedCode, TooManyRequests, ValidationFailed
   */
  confirm(code: string, source: http.CallSource): Promise<void> {
    return this.call(TwoFactorController, 'confirm', source, { code });
  }

  /** As `DELETE /two-factor`: removes the second factor. @throws Unauthenticated, ConfirmationRequired, SecondFactorRequired */
  disable(source: http.CallSource): Promise<void> {
    return this.call(TwoFactorController, 'disable', source);
  }

  /** As `GET /two-factor/recovery-codes`: counts the remaining codes. @throws Unauthenticated, InsufficientScope */
  recoveryCodes(source: http.CallSource): Promise<{ remaining: number; total: number }> {
    return this.call(RecoveryCodesController, 'count', source);
  }

  /**
   * As `POST /two-factor/recovery-codes`.
   *
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, NotEnrolled, TooManyRequests, HasherBusy
   */
  async replaceRecoveryCodes(source: http.CallSource): Promise<string[]> {
    return (await this.call(RecoveryCodesController, 'replace', source)).recovery_codes;
  }
}
