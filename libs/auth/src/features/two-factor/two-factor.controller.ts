import { type CallSource, Flow, type ServerRequest } from '../../request/http/server-call';
import { Controller, Delete, Get, HttpCode, Injectable, Post } from '@nestjs/common';
import type { Caller } from '../../identity/tokens/caller';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { Authenticated, CurrentCaller } from '../../request/gates/authenticated';
import { OptionalText, RequestBody } from '../../request/http/request-body';
import { NoStore } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import { Unlimited } from '../../foundation/realm/feature';
import { Sessions } from '../sessions/sessions';
import { RequireConfirmation } from '../step-up/require-confirmation';
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
    private readonly twoFactor: TwoFactor,
    private readonly removal: TwoFactorRemoval,
    private readonly sessions: Sessions,
  ) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Throttled('svc-2fa-setup')
  async enrol(@CurrentCaller() { user, familyId }: Caller): Promise<{ otpauth_uri: string; recovery_codes: string[] }> {
    const { otpauthUri, recoveryCodes } = await this.twoFactor.enrol(user, () => this.sessions.isAlive(familyId));
    return { otpauth_uri: otpauthUri, recovery_codes: recoveryCodes };
  }

  @Post('confirm')
  @HttpCode(204)
  @Throttled('svc-2fa-confirm')
  confirm(
    @CurrentCaller() { userId, familyId }: Caller,
    @RequestBody(ConfirmTwoFactorRequest) { code }: ConfirmTwoFactorRequest,
  ): Promise<void> {
    return this.twoFactor.confirm(userId, code ?? '', () => this.sessions.isAlive(familyId));
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
    private readonly sessions: Sessions,
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
  async replace(@CurrentCaller() { userId, familyId }: Caller): Promise<{ recovery_codes: string[] }> {
    const isAlive = (): Promise<boolean> => this.sessions.isAlive(familyId);
    return { recovery_codes: await this.twoFactor.replaceRecoveryCodes(userId, isAlive) };
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
   * @throws Unauthenticated, ConfirmationRequired, AlreadyEnrolled, TooManyRequests, HasherBusy, StoreUnavailable
   */
  async start(source: CallSource): Promise<Enrolment> {
    const twoFactor = this.get(TwoFactor);
    return this.callAs(TwoFactorController, 'enrol', source, ({ user, familyId }) =>
      twoFactor.enrol(user, () => this.get(Sessions).isAlive(familyId)),
    );
  }

  /**
   * As `POST /two-factor/confirm`.
   *
   * @throws Unauthenticated, ConfirmationRequired, WrongCode, TooManyRequests, ValidationFailed
   */
  async confirm(code: string, source: CallSource): Promise<void> {
    const twoFactor = this.get(TwoFactor);
    const enable = async ({ userId, familyId }: Caller, request: ServerRequest): Promise<void> =>
      twoFactor.confirm(userId, this.read(ConfirmTwoFactorRequest, request).code ?? '', () =>
        this.get(Sessions).isAlive(familyId),
      );
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
   * @throws Unauthenticated, ConfirmationRequired, NotEnrolled, TooManyRequests, HasherBusy
   */
  async replaceRecoveryCodes(source: CallSource): Promise<string[]> {
    const twoFactor = this.get(TwoFactor);
    return this.callAs(RecoveryCodesController, 'replace', source, ({ userId, familyId }) =>
      twoFactor.replaceRecoveryCodes(userId, () => this.get(Sessions).isAlive(familyId)),
    );
  }
}
