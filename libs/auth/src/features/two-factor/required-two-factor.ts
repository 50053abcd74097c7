import { Controller, Req } from '@nestjs/common';
import { http, identity, input, schema, session } from '../../kit';
import { TwoFactorCodes } from './stored-factors';
import { type Enrolment, TwoFactor } from './two-factor';
import { AlreadyEnrolled } from './two-factor.errors';

/** Body of `POST /two-factor-enrolment/confirm`. A missing code is treated as a wrong code. */
export class ConfirmEnrolmentRequest extends session.EnrolmentRequest {
  @input.OptionalText()
  code: string | null = null;
}

/** The body of the answer that starts an enrolment. */
export interface EnrolmentBody {
  otpauth_uri: string;
  recovery_codes: string[];
}

export const ENROLMENT_BODY = schema.record<EnrolmentBody>({
  otpauth_uri: schema.TEXT,
  recovery_codes: schema.listOf(schema.TEXT),
});

export const bodyOfEnrolment = ({ otpauthUri, recoveryCodes }: Enrolment): EnrolmentBody => ({
  otpauth_uri: otpauthUri,
  recovery_codes: recoveryCodes,
});

export const enrolmentIn = ({ otpauth_uri: otpauthUri, recovery_codes: recoveryCodes }: EnrolmentBody): Enrolment => ({
  otpauthUri,
  recoveryCodes,
});

/** Enrols TOTP with an enrolment token, and starts a session. */
@Controller('two-factor-enrolment')
export class RequiredTwoFactorController {
  constructor(
    private readonly enrolments: session.LoginEnrolments,
    private readonly twoFactor: TwoFactor,
    private readonly factors: session.GuardFactors,
  ) {}

  @http.Route('POST', '', 'enrolment_start', {
    summary: 'Begins to set up an authenticator during a sign-in',
    public: true,
    limiter: 'svc-2fa',
    answer: ENROLMENT_BODY,
    refusals: [http.enrolmentRefusals, identity.HasherBusy],
  })
  async start(@http.RequestBody() { enrolment_token: token }: session.EnrolmentRequest): Promise<EnrolmentBody> {
    const { user, isOpen, claims } = await this.enrolments.open(token);
    try {
      return bodyOfEnrolment(await this.twoFactor.enrol(user, isOpen, () => new session.BadEnrolment(), claims.jti));
    } catch (error) {
      throw error instanceof AlreadyEnrolled ? new session.BadEnrolment() : error;
    }
  }

  @http.Route('POST', 'confirm', 'enrolment_confirm', {
    summary: 'Completes a sign-in with the first code of a new authenticator',
    public: 'own-origin',
    limiter: 'svc-2fa',
    answer: http.tokenPair,
    refusals: [
      http.enrolmentRefusals,
      session.WrongCode,
      session.UsedCode,
      () => new http.TooManyFailures('code', { limit: 5, retryAfter: 60 }),
      http.lockRefusal('code'),
    ],
    presentedAs: 'login',
  })
  async confirm(
    @http.RequestBody() body: ConfirmEnrolmentRequest,
    @Req() request: object,
  ): Promise<http.SessionTokens> {
    const enrolment = await this.enrolments.open(body.enrolment_token);
    const { userId } = enrolment;
    const match = await this.factors.attempt(userId, { isGuessable: true }, () =>
      this.twoFactor.matchPending(userId, body.code ?? ''),
    );
    return this.enrolments.complete(enrolment, 'otp', request, ({ isAlive }) =>
      // Each kind of factor is stored before the others are looked for: of two concurrent enrolments at most one remains.
      match.enable(async () => (await isAlive()) && !(await this.factors.isHeldBy(userId, TwoFactorCodes))),
    );
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
export class RequiredEnrolmentFlow extends http.Flow {
  /**
   * As `POST /two-factor-enrolment`.
   *
   * @throws BadEnrolment, UnverifiedLogin, SignInRefused, HasherBusy, TooManyRequests, ValidationFailed, StoreUnavailable
   */
  async start(enrolmentToken: string, source: http.CallSource): Promise<Enrolment> {
    return enrolmentIn(await this.call(RequiredTwoFactorController, 'start', source, { enrolmentToken }));
  }

  /**
   * As `POST /two-factor-enrolment/confirm`: returns the tokens of a new session.
   *
   * @throws BadEnrolment, WrongCode, UsedCode, TooManyFailures, TooManyRequests, AccountIsLocked, UnverifiedLogin, SignInRefused,
   * ValidationFailed, StoreUnavailable
   */
  confirm(enrolmentToken: string, code: string, source: http.CallSource): Promise<http.SessionTokens> {
    return this.call(RequiredTwoFactorController, 'confirm', source, { enrolmentToken, code });
  }
}
