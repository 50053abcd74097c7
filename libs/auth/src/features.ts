import type { FeatureOptions } from './config/auth-options';
import { http } from './http/http.feature';
import { changePassword } from './change-password/change-password.feature';
import { mail } from './mail/mail.feature';
import { passwordReset } from './password-reset/password-reset.feature';
import { password } from './password/password.feature';
import { account } from './account/account.feature';
import { abilities } from './abilities/abilities.feature';
import { confirmation } from './confirmation/confirmation.feature';
import { emailVerification } from './email-verification/email-verification.feature';
import { registration } from './registration/registration.feature';
import { lockout } from './lockout/lockout.feature';
import { login } from './login/login.feature';
import { passkeys } from './passkeys/passkeys.feature';
import type { Feature } from './realm/feature';
import { verifiedEmail } from './verified-email/verified-email.feature';
import { logoutAll, sessions } from './sessions/sessions.feature';
import { secondStep } from './second-step/second-step.feature';
import { throttling } from './throttling/throttling.feature';
import { twoFactor } from './two-factor/two-factor.feature';
import { denylist, tokens } from './tokens/tokens.feature';

/** The product on one screen. Order is mount order. */
export const FEATURES: readonly Feature[] = [
  http,
  tokens,
  denylist,
  throttling,
  lockout,
  abilities,
  password,
  login,
  sessions,
  logoutAll,
  confirmation,
  verifiedEmail,
  secondStep,
  twoFactor,
  passkeys,
  mail,
  changePassword,
  passwordReset,
  emailVerification,
  registration,
  account,
];

/** Features that no extra guard has, whatever it inherits. */
export const OF_DEFAULT_GUARD: readonly (keyof FeatureOptions)[] = ['passkeys'];
