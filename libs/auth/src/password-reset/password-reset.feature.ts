import type { Feature } from '../realm/feature';
import { ExpiredResets } from './expired-resets';
import { ForgotPasswordController } from './forgot-password.controller';
import { ForgottenPassword } from './forgotten-password';
import { Handover } from './handover';
import { PasswordResetting } from './password-resetting';
import { ResetPasswordController } from './reset-password.controller';
import { ResetTokenStore } from './reset-token.store';
import { ResetTokens } from './reset-tokens';

/** A forgotten password, and the mailed link that replaces it. */
export const passwordReset: Feature = {
  flags: ['passwordReset'],
  defaultGuardControllers: [ForgotPasswordController, ResetPasswordController],
  providers: [ExpiredResets, ResetTokenStore, ResetTokens, ForgottenPassword, Handover, PasswordResetting],
  // Rows from before the switch was turned off are still pruned.
  whenOff: [ExpiredResets],
};
