import type { Feature } from '../../foundation/realm/feature';
import { ResetTokenPruning, ResetTokenStore, ResetTokens } from './reset-token.store';
import { ForgotPasswordController, ResetPasswordController } from './password-reset.controller';
import { ResetLinks, PasswordResets } from './password-reset';
import { ResetCleanup } from './reset-cleanup';

/** Reset of a forgotten password with a mailed link. */
export const passwordReset: Feature = {
  flags: ['passwordReset'],
  defaultGuardControllers: [ForgotPasswordController, ResetPasswordController],
  providers: [ResetTokenPruning, ResetTokenStore, ResetTokens, ResetLinks, ResetCleanup, PasswordResets],
  // Rows from the time when the feature was on are still pruned.
  whenOff: [ResetTokenPruning],
};
