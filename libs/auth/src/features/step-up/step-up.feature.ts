import { defineFeature } from '../../foundation/realm/feature';
import { perClientAndUser } from '../../request/throttling/limiters';
import { ConfirmPasswordController } from './confirm-password.controller';
import { FactorGate } from './require-factor';
import { ConfirmationGate } from './require-confirmation';
import { RecentLoginGate } from './require-recent-login';
import { CONFIRMATION, Confirmations } from './confirmations';
import { ConfirmationFactors } from './confirmation-factors';
import { CurrentPassword, PasswordConfirmation } from './password-confirmation';
import { STEP_UP_OPTIONS } from './step-up.options';

/** Step-up: confirmation of the user's identity before sensitive requests. */
export const stepUp = defineFeature('stepUp', {
  languages: () => (require('./step-up.languages') as typeof import('./step-up.languages')).stepUpLanguages,
  options: STEP_UP_OPTIONS,
  limits: {
    'svc-confirm': perClientAndUser(({ confirm }) => confirm),
  },
  controllers: [ConfirmPasswordController],
  purposes: [CONFIRMATION],
  providers: [
    ConfirmationFactors,
    Confirmations,
    CurrentPassword,
    PasswordConfirmation,
    ConfirmationGate,
    RecentLoginGate,
    FactorGate,
  ],
});
