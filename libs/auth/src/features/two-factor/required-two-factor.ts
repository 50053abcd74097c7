import { Controller, HttpCode, Injectable, Post, Req } from '@nestjs/common';
import type { Caller } from '../../identity/tokens/caller';
import { Public } from '../../request/gates/authenticated';
import { OptionalText, RequestBody } from '../../request/http/request-body';
import { DeliversTokens, NoStore, type SessionTokens } from '../../request/http/route.interceptor';
import { type CallSource, Flow, type ServerRequest } from '../../request/http/server-call';
import { AttemptGuard, FailureLimits } from '../../request/lockout/attempt-guard';
import { userLock } from '../../request/lockout/lockout.store';
import { Throttled } from '../../request/throttling/limiters';
import { WrongCode } from '../login-challenge/challenge';
import { BadEnrolment, EnrolmentRequest, LoginEnrolments } from '../login-challenge/login-enrolments';
import { RequiredFactors } from '../login-challenge/required-factors';
import { PasskeyFactor } from '../login-challenge/second-factors';
import { type Enrolment, type PendingMatch, TwoFactor } from './two-factor';
import { AlreadyEnrolled } from './two-factor.errors';

/** Body of `POST /two-factor-enrolment/confirm`. A missing code is treated as a wrong code. */
export class ConfirmEnrolmentRequest extends EnrolmentRequest {
  @OptionalText()
  code: string | null = null;
}

/** Enrols TOTP with an enrolment token, and starts a session. */
@Injectable()
export class RequiredTwoFactor {
  constructor(
    private readonly enrolments: LoginEnrolments,
    private readonly twoFactor: TwoFactor,
    private readonly passkeys: PasskeyFactor,
    private readonly attempts: AttemptGuard,
    private readonly limits: FailureLimits,
  ) {}

  /** Starts the enrolment. Replaces a pending one. @throws BadEnrolment, UnverifiedLogin, SignInRefused, HasherBusy */
  async start({ enrolment_token: token }: EnrolmentRequest): Promise<Enrolment> {
    const { user, isOpen } = await this.enrolments.open(token);
    try {
      return await this.twoFactor.enrol(user, isOpen, () => new BadEnrolment());
    } catch (error) {
      throw error instanceof AlreadyEnrolled ? new BadEnrolment() : error;
    }
  }

  /** @throws BadEnrolment, WrongCode, AccountIsLocked, TooManyFailures, UnverifiedLogin, SignInRefused */
  async confirm(body: ConfirmEnrolmentRequest, request: object): Promise<SessionTokens> {
    const enrolment = await this.enrolments.open(body.enrolment_token);
    const { userId } = enrolment;
    const lock = userLock('two_factor', userId);
    const limits = this.limits.ofTwoFactor(userId);
    const attempt = { lock, limits, field: 'code', released: (): [typeof lock] => [lock] };
    const match = await this.attempts.run<PendingMatch>(attempt, () =>
      this.twoFactor.matchPending(userId, body.code ?? ''),
    );
    if (!match) throw new WrongCode();
    return this.enrolments.complete(enrolment, 'otp', request, ({ isAlive }) =>
      // Each kind of factor is stored before the other one is looked for: of two concurrent enrolments at most one remains.
      match.enable(async () => (await isAlive()) && !(await this.passkeys.isHeldBy(userId))),
    );
  }
}

/** Removes the second factor of a user at the user's request (`DELETE /two-factor`). An operator calls `TwoFactor.disable`. */
@Injectable()
export class TwoFactorRemoval {
  constructor(
    private readonly twoFactor: TwoFactor,
    private readonly passkeys: PasskeyFactor,
    private readonly requiredFactors: RequiredFactors,
  ) {}

  /** @throws SecondFactorRequired for the last factor of a user who must have one */
  remove(caller: Caller): Promise<void> {
    const { userId } = caller;
    // A pending factor is none yet.
    const hasAnother = async (): Promise<boolean> =>
      (await this.passkeys.isHeldBy(userId)) || !(await this.twoFactor.isEnabled(userId));
    return this.requiredFactors.remove(caller, hasAnother, () => this.twoFactor.disable(userId));
  }
}

@Controller('two-factor-enrolment')
export class RequiredTwoFactorController {
  constructor(private readonly enrolment: RequiredTwoFactor) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Public()
  @Throttled('svc-2fa')
  async start(
    @RequestBody(EnrolmentRequest) body: EnrolmentRequest,
  ): Promise<{ otpauth_uri: string; recovery_codes: string[] }> {
    const { otpauthUri, recoveryCodes } = await this.enrolment.start(body);
    return { otpauth_uri: otpauthUri, recovery_codes: recoveryCodes };
  }

  @Post('confirm')
  @Public()
  @Throttled('svc-2fa')
  @DeliversTokens()
  confirm(
    @RequestBody(ConfirmEnrolmentRequest) body: ConfirmEnrolmentRequest,
    @Req() request: object,
  ): Promise<SessionTokens> {
    return this.enrolment.confirm(body, request);
  }
}

/**
 * The enrolment of an authenticator during a sign-in (`twoFactor.required`), for code of the host.
 * `PasskeyFlow.enrolmentOptions` is the same with a passkey.
 *
 * @publicApi
 */
@Injectable()
export class RequiredEnrolmentFlow extends Flow {
  protected override readonly feature = 'twoFactor';

  /**
   * As `POST /two-factor-enrolment`.
   *
   * @throws BadEnrolment, UnverifiedLogin, SignInRefused, HasherBusy, TooManyRequests, ValidationFailed, StoreUnavailable
   */
  async start(enrolmentToken: string, source: CallSource): Promise<Enrolment> {
    const enrolment = this.get(RequiredTwoFactor);
    const start = async (request: ServerRequest): Promise<Enrolment> =>
      enrolment.start(this.read(EnrolmentRequest, request));
    return this.call(RequiredTwoFactorController, 'start', source, start, { enrolment_token: enrolmentToken });
  }

  /**
   * As `POST /two-factor-enrolment/confirm`: returns the tokens of a new session.
   *
   * @throws BadEnrolment, WrongCode, TooManyFailures, TooManyRequests, AccountIsLocked, UnverifiedLogin, SignInRefused,
   * ValidationFailed, StoreUnavailable
   */
  async confirm(enrolmentToken: string, code: string, source: CallSource): Promise<SessionTokens> {
    const enrolment = this.get(RequiredTwoFactor);
    const confirm = async (request: ServerRequest): Promise<SessionTokens> =>
      enrolment.confirm(this.read(ConfirmEnrolmentRequest, request), request);
    const body = { enrolment_token: enrolmentToken, code };
    return this.call(RequiredTwoFactorController, 'confirm', source, confirm, body);
  }
}
