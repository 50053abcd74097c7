import type { Feature } from '../../foundation/realm/feature';
import { PasswordCheck } from './password-check';
import { PasswordRules } from './password-rules';

/** Provides the rules for new passwords and the check of submitted ones. */
export const password: Feature = {
  providers: [PasswordRules, PasswordCheck],
};
