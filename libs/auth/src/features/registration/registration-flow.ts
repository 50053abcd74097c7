import { type CallSource, Flow } from '../../request/http/server-call';
import type { PasskeyAnswer } from '../passkeys/passkey-flow';
import type { RegistrationAnswer } from './registration';
import { PasskeyRegistrationController, RegisterController } from './registration.controller';

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Registration of an account. */
    readonly registration: RegistrationFlow;
  }
}

/**
 * Registration, for code of the host. Needs `features.registration`.
 *
 * @publicApi
 */
export class RegistrationFlow extends Flow {
  /**
   * As `POST /register`: creates an account. Returns the tokens of a session, a challenge, or neither, as a login with
   * the new password would. With `registration.concealExisting`, the result is the same whether or not the email has an
   * account.
   *
   * @param fields the fields that the rules declare, by their names in a request body. `password_confirmation` may be
   * omitted
   * @throws ValidationFailed, IdentifierTaken, TooManyRequests, HasherBusy, StoreUnavailable
   */
  register(fields: Readonly<Record<string, unknown>>, source: CallSource): Promise<RegistrationAnswer> {
    const confirmed = { password_confirmation: fields?.password, ...fields };
    return this.call(RegisterController, 'register', source, { fields: confirmed });
  }

  /**
   * As `POST /register/passkey/options`: starts a ceremony for {@link registerWithPasskey}. The options are the JSON of
   * `PublicKeyCredentialCreationOptions`. Needs `features.passkeyRegistration`.
   *
   * @param fields the fields that the rules declare, without a password
   * @throws ValidationFailed, TooManyRequests, StoreUnavailable
   */
  async passkeyOptions(
    fields: Readonly<Record<string, unknown>>,
    source: CallSource,
  ): Promise<{ ceremonyId: string; options: object }> {
    const started = await this.call(PasskeyRegistrationController, 'options', source, { fields });
    return { ceremonyId: started.ceremony_id, options: started.options };
  }

  /**
   * As `POST /register/passkey`: creates an account with a passkey and without a password. Returns as {@link register} does,
   * never a challenge.
   *
   * @param answer the response of the browser to {@link passkeyOptions}
   * @param fields as for {@link passkeyOptions}; the identifier must be the same
   * @throws ValidationFailed, IdentifierTaken, PasskeyRefused, TooManyRequests, StoreUnavailable
   */
  registerWithPasskey(
    answer: PasskeyAnswer,
    fields: Readonly<Record<string, unknown>>,
    source: CallSource,
  ): Promise<RegistrationAnswer> {
    return this.call(PasskeyRegistrationController, 'register', source, { ...answer, fields });
  }
}
