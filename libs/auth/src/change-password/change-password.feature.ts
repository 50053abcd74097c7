import type { Feature } from '../realm/feature';
import { ChangePasswordController } from './change-password.controller';
import { PasswordChange } from './password-change';

/** Replacing the own password. */
export const changePassword: Feature = {
  flags: ['changePassword'],
  defaultGuardControllers: [ChangePasswordController],
  providers: [PasswordChange],
};
