import { Controller, Req } from '@nestjs/common';
import { http, identity, type session } from '../../kit';
import { Registration } from './registration';
import { RegistrationForm } from './registration-form';

@Controller('register')
export class RegisterController {
  static readonly inTransaction = ['register'];

  constructor(private readonly registration: Registration) {}

  @http.Route('POST', '', 'register', {
    ...http.accountRoute(http.tokensOrChallenge, identity.HasherBusy),
    summary: 'Creates an account',
    note:
      'Answers 201 if no session is started: `registration.login` is off, or the email must be verified first. Answers 202 ' +
      'always the same with `registration.concealExisting`.',
    body: (scope) => scope.get(RegistrationForm).body(),
  })
  register(@Req() request: object): Promise<session.RegistrationAnswer> {
    return this.registration.register(request);
  }
}

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
export class RegistrationFlow extends http.Flow {
  /**
   * As `POST /register`: creates an account. Returns the tokens of a session, a challenge, or neither, as a login with
   * the new password would. With `registration.concealExisting`, the result is the same whether or not the email has an
   * account.
   *
   * @param fields the fields that the rules declare, by their names in a request body. `password_confirmation` may be
   * omitted
   * @throws ValidationFailed, IdentifierTaken, TooManyRequests, HasherBusy, StoreUnavailable
   */
  register(fields: Readonly<Record<string, unknown>>, source: http.CallSource): Promise<session.RegistrationAnswer> {
    const confirmed = { password_confirmation: fields?.password, ...fields };
    return this.call(RegisterController, 'register', source, { fields: confirmed });
  }
}
