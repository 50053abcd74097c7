import { defineFeature } from '../../foundation/realm/feature';
import { ChangePasswordController } from './change-password.controller';
import { PasswordChange } from './change-password';

/** Change of the password by its user. */
export const changePassword = defineFeature('changePassword', {
  flags: ['changePassword'],
  defaultGuardControllers: [ChangePasswordController],
  providers: [PasswordChange],
});
