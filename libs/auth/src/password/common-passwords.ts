import { createRequire } from 'node:module';
import { once } from '../kernel/once';
import { spellings } from './password.policy';

interface Dictionaries {
  dictionary: Record<'passwords-common', readonly string[]>;
}

// Some 50,000 passwords: read when the first one is chosen, and kept for all guards.
const listed = once(() => {
  const { dictionary } = createRequire(__filename)('@zxcvbn-ts/language-common') as Dictionaries;
  return new Set(dictionary['passwords-common']);
});

/** Whether a password is among the most common ones, in any case, forwards or backwards. */
export const isCommon = (password: string): boolean => spellings(password).some((spelling) => listed().has(spelling));
