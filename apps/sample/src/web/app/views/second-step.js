import { auth, hasPasskeys } from '../auth.js';
import { config } from '../config.js';
import { h } from '../dom.js';
import { button, complain } from '../feedback.js';
import { CODE, field, form } from '../form.js';
import { createPasskeyQuietly } from '../quiet-passkey.js';
import { show } from '../router.js';

const RECOVERY_CODE = {
  name: 'recovery_code',
  label: 'Recovery code',
  autocomplete: 'off',
  autocapitalize: 'off',
  spellcheck: 'false',
  hint: 'One of the codes that you saved. Each code works once.',
};
const TRUST = {
  name: 'trust_device',
  type: 'checkbox',
  label: `Trust this device for ${config.trustedDeviceDays} days`,
  hint: 'Your password alone is then enough here. Only on a device of your own.',
};

/**
 * Asks for the second factor of a login challenge, which lists the factors of the user.
 *
 * @param first what was right: `password` or `code`
 * @param options `restart` begins the sign-in again; `canTrust`: whether the user may trust the device; `onDone` is called after
 *   the sign-in
 */
export function secondStep(challenge, first = 'password', { restart = show, canTrust = true, onDone } = {}) {
  const { methods } = challenge;
  const trust = canTrust && config.trustedDeviceDays > 0 && field(TRUST);
  const choice = () => (trust && trust.input.checked ? { trust_device: true } : {});
  const answer = async (sent) => {
    try {
      await sent;
    } catch (error) {
      if (!error.errors?.challenge_token) throw error;
      await restart();
      return complain(error);
    }
    onDone?.();
    if (first === 'password') await createPasskeyQuietly();
  };
  const byPasskey = () => {
    const weight = methods[0] === 'passkey' ? 'wide primary' : 'wide';
    return button('Use a passkey', () => answer(auth.answerChallengeWithPasskey(challenge, choice())), {
      class: weight,
    });
  };
  const by = (asked) =>
    form([asked], {
      label: 'Continue',
      work: (factor) => answer(auth.answerChallenge(challenge, { ...factor, ...choice() })),
    });
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
    h('p', { class: 'muted' }, `The ${first} is right. Now show that it is you in a second way.`),
    usable.length > 0 && trust && trust.row,
    ...usable.map((method) => ways[method]?.()),
    !usable.length &&
      h('p', { class: 'note' }, 'None of the second factors of this account works in this browser at this address.'),
    h('ul', { class: 'links' }, h('li', {}, button('Start over', restart, { class: 'quiet' }))),
  ].filter(Boolean);
}
