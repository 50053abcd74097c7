import { Controller, Req } from '@nestjs/common';
import { HasherBusy } from '../../identity/password/hash-queue';
import { Route } from '../../request/routes/route';
import { type RegistrationAnswer, accountRoute } from '../login/account-opening';
import { REMEMBER_NOTE, tokensOrChallenge } from '../login/login.controller';
import { Registration } from './registration';
import { RegistrationForm } from './registration-form';

declare module '../../foundation/platform/catalogue' {
  interface Operations {
    register: true;
  }
}

@Controller('register')
export class RegisterController {
  constructor(private readonly registration: Registration) {}

  @Route('POST', '', {
    ...accountRoute(tokensOrChallenge, () => new HasherBusy()),
    operation: 'register',
    summary: 'Creates an account',
    note:
      'Answers 201 if no session is started: `registration.login` is off, or the email must be verified first. Answers 202 ' +
      `always the same with \`registration.concealExisting\`. ${REMEMBER_NOTE}`,
    body: (scope) => scope.get(RegistrationForm).body(),
  })
  register(@Req() request: object): Promise<RegistrationAnswer> {
    return this.registration.register(request);
  }
}
