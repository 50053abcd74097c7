import { defineFeature, event, option } from '../../kit';
import { ChangePasswordController, PasswordChangeFlow } from './change-password.controller';
import { PasswordChanged, PasswordChange } from './change-password';

/** Change of the password by its user. */
export const changePassword = defineFeature('changePassword', {
  flags: ['changePassword'],
  keepsCredentials: ['password_change'],
  options: { features: { changePassword: option.feature({ default: true, env: 'FEATURE_CHANGE_PASSWORD' }) } },
  informs: { passwordChanged: [event.informOn(PasswordChanged, ({ user }, users) => users.idOf(user))] },
  credentialChanges: [
    {
      credential: 'password',
      change: 'update',
      source: event.informOn(PasswordChanged, ({ user }, users) => users.idOf(user)),
    },
  ],
  writesUsers: () => 'UPDATE',
  waits: { 'change of the password': { row: '`POST /password`', inARow: 14, longest: 4 } },
  page: 'passwords.md',
  capabilities: { passwordChange: PasswordChangeFlow },
  defaultGuardControllers: [ChangePasswordController],
  providers: [PasswordChange],
});
