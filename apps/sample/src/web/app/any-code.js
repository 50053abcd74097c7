import { t } from './language.js';

/** The one field for a code of the app and a recovery code. */
export const ANY_CODE = {
  name: 'code',
  label: t`Code from your authenticator app, or a recovery code`,
  autocomplete: 'one-time-code',
  autocapitalize: 'off',
  spellcheck: 'false',
};

/** Only a code of the app has six digits, of any script, and no letters. */
const factorOf = (text) =>
  /^\p{Nd}{6}$/u.test(text.replaceAll(/[^\p{L}\p{Nd}]/gu, '')) ? { code: text } : { recovery_code: text };

/**
 * Sends what is in the field as the kind of code that it is. An error of either kind is at the field.
 *
 * @param text undefined if the form has no such field
 */
export async function withAnyCode(text, send) {
  try {
    return await send(text === undefined ? undefined : factorOf(text));
  } catch (error) {
    const { recovery_code: wrong, ...errors } = error.errors ?? {};
    throw wrong ? Object.assign(error, { errors: { ...errors, code: wrong } }) : error;
  }
}
