import type { Feature } from '../../foundation/realm/feature';
import { PasswordCheck } from './password-check';
import { PasswordRules } from './password-rules';

/** What is asked of passwords: of new ones, and of those that are tried. */
export const password: Feature = {
  providers: [PasswordRules, PasswordCheck],
};
