import { CHANGE_MAIL } from '../../foundation/ports/mail';
import { informOn, userIdOf } from '../../foundation/realm/informing';
import { defineFeature } from '../../foundation/realm/feature';
import { RegistrationForm } from '../registration/registration-form';
import { UsernameController } from './username-change.controller';
import { UsernameChanged, UsernameChange } from './username-change';
import { feature } from '../../foundation/config/option-table';

/** Change of the identifier, where it is not the email. `userProviderErrors` refuses other identifiers. */
export const usernameChange = defineFeature('usernameChange', {
  flags: ['usernameChange'],
  languages: () =>
    (require('./username-change.languages') as typeof import('./username-change.languages')).usernameChangeLanguages,
  options: { features: { usernameChange: feature({ default: false, env: 'FEATURE_USERNAME_CHANGE' }) } },
  mails: { usernameChanged: CHANGE_MAIL },
  informs: { usernameChanged: [informOn(UsernameChanged, userIdOf)] },
  defaultGuardControllers: [UsernameController],
  // Also where the registration is off: its rules apply.
  providers: [RegistrationForm, UsernameChange],
});
