import { Controller, Req } from '@nestjs/common';
import { HasherBusy } from '../../identity/password/hash-queue';
import { Route } from '../../request/routes/route';
import { type RegistrationAnswer, accountRoute } from '../login/account-opening';
import { tokensOrChallenge } from '../login/login.controller';
import { Registration } from './registration';
import { RegistrationForm } from './registration-form';

@Controller('register')
export class RegisterController {
  constructor(private readonly registration: Registration) {}

  @Route('POST', '', 'register', {
    ...accountRoute(tokensOrChallenge, HasherBusy),
    summary: 'Creates an account',
    note:
      'Answers 201 if no session is started: `registration.login` is off, or the email must be verified first. Answers 202 ' +
      'always the same with `registration.concealExisting`.',
    body: (scope) => scope.get(RegistrationForm).body(),
  })
  register(@Req() request: object): Promise<RegistrationAnswer> {
    return this.registration.register(request);
  }
}
