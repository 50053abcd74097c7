import { Controller } from '@nestjs/common';
import { HasherBusy } from '../../identity/password/hash-queue';
import { INTEGER, TEXT, listOf, record } from '../../foundation/platform/schema';
import type { Caller } from '../../identity/tokens/caller';
import { CurrentCaller } from '../../request/gates/authenticated';
import { OptionalText, RequestBody } from '../../request/http/request-body';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route, signInRefusal } from '../../request/routes/route';
import { WrongCode } from '../login-challenge/challenge';
import { lastFactorRefusal } from '../login-challenge/required-factors';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { RequireConfirmation } from '../step-up/require-confirmation';
import { OwnTwoFactor } from './own-two-factor';
import {
  type EnrolmentBody,
  ENROLMENT_BODY,
  TwoFactorRemoval,
  bodyOfEnrolment,
  enrolmentIn,
} from './required-two-factor';
import { type Enrolment, TwoFactor } from './two-factor';
import { AlreadyEnrolled, NotEnrolled } from './two-factor.errors';

/** Body of `POST /two-factor/confirm`. A missing code is treated as a wrong code. */
export class ConfirmTwoFactorRequest {
  @OptionalText()
  code: string | null = null;
}

@Controller('two-factor')
export class TwoFactorController {
  constructor(
    private readonly twoFactor: OwnTwoFactor,
    private readonly removal: TwoFactorRemoval,
  ) {}

  @Route('POST', '', 'two_factor_enrol', {
    summary: 'Begins to set up an authenticator',
    gates: [RequireConfirmation()],
    limiter: 'svc-2fa-setup',
    answer: ENROLMENT_BODY,
    refusals: [AlreadyEnrolled, HasherBusy, signInRefusal],
  })
  async enrol(@CurrentCaller() caller: Caller): Promise<EnrolmentBody> {
    return bodyOfEnrolment(await this.twoFactor.enrol(caller));
  }

  @Route('POST', 'confirm', 'two_factor_confirm', {
    summary: 'Switches the second factor on with a first code',
    gates: [RequireConfirmation()],
    limiter: 'svc-2fa-confirm',
    refusals: [WrongCode, signInRefusal],
    quiet: true,
  })
  confirm(@CurrentCaller() caller: Caller, @RequestBody() { code }: ConfirmTwoFactorRequest): Promise<void> {
    return this.twoFactor.confirm(caller, code ?? '');
  }

  @Route('DELETE', '', 'two_factor_disable', {
    summary: 'Switches the second factor off',
    gates: [RequireConfirmation()],
    unlimited: 'it removes the factor of the caller, which has to be set up again before',
    refusals: [lastFactorRefusal],
    quiet: true,
  })
  disable(@CurrentCaller() caller: Caller): Promise<void> {
    return this.removal.remove(caller);
  }
}

@Controller('two-factor/recovery-codes')
export class RecoveryCodesController {
  constructor(
    private readonly twoFactor: TwoFactor,
    private readonly own: OwnTwoFactor,
  ) {}

  @Route('GET', '', 'recovery_codes_count', {
    summary: 'How many recovery codes are left',
    gates: [RequireIfPinned('svc.account')],
    unlimited: 'it reads one row',
    answer: record<{ remaining: number; total: number }>({ remaining: INTEGER, total: INTEGER }),
    quiet: true,
  })
  count(@CurrentCaller() { userId }: Caller): Promise<{ remaining: number; total: number }> {
    return this.twoFactor.recoveryCodeCount(userId);
  }

  @Route('POST', '', 'recovery_codes_renew', {
    summary: 'Replaces the recovery codes',
    gates: [RequireConfirmation()],
    limiter: 'svc-2fa-setup',
    answer: record<{ recovery_codes: string[] }>({ recovery_codes: listOf(TEXT) }),
    refusals: [NotEnrolled, HasherBusy, signInRefusal],
  })
  async replace(@CurrentCaller() caller: Caller): Promise<{ recovery_codes: string[] }> {
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
export class EnrolmentFlow extends Flow {
  /**
   * As `POST /two-factor`: starts the enrolment. The factor is enabled by {@link confirm}.
   *
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, AlreadyEnrolled, TooManyRequests, HasherBusy, StoreUnavailable
   */
  async start(source: CallSource): Promise<Enrolment> {
    return enrolmentIn(await this.call(TwoFactorController, 'enrol', source));
  }

  /**
   * As `POST /two-factor/confirm`.
   *
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, WrongCode, TooManyRequests, ValidationFailed
   */
  confirm(code: string, source: CallSource): Promise<void> {
    return this.call(TwoFactorController, 'confirm', source, { code });
  }

  /** As `DELETE /two-factor`: removes the second factor. @throws Unauthenticated, ConfirmationRequired, SecondFactorRequired */
  disable(source: CallSource): Promise<void> {
    return this.call(TwoFactorController, 'disable', source);
  }

  /** As `GET /two-factor/recovery-codes`: counts the remaining codes. @throws Unauthenticated, InsufficientScope */
  recoveryCodes(source: CallSource): Promise<{ remaining: number; total: number }> {
    return this.call(RecoveryCodesController, 'count', source);
  }

  /**
   * As `POST /two-factor/recovery-codes`.
   *
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, NotEnrolled, TooManyRequests, HasherBusy
   */
  async replaceRecoveryCodes(source: CallSource): Promise<string[]> {
    return (await this.call(RecoveryCodesController, 'replace', source)).recovery_codes;
  }
}
