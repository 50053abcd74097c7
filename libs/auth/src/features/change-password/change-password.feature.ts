import type { Feature } from '../../foundation/realm/feature';
import { ChangePasswordController } from './change-password.controller';
import { PasswordChange } from './change-password';

/** Replacing the own password. */
export const changePassword: Feature = {
  flags: ['changePassword'],
  defaultGuardControllers: [ChangePasswordController],
  providers: [PasswordChange],
};
