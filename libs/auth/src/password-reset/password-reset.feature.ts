import type { Feature } from '../realm/feature';
import { ForgotPasswordController } from './forgot-password.controller';
import { ForgottenPassword } from './forgotten-password';
import { PasswordResetting } from './password-resetting';
import { ResetPasswordController } from './reset-password.controller';
import { ResetTokenStore } from './reset-token.store';
import { ResetTokens } from './reset-tokens';

/** A forgotten password, and the mailed link that replaces it. */
export const passwordReset: Feature = {
  flags: ['passwordReset'],
  defaultGuardControllers: [ForgotPasswordController, ResetPasswordController],
  providers: [ResetTokenStore, ResetTokens, ForgottenPassword, PasswordResetting],
};
