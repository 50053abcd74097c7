import { CHANGE_MAIL } from '../../foundation/ports/mail';
import { informOn } from '../../foundation/realm/informing';
import { defineFeature } from '../../foundation/realm/feature';
import { ChangePasswordController, PasswordChangeFlow } from './change-password.controller';
import { PasswordChanged, PasswordChange } from './change-password';
import { feature } from '../../foundation/config/option-table';

/** Change of the password by its user. */
export const changePassword = defineFeature('changePassword', {
  flags: ['changePassword'],
  languages: () =>
    (require('./change-password.languages') as typeof import('./change-password.languages')).changePasswordLanguages,
  options: { features: { changePassword: feature({ default: true, env: 'FEATURE_CHANGE_PASSWORD' }) } },
  mails: { passwordChanged: CHANGE_MAIL },
  informs: { passwordChanged: [informOn(PasswordChanged, ({ user }, users) => users.idOf(user))] },
  page: 'passwords.md',
  capabilities: { passwordChange: PasswordChangeFlow },
  defaultGuardControllers: [ChangePasswordController],
  providers: [PasswordChange],
});
