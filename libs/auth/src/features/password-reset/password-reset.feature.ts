import type { Feature } from '../../foundation/realm/feature';
import { ResetTokenPruning, ResetTokenStore, ResetTokens } from './reset-token.store';
import { ForgotPasswordController, ResetPasswordController } from './password-reset.controller';
import { ResetLinks, PasswordResets } from './password-reset';
import { ResetCleanup } from './reset-cleanup';

/** A forgotten password, and the mailed link that replaces it. */
export const passwordReset: Feature = {
  flags: ['passwordReset'],
  defaultGuardControllers: [ForgotPasswordController, ResetPasswordController],
  providers: [ResetTokenPruning, ResetTokenStore, ResetTokens, ResetLinks, ResetCleanup, PasswordResets],
  // Rows from before the switch was turned off are still pruned.
  whenOff: [ResetTokenPruning],
};
