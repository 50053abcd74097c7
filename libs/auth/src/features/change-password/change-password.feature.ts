import { defineFeature } from '../../foundation/realm/feature';
import { ChangePasswordController } from './change-password.controller';
import { PasswordChange } from './change-password';
import { feature } from '../../foundation/config/option-table';

/** Change of the password by its user. */
export const changePassword = defineFeature('changePassword', {
  flags: ['changePassword'],
  options: { features: { changePassword: feature({ default: true, env: 'FEATURE_CHANGE_PASSWORD' }) } },
  defaultGuardControllers: [ChangePasswordController],
  providers: [PasswordChange],
});
