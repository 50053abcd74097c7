import { http, type session } from '../../kit';
import type { PasskeyList } from './passkey.entity';
import {
  ConditionalCreateController,
  ConfirmPasskeyController,
  PasskeyEnrolmentController,
  PasskeyLoginController,
  PasskeysController,
} from './passkeys.controller';
import { PasskeyRegistrationController } from './passkey-registration';
import { RequiredPasskeyController } from './required-passkey';

// Not in the file of the controllers: its declarations import an optional package, which a host may not have.

/** The response of the browser to a login ceremony. */
export interface PasskeyAnswer {
  readonly ceremonyId: string;
  /** The credential as JSON (WebAuthn Level 3 `PublicKeyCredential.toJSON`). */
  readonly credential: object;
}

declare module '../../foundation/ports/presenter' {
  interface SecondFactorMethods {
    passkey: true;
  }
}

declare module '../login-challenge/challenge.controller' {
  interface SecondFactorAnswers {
    passkey: PasskeyAnswer;
  }
}

declare module '../step-up/step-up.errors' {
  interface ConfirmationMethods {
    passkey: true;
  }
}

/** The answer to a ceremony that signs in. */
export interface PasskeySignIn extends PasskeyAnswer {
  /** Whether the session outlives the browser, with `sessions.ttlWithoutRemember`. Default: true. */
  readonly remember?: boolean;
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Sign-in, step-up and enrolment with passkeys. */
    readonly passkeys: PasskeyFlow;
  }
}

/**
 * Sign-in, step-up, enrolment and registration with passkeys, for code of the host.
 *
 * @publicApi
 */
export class PasskeyFlow extends http.Flow {
  /**
   * As `POST /passkeys/login-options`: starts a ceremony for {@link login}, {@link confirm} or a login challenge. The options
   * are the JSON of `PublicKeyCredentialRequestOptions`.
   */
  async loginOptions(source: http.CallSource): Promise<{ ceremonyId: string; options: object }> {
    const { ceremony_id: ceremonyId, options } = await this.call(PasskeyLoginController, 'options', source);
    return { ceremonyId, options };
  }

  /**
   * As `POST /passkeys/login`: returns the tokens of a new session.
   *
   * @throws PasskeyRefused, UnverifiedLogin, SignInRefused, Unauthenticated, TooManyRequests, ValidationFailed, StoreUnavailable
   */
  login(answer: PasskeySignIn, source: http.CallSource): Promise<http.SessionTokens> {
    return this.call(PasskeyLoginController, 'attempt', source, answer);
  }

  /**
   * As `POST /confirm-passkey`: returns a confirmation token for the session of the caller.
   *
   * @throws Unauthenticated, PasskeyRefused, InsufficientScope, TooManyRequests, ValidationFailed, StoreUnavailable
   */
  async confirm(answer: PasskeyAnswer, source: http.CallSource): Promise<string> {
    return (await this.call(ConfirmPasskeyController, 'confirm', source, answer)).confirmation_token;
  }

  /**
   * As `POST /passkeys/registration-options`: returns the JSON of `PublicKeyCredentialCreationOptions`.
   *
   * @throws Unauthenticated, ConfirmationRequired, StoreUnavailable
   */
  registrationOptions(source: http.CallSource): Promise<object> {
    return this.call(PasskeyEnrolmentController, 'options', source);
  }

  /**
   * As `POST /passkeys`: stores a passkey of the caller.
   *
   * @param credential the response of the browser to {@link registrationOptions}, as JSON
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, PasskeyRefused, ValidationFailed, StoreUnavailable
   */
  register(credential: object, source: http.CallSource, name?: string): Promise<void> {
    return this.call(PasskeyEnrolmentController, 'register', source, { credential, name });
  }

  /**
   * As `POST /passkeys/conditional-options`: returns the JSON of `PublicKeyCredentialCreationOptions` for a passkey that the
   * browser creates without a question. Needs `features.conditionalCreate`.
   *
   * @throws Unauthenticated; ConfirmationRequired without a recent login with the password; PasskeyRefused for a user with
   * a passkey; StoreUnavailable
   */
  conditionalOptions(source: http.CallSource): Promise<object> {
    return this.call(ConditionalCreateController, 'options', source);
  }

