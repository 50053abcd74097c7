import { hasPasskeys } from '../client/config.js';
import { h } from '../dom.js';
import { button, complain } from '../feedback.js';
import { form } from '../form.js';
import { show } from '../router.js';
import * as session from '../client/session.js';
import { get } from '../client/webauthn.js';

const CODE = {
  name: 'code',
  label: 'Code from your authenticator app',
  autocomplete: 'one-time-code',
  inputmode: 'numeric',
  maxlength: 6,
  class: 'code',
};
const RECOVERY_CODE = {
  name: 'recovery_code',
  label: 'Recovery code',
  autocomplete: 'off',
  autocapitalize: 'off',
  spellcheck: 'false',
  hint: 'One of the codes that you saved. Each code works once.',
};

/** Asks for the second factor of a login challenge. `methods` lists the factors of the user. */
export function secondStep({ challenge_token, methods }) {
  const answer = async (factor) => {
    try {
      await session.signIn('auth/two-factor-challenge', { challenge_token, ...factor });
    } catch (error) {
      if (!error.errors?.challenge_token) throw error;
      await show();
      complain(error);
    }
  };
  const byPasskey = () => {
    const weight = methods[0] === 'passkey' ? 'wide primary' : 'wide';
    return button('Use a passkey', async () => answer(await get()), { class: weight });
  };
  const by = (field) => form([field], { label: 'Continue', work: answer });
  const ways = {
    totp: () => by(CODE),
    recovery_code: () =>
      methods[0] === 'recovery_code'
        ? by(RECOVERY_CODE)
        : h('details', {}, h('summary', {}, 'Use a recovery code instead'), by(RECOVERY_CODE)),
    passkey: byPasskey,
  };
  const usable = methods.filter((method) => method !== 'passkey' || hasPasskeys);
  return [
    h('p', { class: 'muted' }, 'Your password is correct. This account requires a second factor.'),
    ...usable.map((method) => ways[method]?.()),
    !usable.length &&
      h('p', { class: 'note' }, 'None of the second factors of this account works in this browser at this address.'),
    h('ul', { class: 'links' }, h('li', {}, button('Start over', show, { class: 'quiet' }))),
  ];
}
