import { type CallSource, Flow, type ServerRequest } from '../../request/http/server-call';
import { Controller, Delete, Get, HttpCode, Injectable, Post } from '@nestjs/common';
import type { Caller } from '../../identity/tokens/caller';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { Authenticated, CurrentCaller } from '../../request/gates/authenticated';
import { OptionalText, RequestBody } from '../../request/http/request-body';
import { NoStore } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import { Unlimited } from '../../foundation/realm/feature';
import { RequireConfirmation } from '../step-up/require-confirmation';
import { OwnTwoFactor } from './own-two-factor';
import { TwoFactorRemoval } from './required-two-factor';
import { type Enrolment, TwoFactor } from './two-factor';

/** Body of `POST /two-factor/confirm`. A missing code is treated as a wrong code. */
export class ConfirmTwoFactorRequest {
  @OptionalText()
  code: string | null = null;
}

@Controller('two-factor')
@Authenticated()
@RequireConfirmation()
export class TwoFactorController {
  constructor(
    private readonly twoFactor: OwnTwoFactor,
    private readonly removal: TwoFactorRemoval,
  ) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Throttled('svc-2fa-setup')
  async enrol(@CurrentCaller() caller: Caller): Promise<{ otpauth_uri: string; recovery_codes: string[] }> {
    const { otpauthUri, recoveryCodes } = await this.twoFactor.enrol(caller);
    return { otpauth_uri: otpauthUri, recovery_codes: recoveryCodes };
  }

  @Post('confirm')
  @HttpCode(204)
  @Throttled('svc-2fa-confirm')
  confirm(
    @CurrentCaller() caller: Caller,
    @RequestBody(ConfirmTwoFactorRequest) { code }: ConfirmTwoFactorRequest,
  ): Promise<void> {
    return this.twoFactor.confirm(caller, code ?? '');
  }

  @Delete()
  @HttpCode(204)
  @Unlimited('it removes the factor of the caller, which has to be set up again before')
  disable(@CurrentCaller() caller: Caller): Promise<void> {
    return this.removal.remove(caller);
  }
}

@Controller('two-factor/recovery-codes')
@Authenticated()
export class RecoveryCodesController {
  constructor(
    private readonly twoFactor: TwoFactor,
    private readonly own: OwnTwoFactor,
  ) {}

  @Get()
  @NoStore()
  @RequireIfPinned('svc.account')
  @Unlimited('it reads one row')
  count(@CurrentCaller() { userId }: Caller): Promise<{ remaining: number; total: number }> {
    return this.twoFactor.recoveryCodeCount(userId);
  }

  @Post()
  @HttpCode(200)
  @NoStore()
  @Throttled('svc-2fa-setup')
  @RequireConfirmation()
  async replace(@CurrentCaller() caller: Caller): Promise<{ recovery_codes: string[] }> {
    return { recovery_codes: await this.own.replaceRecoveryCodes(caller) };
  }
}

/**
 * Enrolment of an authenticator and recovery codes by their user, for code of the host. All calls except {@link
 * recoveryCodes} need a confirmation token. `Auth.twoFactor` is the same without a caller, for operators.
 *
 * @publicApi
 */
@Injectable()
export class EnrolmentFlow extends Flow {
  protected override readonly feature = 'twoFactor';

  /**
   * As `POST /two-factor`: starts the enrolment. The factor is enabled by {@link confirm}.
   *
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, AlreadyEnrolled, TooManyRequests, HasherBusy, StoreUnavailable
   */
  async start(source: CallSource): Promise<Enrolment> {
    const twoFactor = this.get(OwnTwoFactor);
    return this.callAs(TwoFactorController, 'enrol', source, (caller) => twoFactor.enrol(caller));
  }

  /**
   * As `POST /two-factor/confirm`.
   *
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, WrongCode, TooManyRequests, ValidationFailed
   */
  async confirm(code: string, source: CallSource): Promise<void> {
    const twoFactor = this.get(OwnTwoFactor);
    const enable = async (caller: Caller, request: ServerRequest): Promise<void> =>
      twoFactor.confirm(caller, this.read(ConfirmTwoFactorRequest, request).code ?? '');
    return this.callAs(TwoFactorController, 'confirm', source, enable, { code });
  }

  /** As `DELETE /two-factor`: removes the second factor. @throws Unauthenticated, ConfirmationRequired, SecondFactorRequired */
  async disable(source: CallSource): Promise<void> {
    const removal = this.get(TwoFactorRemoval);
    return this.callAs(TwoFactorController, 'disable', source, (caller) => removal.remove(caller));
  }

  /** As `GET /two-factor/recovery-codes`: counts the remaining codes. @throws Unauthenticated, InsufficientScope */
  async recoveryCodes(source: CallSource): Promise<{ remaining: number; total: number }> {
    const twoFactor = this.get(TwoFactor);
    return this.callAs(RecoveryCodesController, 'count', source, ({ userId }) => twoFactor.recoveryCodeCount(userId));
  }

  /**
   * As `POST /two-factor/recovery-codes`.
   *
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, NotEnrolled, TooManyRequests, HasherBusy
   */
  async replaceRecoveryCodes(source: CallSource): Promise<string[]> {
    const twoFactor = this.get(OwnTwoFactor);
    return this.callAs(RecoveryCodesController, 'replace', source, (caller) => twoFactor.replaceRecoveryCodes(caller));
  }
}
