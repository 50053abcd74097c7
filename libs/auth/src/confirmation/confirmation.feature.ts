import type { Feature } from '../realm/feature';
import { ConfirmPasswordController } from './confirm-password.controller';
import { ConfirmationGate } from './confirmation.gate';
import { Confirmations } from './confirmations';
import { OwnPassword } from './own-password';
import { PasswordConfirmation } from './password-confirmation';

/** Step-up: proofs that the user was just there. */
export const confirmation: Feature = {
  controllers: [ConfirmPasswordController],
  providers: [Confirmations, OwnPassword, PasswordConfirmation, ConfirmationGate],
};
