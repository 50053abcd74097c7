import type { Feature } from '../../foundation/realm/feature';
import { ExpiredResets, ResetTokenStore } from './reset-token.store';
import { ForgotPasswordController, ResetPasswordController } from './password-reset.controller';
import { ForgottenPassword, PasswordResetting } from './password-reset';
import { Handover } from './account-takeover';
import { ResetTokens } from './reset-tokens';

/** A forgotten password, and the mailed link that replaces it. */
export const passwordReset: Feature = {
  flags: ['passwordReset'],
  defaultGuardControllers: [ForgotPasswordController, ResetPasswordController],
  providers: [ExpiredResets, ResetTokenStore, ResetTokens, ForgottenPassword, Handover, PasswordResetting],
  // Rows from before the switch was turned off are still pruned.
  whenOff: [ExpiredResets],
};
