import type { Feature } from '../../foundation/realm/feature';
import { FirstLogin, Registration } from './registration';
import { NewAccounts } from './new-accounts';
import { RegisterController } from './registration.controller';
import { RegistrationForm } from './registration-form';

/** Registration of new accounts. */
export const registration: Feature = {
  flags: ['registration'],
  defaultGuardControllers: [RegisterController],
  providers: [RegistrationForm, NewAccounts, FirstLogin, Registration],
};
