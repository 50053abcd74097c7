import { auth, hasPasskeys } from '../auth.js';
import { h } from '../dom.js';
import { button, complain } from '../feedback.js';
import { form } from '../form.js';
import { show } from '../router.js';

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

/** Asks for the second factor of a login challenge, which lists the factors of the user. */
export function secondStep(challenge) {
  const { methods } = challenge;
  const answer = async (sent) => {
    try {
      await sent;
    } catch (error) {
      if (!error.errors?.challenge_token) throw error;
      await show();
      complain(error);
    }
  };
  const byPasskey = () => {
    const weight = methods[0] === 'passkey' ? 'wide primary' : 'wide';
    return button('Use a passkey', () => answer(auth.answerChallengeWithPasskey(challenge)), { class: weight });
  };
  const by = (field) =>
    form([field], { label: 'Continue', work: (factor) => answer(auth.answerChallenge(challenge, factor)) });
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
    h('p', { class: 'muted' }, 'The password is right. Now show that it is you in a second way.'),
    ...usable.map((method) => ways[method]?.()),
    !usable.length &&
      h('p', { class: 'note' }, 'None of the second factors of this account works in this browser at this address.'),
    h('ul', { class: 'links' }, h('li', {}, button('Start over', show, { class: 'quiet' }))),
  ];
}
