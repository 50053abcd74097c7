import type { Feature } from '../realm/feature';
import { FirstLogin } from './first-login';
import { NewAccounts } from './new-accounts';
import { RegisterController } from './register.controller';
import { Registration } from './registration';
import { RegistrationForm } from './registration-form';

/** New accounts. */
export const registration: Feature = {
  flags: ['registration'],
  defaultGuardControllers: [RegisterController],
  providers: [RegistrationForm, NewAccounts, FirstLogin, Registration],
};
