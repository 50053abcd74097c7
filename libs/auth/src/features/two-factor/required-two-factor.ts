import { Controller, Injectable, Req } from '@nestjs/common';
import { TEXT, listOf, record } from '../../foundation/platform/schema';
import { HasherBusy } from '../../identity/password/hash-queue';
import type { Caller } from '../../identity/tokens/caller';
import { OptionalText, RequestBody } from '../../request/http/request-body';
import type { SessionTokens } from '../../request/http/route.interceptor';
import { type CallSource, Flow } from '../../request/http/server-call';
import { AttemptGuard, FailureLimits } from '../../request/lockout/attempt-guard';
import { userLock } from '../../request/lockout/lockout.store';
import { Route, lockRefusal, tokenPair } from '../../request/routes/route';
import { TooManyFailures } from '../../request/throttling/throttling.errors';
import { WrongCode } from '../login-challenge/challenge';
import {
  BadEnrolment,
  EnrolmentRequest,
  LoginEnrolments,
  enrolmentRefusals,
} from '../login-challenge/login-enrolments';
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

/** The body of the answer that starts an enrolment. */
export interface EnrolmentBody {
  otpauth_uri: string;
  recovery_codes: string[];
}

export const ENROLMENT_BODY = record<EnrolmentBody>({ otpauth_uri: TEXT, recovery_codes: listOf(TEXT) });

export const bodyOfEnrolment = ({ otpauthUri, recoveryCodes }: Enrolment): EnrolmentBody => ({
  otpauth_uri: otpauthUri,
  recovery_codes: recoveryCodes,
});

export const enrolmentIn = ({ otpauth_uri: otpauthUri, recovery_codes: recoveryCodes }: EnrolmentBody): Enrolment => ({
  otpauthUri,
  recoveryCodes,
});

@Controller('two-factor-enrolment')
export class RequiredTwoFactorController {
  constructor(private readonly enrolment: RequiredTwoFactor) {}

  @Route('POST', '', 'enrolment_start', {
    summary: 'Begins to set up an authenticator during a sign-in',
    public: true,
    limiter: 'svc-2fa',
    answer: ENROLMENT_BODY,
    refusals: [enrolmentRefusals, HasherBusy],
  })
  async start(@RequestBody() body: EnrolmentRequest): Promise<EnrolmentBody> {
    return bodyOfEnrolment(await this.enrolment.start(body));
  }

  @Route('POST', 'confirm', 'enrolment_confirm', {
    summary: 'Completes a sign-in with the first code of a new authenticator',
    public: 'own-origin',
    limiter: 'svc-2fa',
    answer: tokenPair,
    refusals: [enrolmentRefusals, WrongCode, () => new TooManyFailures('code', 60), lockRefusal('code')],
    presentedAs: 'login',
  })
  confirm(@RequestBody() body: ConfirmEnrolmentRequest, @Req() request: object): Promise<SessionTokens> {
    return this.enrolment.confirm(body, request);
  }
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** The enrolment of an authenticator during a sign-in (`twoFactor.required`). */
    readonly requiredEnrolment: RequiredEnrolmentFlow;
  }
}

/**
 * The enrolment of an authenticator during a sign-in (`twoFactor.required`), for code of the host.
 * `PasskeyFlow.enrolmentOptions` is the same with a passkey.
 *
 * @publicApi
 */
export class RequiredEnrolmentFlow extends Flow {
  /**
   * As `POST /two-factor-enrolment`.
   *
   * @throws BadEnrolment, UnverifiedLogin, SignInRefused, HasherBusy, TooManyRequests, ValidationFailed, StoreUnavailable
   */
  async start(enrolmentToken: string, source: CallSource): Promise<Enrolment> {
    return enrolmentIn(await this.call(RequiredTwoFactorController, 'start', source, { enrolmentToken }));
  }

  /**
   * As `POST /two-factor-enrolment/confirm`: returns the tokens of a new session.
   *
   * @throws BadEnrolment, WrongCode, TooManyFailures, TooManyRequests, AccountIsLocked, UnverifiedLogin, SignInRefused,
   * ValidationFailed, StoreUnavailable
   */
  confirm(enrolmentToken: string, code: string, source: CallSource): Promise<SessionTokens> {
    return this.call(RequiredTwoFactorController, 'confirm', source, { enrolmentToken, code });
  }
}