  /**
   * As `POST /passkeys/conditional`: stores the first passkey of the caller.
   *
   * @param credential the response of the browser to {@link conditionalOptions}, as JSON
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, PasskeyRefused, ValidationFailed, StoreUnavailable
   */
  registerConditionally(credential: object, source: http.CallSource, name?: string): Promise<void> {
    return this.call(ConditionalCreateController, 'register', source, { credential, name });
  }

  /** As `GET /passkeys`: lists the passkeys of the caller. @throws Unauthenticated, InsufficientScope */
  list(source: http.CallSource): Promise<PasskeyList> {
    return this.call(PasskeysController, 'list', source);
  }

  /** As `PATCH /passkeys/:id`; null removes the name. @throws Unauthenticated, ConfirmationRequired, PasskeyNotFound */
  rename(id: string, name: string | null, source: http.CallSource): Promise<void> {
    return this.call(PasskeysController, 'rename', source, { name, svcPasskey: id });
  }

  /**
   * As `DELETE /passkeys/:id`. An unknown id has no effect.
   *
   * @throws Unauthenticated, ConfirmationRequired, SecondFactorRequired, LastPasskey
   */
  remove(id: string, source: http.CallSource): Promise<void> {
    return this.call(PasskeysController, 'remove', source, { svcPasskey: id });
  }

  /**
   * As `POST /two-factor-enrolment/passkey-options`: returns the JSON of `PublicKeyCredentialCreationOptions`.
   *
   * @throws BadEnrolment, UnverifiedLogin, SignInRefused, TooManyRequests, ValidationFailed, StoreUnavailable
   */
  enrolmentOptions(enrolmentToken: string, source: http.CallSource): Promise<object> {
    return this.call(RequiredPasskeyController, 'options', source, { enrolmentToken });
  }

  /**
   * As `POST /two-factor-enrolment/passkey`: stores the first passkey of a user who must have a second factor
   * (`twoFactor.required`), and returns the tokens of a new session.
   *
   * @param credential the response of the browser to {@link enrolmentOptions}, as JSON
   * @throws BadEnrolment, PasskeyRefused, UnverifiedLogin, SignInRefused, TooManyRequests, ValidationFailed, StoreUnavailable
   */
  enrol(
    enrolmentToken: string,
    credential: object,
    source: http.CallSource,
    name?: string,
  ): Promise<http.SessionTokens> {
    return this.call(RequiredPasskeyController, 'enrol', source, { enrolmentToken, credential, name });
  }

  /**
   * As `POST /register/passkey/options`: starts a ceremony for {@link registerAccount}. The options are the JSON of
   * `PublicKeyCredentialCreationOptions`. Needs `features.passkeyRegistration`.
   *
   * @param fields the fields that the rules declare, without a password
   * @throws ValidationFailed, TooManyRequests, StoreUnavailable
   */
  async accountOptions(
    fields: Readonly<Record<string, unknown>>,
    source: http.CallSource,
  ): Promise<{ ceremonyId: string; options: object }> {
    const started = await this.call(PasskeyRegistrationController, 'options', source, { fields });
    return { ceremonyId: started.ceremony_id, options: started.options };
  }

  /**
   * As `POST /register/passkey`: creates an account with a passkey and without a password. Returns as
   * `auth.registration.register` does, never a challenge.
   *
   * @param answer the response of the browser to {@link accountOptions}
   * @param fields as for {@link accountOptions}; the identifier must be the same
   * @throws ValidationFailed, IdentifierTaken, PasskeyRefused, TooManyRequests, StoreUnavailable
   */
  registerAccount(
    answer: PasskeyAnswer,
    fields: Readonly<Record<string, unknown>>,
    source: http.CallSource,
  ): Promise<session.RegistrationAnswer> {
    return this.call(PasskeyRegistrationController, 'register', source, { ...answer, fields });
  }
}
