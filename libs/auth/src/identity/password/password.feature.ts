import { defineFeature } from '../../foundation/realm/feature';
import { PasswordCheck } from './password-check';
import { PasswordRules } from './password-rules';

/** Provides the rules for new passwords and the check of submitted ones. */
export const password = defineFeature('password', {
  providers: [PasswordRules, PasswordCheck],
});
