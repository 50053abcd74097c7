import { isEmailAddress } from '../http/email-address';
import { FIELD_MAX } from '../http/fields';
import { isLongerThan } from '../http/text-length';
import type { MessageKey } from '../kernel/messages';
import type { RegistrationField } from './registration-rules';

/**
 * Why a value is none for a field; null for one that is. {@link RegistrationField.check} is asked separately, and so
 * are the password rules, which refuse a NUL themselves.
 */
export function fieldFault(value: unknown, rule: RegistrationField, isPassword = false): MessageKey | null {
  const { optional = false, type = 'string', maxLength = FIELD_MAX, email = false } = rule;
  if (value === null) return optional ? null : 'validation.required';
  if (typeof value !== type) return type === 'string' ? 'validation.string' : 'validation.invalid';
  if (typeof value !== 'string') return Number.isFinite(value) || type === 'boolean' ? null : 'validation.invalid';
  if (isLongerThan(value, maxLength)) return 'validation.max_length';
  if (email && !isEmailAddress(value)) return 'validation.email';
  // PostgreSQL stores no NUL in any text. Of a password the password rules say so.
  return value.includes('\0') && !isPassword ? 'validation.invalid' : null;
}
