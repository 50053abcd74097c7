import { defineFeature } from '../../foundation/realm/feature';
import { PasswordCheck } from './password-check';
import { PasswordRules } from './password-rules';
import { HASHING, PASSWORD_OPTIONS } from './password.options';

/** Provides the rules for new passwords and the check of submitted ones. */
export const password = defineFeature('password', {
  options: PASSWORD_OPTIONS,
  moduleOptions: { hashing: HASHING },
  providers: [PasswordRules, PasswordCheck],
});
