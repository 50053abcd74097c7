import { auth, hasPasskeys } from '../auth.js';
import { config } from '../config.js';
import { h } from '../dom.js';
import { button, complain } from '../feedback.js';
import { CODE, field, form } from '../form.js';
import { t } from '../language.js';
import { createPasskeyQuietly } from '../quiet-passkey.js';
import { show } from '../router.js';

const RECOVERY_CODE = {
  name: 'recovery_code',
  label: t`Recovery code`,
  autocomplete: 'off',
  autocapitalize: 'off',
  spellcheck: 'false',
  hint: t`One of the codes that you saved. Each code works once.`,
};
const TRUST = {
  name: 'trust_device',
  type: 'checkbox',
  label: t`Trust this device for ${config.trustedDeviceDays} days`,
  hint: t`Your password alone is then enough here. Only on a device of your own.`,
};
const PROVED = {
  password: t`Your password is correct. Now show in a second way that it’s you.`,
  code: t`Your code is correct. Now show in a second way that it’s you.`,
  identity: t`Now show in a second way that it’s you.`,
};

/**
 * Asks for the second factor of a login challenge, which lists the factors of the user.
 *
 * @param first what was right: `password`, `code` or `identity`
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
    return button(t`Use a passkey`, () => answer(auth.answerChallengeWithPasskey(challenge, choice())), {
      class: methods[0] === 'passkey' ? 'primary' : '',
    });
  };
  const by = (asked, isFirst) =>
    form([{ ...asked, autofocus: isFirst }], {
      label: asked === RECOVERY_CODE ? t`Use recovery code` : t`Continue`,
      isSecond: !isFirst,
      work: ({ trust_device: _, ...factor }) => answer(auth.answerChallenge(challenge, { ...factor, ...choice() })),
    });
  const ways = {
    totp: (isFirst) => by(CODE, isFirst),
    recovery_code: (isFirst) =>
      isFirst
        ? by(RECOVERY_CODE, true)
        : h('details', {}, h('summary', {}, t`Use a recovery code instead`), by(RECOVERY_CODE, false)),
    passkey: byPasskey,
  };
  const usable = methods.filter((method) => ways[method] && (method !== 'passkey' || hasPasskeys));
  const [main, ...others] = usable.map((method, i) => ways[method](i === 0));
  // The choice is below the code, and it counts for the other ways, too.
  const hasField = main?.tagName === 'FORM';
  if (trust && hasField) main.lastChild.before(trust.row);
  return [
    h('p', { class: 'muted' }, PROVED[first]),
    trust && main && !hasField && trust.row,
    main,
    ...others,
    !usable.length &&
      h('p', { class: 'note' }, t`None of the second factors of this account works in this browser at this address.`),
    h('ul', { class: 'links' }, h('li', {}, button(t`Start over`, restart, { class: 'quiet' }))),
  ].filter(Boolean);
}
