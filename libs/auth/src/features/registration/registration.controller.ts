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
