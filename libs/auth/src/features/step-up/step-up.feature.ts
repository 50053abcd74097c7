import type { AuthConfig } from '../../foundation/config/auth-config';
import { TOKEN } from '../../foundation/config/guard-isolation.policy';
import { defineFeature } from '../../foundation/realm/feature';
import { perClientAndUser } from '../../request/throttling/limiters';
import { GuardFactors } from '../login-challenge/second-factor';
import { ConfirmPasswordController, ConfirmationFlow } from './confirm-password.controller';
import { FactorGate } from './require-factor';
import { ConfirmationGate, ConfirmationGuard } from './require-confirmation';
import { RecentLoginGate } from './require-recent-login';
import { CONFIRMATION, Confirmations } from './confirmations';
import { ConfirmationFactors } from './confirmation-factors';
import { CurrentPassword } from './password-confirmation';
import { STEP_UP_OPTIONS } from './step-up.options';

const reasons = {
  confirmation_required: 'a step-up proof is missing or not valid',
  confirmation_session_mismatch: 'the step-up proof belongs to another session',
  factor_required: 'the route has `@RequireFactor()`, and the session was not started with this factor',
  recent_login_required: 'the route has `@RequireRecentLogin()`, and the user did not sign in recently enough',
};

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof reasons> {}
}

/** Headers that clients, proxies and frameworks already use. */
const RESERVED = new Set(
  'authorization cookie host connection content-length content-type accept origin referer user-agent x-forwarded-for forwarded'.split(
    ' ',
  ),
);

/** Why the application must not start with the header of the confirmation token, with the correction. */
export const headerErrors = ({ guards }: Pick<AuthConfig, 'guards'>): string[] =>
  guards.flatMap(({ confirm: { header }, nameOf }) =>
    TOKEN.test(header) && !RESERVED.has(header.toLowerCase())
      ? []
      : `${nameOf('confirm.header')} (SVC_CONFIRM_HEADER) is "${header}", which is not a header name or is already in use. Use another one, such as X-Svc-Confirmation.`,
  );

/** Step-up: confirmation of the user's identity before sensitive requests. */
export const stepUp = defineFeature('stepUp', {
  reasons,
  languages: () => (require('./step-up.languages') as typeof import('./step-up.languages')).stepUpLanguages,
  options: STEP_UP_OPTIONS,
  configErrors: headerErrors,
  limits: {
    'svc-confirm': perClientAndUser(({ confirm }) => confirm),
  },
  capabilities: { confirmation: ConfirmationFlow },
  controllers: [ConfirmPasswordController],
  guards: [ConfirmationGuard],
  purposes: [CONFIRMATION],
  // The factors of a user are asked for at every guard: this feature is always on.
  providers: [
    GuardFactors,
    ConfirmationFactors,
    Confirmations,
    CurrentPassword,
    ConfirmationGate,
    RecentLoginGate,
    FactorGate,
  ],
});
