import type { AuthConfig } from '../../foundation/config/auth-config';
import { failed, noMailer, urlFault } from '../../foundation/config/url-checks';
import type { Feature } from '../../foundation/realm/feature';
import { ResetTokenPruning, ResetTokenStore, ResetTokens } from './reset-token.store';
import { ForgotPasswordController, ResetPasswordController } from './password-reset.controller';
import { ResetLinks, PasswordResets } from './password-reset';
import { ResetCleanup } from './reset-cleanup';

function configErrors({ guards, routes }: AuthConfig, production: boolean): string[] {
  const config = guards.find(({ isDefault }) => isDefault);
  if (!config?.features.passwordReset || !routes) return [];
  const fault = urlFault(config.passwordReset.frontendUrl, { production });
  return failed(
    fault &&
      `passwordReset.frontendUrl (SVC_RESET_URL) ${fault}. Set it to the page that the mailed link opens, such as https://app.example.com/reset-password.`,
    !config.mail.mailer && noMailer('passwordReset'),
  );
}

/** Reset of a forgotten password with a mailed link. */
export const passwordReset: Feature = {
  flags: ['passwordReset'],
  configErrors,
  defaultGuardControllers: [ForgotPasswordController, ResetPasswordController],
  providers: [ResetTokenPruning, ResetTokenStore, ResetTokens, ResetLinks, ResetCleanup, PasswordResets],
  // Rows from the time when the feature was on are still pruned.
  whenOff: [ResetTokenPruning],
};
