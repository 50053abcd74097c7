import { boundSessions, boundTokens } from './features/bound-sessions/bound-sessions.feature';
import { deviceCookies } from './features/bound-sessions/device/device-cookies.feature';
import { http } from './request/http/http.feature';
import { changePassword } from './features/change-password/change-password.feature';
import { emailChange } from './features/email-change/email-change.feature';
import { mail } from './features/mail/mail.feature';
import { passwordReset } from './features/password-reset/password-reset.feature';
import { password } from './identity/password/password.feature';
import { operatedAccounts, operators } from './features/operators/operators.feature';
import { acceptsKeys, accessKeyScanning, accessKeys } from './features/access-keys/access-keys.feature';
import { account } from './features/account/account.feature';
import { audit } from './features/operators/trail/audit.feature';
import { notices } from './features/notices/notices.feature';
import { abilities } from './request/abilities/abilities.feature';
import { stepUp } from './features/step-up/step-up.feature';
import { emailVerification, verificationByAddress } from './features/email-verification/email-verification.feature';
import { emailCode } from './features/email-code/email-code.feature';
import { accountFields, registration } from './features/registration/registration.feature';
import { lockout } from './request/lockout/lockout.feature';
import { identities } from './features/identities/identities.feature';
import { securityEvents } from './features/operators/delivery/security-events.feature';
import { knownDevices } from './features/known-devices/known-devices.feature';
import { login } from './features/login/login.feature';
import { conditionalCreate, passkeyRegistration, passkeys } from './features/passkeys/passkeys.feature';
import { users } from './identity/users/users.feature';
import { type Feature, withFlags } from './foundation/realm/feature';
import { verifiedEmail } from './features/email-verification/require-verified-email';
import { logoutAll, sessions } from './features/sessions/sessions.feature';
import { loginChallenge } from './features/login-challenge/challenge.feature';
import { trustedDevices } from './features/login-challenge/trusted-devices.feature';
import { tickets } from './features/tickets/tickets.feature';
import { throttling } from './request/throttling/throttling.feature';
import { twoFactor } from './features/two-factor/two-factor.feature';
import { usernameChange } from './features/username-change/username-change.feature';
import { tokens } from './identity/tokens/tokens.feature';

// What features add to the types of the library, which the declarations of the package keep
export type {} from './features/access-keys/index';
export type {} from './features/access-keys/access-keys.feature';
export type {} from './features/access-keys/access-keys.texts';
export type {} from './features/account/account.feature';
export type {} from './features/account/account.texts';
export type {} from './features/bound-sessions/index';
export type {} from './features/bound-sessions/bound-sessions.feature';
export type {} from './features/bound-sessions/bound-sessions.texts';
export type {} from './features/email-change/email-change.feature';
export type {} from './features/email-change/email-change.texts';
export type {} from './features/email-code/email-code.feature';
export type {} from './features/email-code/email-code.texts';
export type {} from './features/email-verification/email-verification.feature';
export type {} from './features/email-verification/email-verification.texts';
export type {} from './features/identities/index';
export type {} from './features/identities/identities.members';
export type {} from './features/identities/identities.texts';
export type {} from './features/identities/identity-confirmation';
export type {} from './features/known-devices/known-devices.feature';
export type {} from './features/known-devices/known-devices.texts';
export type {} from './features/login-challenge/challenge.feature';
export type {} from './features/login-challenge/challenge.texts';
export type {} from './features/login/login.feature';
export type {} from './features/login/login.texts';
export type {} from './features/mail/mail.texts';
export type {} from './features/notices/notices.options';
export type {} from './features/operators/index';
export type {} from './features/operators/operators.feature';
export type {} from './features/operators/operators.texts';
export type {} from './features/passkeys/passkeys.feature';
export type {} from './features/passkeys/passkeys.texts';
export type {} from './features/password-reset/password-reset.feature';
export type {} from './features/password-reset/password-reset.texts';
export type {} from './features/sessions/sessions.feature';
export type {} from './features/sessions/sessions.texts';
export type {} from './features/step-up/step-up.feature';
export type {} from './features/step-up/step-up.texts';
export type {} from './features/tickets/tickets.feature';
export type {} from './features/two-factor/two-factor.feature';
export type {} from './features/two-factor/two-factor.texts';
export type {} from './features/username-change/username-change.feature';
export type {} from './features/username-change/username-change.texts';
export type {} from './request/lockout/lockout.texts';

/** All features of the library, in the order in which their routes are mounted. */
export const FEATURES: readonly Feature[] = withFlags([
  http,
  users,
  tokens,
  throttling,
  lockout,
  abilities,
  password,
  login,
  sessions,
  logoutAll,
  stepUp,
  verifiedEmail,
  loginChallenge,
  trustedDevices,
  twoFactor,
  passkeys,
  conditionalCreate,
  mail,
  changePassword,
  passwordReset,
  emailCode,
  knownDevices,
  emailVerification,
  verificationByAddress,
  emailChange,
  usernameChange,
  accountFields,
  registration,
  passkeyRegistration,
  identities,
  acceptsKeys,
  accessKeys,
  operatedAccounts,
  operators,
  accessKeyScanning,
  audit,
  account,
  notices,
  securityEvents,
  tickets,
  boundTokens,
  boundSessions,
  deviceCookies,
]);
