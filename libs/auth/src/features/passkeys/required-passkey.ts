import { Controller, Req } from '@nestjs/common';
import { errors, http, input, session } from '../../kit';
import { PasskeyAsSecondFactor } from './passkey-assertions';
import { PasskeyEnrolment } from './passkey-enrolment';
import { CREATION_OPTIONS } from './webauthn/options';
import { PasskeyRefused } from './passkeys.errors';

/** Body of `POST /two-factor-enrolment/passkey`. */
export class PasskeyEnrolmentRequest extends session.EnrolmentRequest {
  @input.RequiredObject()
  credential!: object;

  @input.OptionalText()
  name: string | null = null;
}

/** The session of the enrolment has ended: the enrolment is closed. */
function falseIfEnded(error: unknown): false {
  if (error instanceof errors.Unauthenticated) return false;
  throw error;
}

/** Enrols the first passkey of a user with an enrolment token, and starts a session. */
@Controller('two-factor-enrolment')
export class RequiredPasskeyController {
  constructor(
    private readonly enrolments: session.LoginEnrolments,
    private readonly passkeys: PasskeyEnrolment,
    private readonly factors: session.GuardFactors,
  ) {}

  @http.Route('POST', 'passkey-options', 'enrolment_passkey_options', {
    summary: 'Begins to set up a passkey during a sign-in',
    public: true,
    limiter: 'svc-2fa',
    answer: CREATION_OPTIONS,
    refusals: [http.enrolmentRefusals],
    quiet: true,
  })
  async options(@http.RequestBody() { enrolment_token: token }: session.EnrolmentRequest) {
    return this.passkeys.begin(await this.enrolments.open(token));
  }

  @http.Route('POST', 'passkey', 'enrolment_passkey', {
    summary: 'Completes a sign-in with a new passkey',
    public: 'own-origin',
    limiter: 'svc-2fa',
    answer: http.tokenPair,
    refusals: [http.enrolmentRefusals, () => new PasskeyRefused('not_registered')],
    presentedAs: 'login',
  })
  async enrol(
    @http.RequestBody() { enrolment_token: token, credential, name }: PasskeyEnrolmentRequest,
    @Req() request: object,
  ): Promise<http.SessionTokens> {
    const enrolment = await this.enrolments.open(token);
    const { userId } = enrolment;
    const passkey = await this.passkeys.verified(userId, 'interactive', credential, name);
    // The database stores it only as the first passkey. Other factors are looked for afterwards, as each enrolment does.
    const isOnly = async (): Promise<boolean> => !(await this.factors.isHeldBy(userId, PasskeyAsSecondFactor));
    const store = (current: session.EnrolmentSession): Promise<boolean> =>
      this.passkeys.add(current, passkey, 1, isOnly).catch(falseIfEnded);
    return this.enrolments.complete(enrolment, 'webauthn', request, store, passkey.credentialId);
  }
}
