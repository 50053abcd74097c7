import { Injectable } from '@nestjs/common';
import type { Caller } from '../../identity/tokens/caller';
import type { SessionTokens } from '../../request/http/route.interceptor';
import { EnrolmentRequest } from '../login-challenge/login-enrolments';
import { type CallSource, Flow, type ServerRequest } from '../../request/http/server-call';
import { ConditionalCreate } from './conditional-create';
import { PasskeyAssertions } from './passkey-assertions';
import { PasskeyEnrolment, PasskeyManagement } from './passkey-enrolment';
import { AssertionRequest, PasskeyConfirmation, PasskeyLogin } from './passkey-login';
import type { PasskeyList } from './passkey.entity';
import { PasskeyEnrolmentRequest, RequiredPasskey, RequiredPasskeyController } from './required-passkey';
import {
  ConditionalCreateController,
  ConfirmPasskeyController,
  PasskeyEnrolmentController,
  PasskeyLoginController,
  PasskeysController,
  RegistrationRequest,
  RenameRequest,
} from './passkeys.controller';

// Not in the file of the controllers: its declarations import an optional package, which a host may not have.

/** The response of the browser to a login ceremony. */
export interface PasskeyAnswer {
  readonly ceremonyId: string;
  /** The credential as JSON (WebAuthn Level 3 `PublicKeyCredential.toJSON`). */
  readonly credential: object;
}

/** The answer to a ceremony that signs in. */
export interface PasskeySignIn extends PasskeyAnswer {
  /** Whether the session outlives the browser, with `sessions.ttlWithoutRemember`. Default: true. */
  readonly remember?: boolean;
}

const assertionBody = (answer: PasskeyAnswer) => ({
  ceremony_id: answer?.ceremonyId,
  credential: answer?.credential,
});

/**
 * Sign-in, step-up and enrolment with passkeys, for code of the host.
 *
 * @publicApi
 */
@Injectable()
export class PasskeyFlow extends Flow {
  protected override readonly feature = 'passkeys';

  /**
   * As `POST /passkeys/login-options`: starts a ceremony for {@link login}, {@link confirm} or a login challenge. The options
   * are the JSON of `PublicKeyCredentialRequestOptions`.
   */
  async loginOptions(source: CallSource): Promise<{ ceremonyId: string; options: object }> {
    const assertions = this.get(PasskeyAssertions);
    const started = await this.call(PasskeyLoginController, 'options', source, () => assertions.start());
    return { ceremonyId: started.ceremony_id, options: started.options };
  }

  /**
   * As `POST /passkeys/login`: returns the tokens of a new session.
   *
   * @throws PasskeyRefused, UnverifiedLogin, SignInRefused, Unauthenticated, TooManyRequests, ValidationFailed, StoreUnavailable
   */
  async login(answer: PasskeySignIn, source: CallSource): Promise<SessionTokens> {
    const login = this.get(PasskeyLogin);
    const sign = async (request: ServerRequest): Promise<SessionTokens> =>
      login.attempt(this.read(AssertionRequest, request), request);
    return this.call(PasskeyLoginController, 'attempt', source, sign, {
      ...assertionBody(answer),
      remember: answer?.remember,
    });
  }

  /**
   * As `POST /confirm-passkey`: returns a confirmation token for the session of the caller.
   *
   * @throws Unauthenticated, PasskeyRefused, InsufficientScope, TooManyRequests, ValidationFailed, StoreUnavailable
   */
  async confirm(answer: PasskeyAnswer, source: CallSource): Promise<string> {
    const confirmation = this.get(PasskeyConfirmation);
    const confirm = async (caller: Caller, request: ServerRequest): Promise<string> =>
      (await confirmation.confirm(caller, this.read(AssertionRequest, request))).confirmation_token;
    return this.callAs(ConfirmPasskeyController, 'confirm', source, confirm, assertionBody(answer));
  }

  /**
   * As `POST /passkeys/registration-options`: returns the JSON of `PublicKeyCredentialCreationOptions`.
   *
   * @throws Unauthenticated, ConfirmationRequired, StoreUnavailable
   */
  async registrationOptions(source: CallSource): Promise<object> {
    const enrolment = this.get(PasskeyEnrolment);
    return this.callAs(PasskeyEnrolmentController, 'options', source, (caller) => enrolment.options(caller));
  }

