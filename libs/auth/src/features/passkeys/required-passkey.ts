import { Controller, Injectable, Req } from '@nestjs/common';
import { Unauthenticated } from '../../foundation/platform/errors';
import { OptionalText, RequestBody, RequiredObject } from '../../request/http/request-body';
import type { SessionTokens } from '../../request/http/route.interceptor';
import { Route, tokenPair } from '../../request/routes/route';
import {
  EnrolmentRequest,
  type EnrolmentSession,
  LoginEnrolments,
  enrolmentRefusals,
} from '../login-challenge/login-enrolments';
import { CodeFactor } from '../login-challenge/second-factors';
import { PasskeyEnrolment } from './passkey-enrolment';
import { CREATION_OPTIONS } from './webauthn/options';
import { PasskeyRefused } from './passkeys.errors';

/** Body of `POST /two-factor-enrolment/passkey`. */
export class PasskeyEnrolmentRequest extends EnrolmentRequest {
  @RequiredObject()
  credential!: object;

  @OptionalText()
  name: string | null = null;
}

/** Enrols the first passkey of a user with an enrolment token, and starts a session. */
@Injectable()
export class RequiredPasskey {
  constructor(
    private readonly enrolments: LoginEnrolments,
    private readonly passkeys: PasskeyEnrolment,
    private readonly codes: CodeFactor,
  ) {}

  /** @throws BadEnrolment, UnverifiedLogin, SignInRefused */
  async options({ enrolment_token: token }: EnrolmentRequest) {
    return this.passkeys.options(await this.enrolments.open(token));
  }

  /** @throws BadEnrolment, PasskeyRefused, UnverifiedLogin, SignInRefused */
  async enrol(
    { enrolment_token: token, credential, name }: PasskeyEnrolmentRequest,
    request: object,
  ): Promise<SessionTokens> {
    const enrolment = await this.enrolments.open(token);
    const { userId } = enrolment;
    const passkey = await this.passkeys.verified(userId, 'interactive', credential, name);
    // The database stores it only as the first passkey. TOTP is looked for afterwards: see `RequiredTwoFactor`.
    const isOnly = async (): Promise<boolean> => (await this.codes.stateOf(userId)) === null;
    const store = (session: EnrolmentSession): Promise<boolean> =>
      this.passkeys.add(session, passkey, 1, isOnly).catch(falseIfEnded);
    return this.enrolments.complete(enrolment, 'webauthn', request, store, passkey.credentialId);
  }
}

/** The session of the enrolment has ended: the enrolment is closed. */
function falseIfEnded(error: unknown): false {
  if (error instanceof Unauthenticated) return false;
  throw error;
}

@Controller('two-factor-enrolment')
export class RequiredPasskeyController {
  constructor(private readonly enrolment: RequiredPasskey) {}

  @Route('POST', 'passkey-options', 'enrolment_passkey_options', {
    summary: 'Begins to set up a passkey during a sign-in',
    public: true,
    limiter: 'svc-2fa',
    answer: CREATION_OPTIONS,
    refusals: [enrolmentRefusals],
    quiet: true,
  })
  options(@RequestBody() body: EnrolmentRequest) {
    return this.enrolment.options(body);
  }

  @Route('POST', 'passkey', 'enrolment_passkey', {
    summary: 'Completes a sign-in with a new passkey',
    public: 'own-origin',
    limiter: 'svc-2fa',
    answer: tokenPair,
    refusals: [enrolmentRefusals, () => new PasskeyRefused('not_registered')],
    presentedAs: 'login',
  })
  enrol(@RequestBody() body: PasskeyEnrolmentRequest, @Req() request: object): Promise<SessionTokens> {
    return this.enrolment.enrol(body, request);
  }
}
