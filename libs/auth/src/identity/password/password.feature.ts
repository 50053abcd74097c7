import type { AuthConfig } from '../../foundation/config/auth-config';
import { defineFeature } from '../../foundation/realm/feature';
import { PasswordCheck } from './password-check';
import { PasswordRules } from './password-rules';
import { HASHING, PASSWORD_OPTIONS } from './password.options';

const NORMALIZE: readonly unknown[] = ['none', 'NFC', 'NFKC'];

const normalizeErrors = ({ hashing: { normalize } }: AuthConfig): string[] =>
  NORMALIZE.includes(normalize) ? [] : [`hashing.normalize is "${normalize}". Use none, NFC or NFKC.`];

/** Provides the rules for new passwords and the check of submitted ones. */
export const password = defineFeature('password', {
  options: PASSWORD_OPTIONS,
  moduleOptions: { hashing: HASHING },
  configErrors: normalizeErrors,
  providers: [PasswordRules, PasswordCheck],
});