  /**
   * As `POST /passkeys`: stores a passkey of the caller.
   *
   * @param credential the response of the browser to {@link registrationOptions}, as JSON
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, PasskeyRefused, ValidationFailed, StoreUnavailable
   */
  async register(credential: object, source: CallSource, name?: string): Promise<void> {
    const enrolment = this.get(PasskeyEnrolment);
    const register = async (caller: Caller, request: ServerRequest): Promise<void> => {
      const given = this.read(RegistrationRequest, request);
      await enrolment.register(caller, given.credential, given.name);
    };
    return this.callAs(PasskeyEnrolmentController, 'register', source, register, { credential, name });
  }

  /**
   * As `POST /passkeys/conditional-options`: returns the JSON of `PublicKeyCredentialCreationOptions` for a passkey that the
   * browser creates without a question. Needs `features.conditionalCreate`.
   *
   * @throws Unauthenticated; ConfirmationRequired without a recent login with the password; PasskeyRefused for a user with
   * a passkey; StoreUnavailable
   */
  async conditionalOptions(source: CallSource): Promise<object> {
    const conditional = this.get(ConditionalCreate, 'conditionalCreate');
    return this.callAs(ConditionalCreateController, 'options', source, (caller) => conditional.options(caller));
  }

  /**
   * As `POST /passkeys/conditional`: stores the first passkey of the caller.
   *
   * @param credential the response of the browser to {@link conditionalOptions}, as JSON
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, PasskeyRefused, ValidationFailed, StoreUnavailable
   */
  async registerConditionally(credential: object, source: CallSource, name?: string): Promise<void> {
    const conditional = this.get(ConditionalCreate, 'conditionalCreate');
    const register = async (caller: Caller, request: ServerRequest): Promise<void> => {
      const given = this.read(RegistrationRequest, request);
      await conditional.register(caller, given.credential, given.name);
    };
    return this.callAs(ConditionalCreateController, 'register', source, register, { credential, name });
  }

  /** As `GET /passkeys`: lists the passkeys of the caller. @throws Unauthenticated, InsufficientScope */
  async list(source: CallSource): Promise<PasskeyList> {
    const passkeys = this.get(PasskeyManagement);
    return this.callAs(PasskeysController, 'list', source, ({ userId }) => passkeys.list(userId));
  }

  /** As `PATCH /passkeys/:id`; null removes the name. @throws Unauthenticated, ConfirmationRequired, PasskeyNotFound */
  async rename(id: string, name: string | null, source: CallSource): Promise<void> {
    const passkeys = this.get(PasskeyManagement);
    const rename = async ({ userId }: Caller, request: ServerRequest): Promise<void> =>
      passkeys.rename(userId, id, this.read(RenameRequest, request).name);
    return this.callAs(PasskeysController, 'rename', source, rename, { name });
  }

  /**
   * As `DELETE /passkeys/:id`. An unknown id has no effect.
   *
   * @throws Unauthenticated, ConfirmationRequired, SecondFactorRequired, LastPasskey
   */
  async remove(id: string, source: CallSource): Promise<void> {
    const passkeys = this.get(PasskeyManagement);
    return this.callAs(PasskeysController, 'remove', source, (caller) => passkeys.remove(caller, id));
  }

  /**
   * As `POST /two-factor-enrolment/passkey-options`: returns the JSON of `PublicKeyCredentialCreationOptions`.
   *
   * @throws BadEnrolment, UnverifiedLogin, SignInRefused, TooManyRequests, ValidationFailed, StoreUnavailable
   */
  async enrolmentOptions(enrolmentToken: string, source: CallSource): Promise<object> {
    const enrolment = this.get(RequiredPasskey);
    const options = async (request: ServerRequest): Promise<object> =>
      enrolment.options(this.read(EnrolmentRequest, request));
    return this.call(RequiredPasskeyController, 'options', source, options, { enrolment_token: enrolmentToken });
  }

  /**
   * As `POST /two-factor-enrolment/passkey`: stores the first passkey of a user who must have a second factor
   * (`twoFactor.required`), and returns the tokens of a new session.
   *
   * @param credential the response of the browser to {@link enrolmentOptions}, as JSON
   * @throws BadEnrolment, PasskeyRefused, UnverifiedLogin, SignInRefused, TooManyRequests, ValidationFailed, StoreUnavailable
   */
  async enrol(enrolmentToken: string, credential: object, source: CallSource, name?: string): Promise<SessionTokens> {
    const enrolment = this.get(RequiredPasskey);
    const enrol = async (request: ServerRequest): Promise<SessionTokens> =>
      enrolment.enrol(this.read(PasskeyEnrolmentRequest, request), request);
    const body = { enrolment_token: enrolmentToken, credential, name };
    return this.call(RequiredPasskeyController, 'enrol', source, enrol, body);
  }
}
