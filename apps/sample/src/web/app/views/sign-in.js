import { auth, hasPasskeys, storageNotice, unreachable } from '../auth.js';
import { config } from '../config.js';
import { h } from '../dom.js';
import { button, complain } from '../feedback.js';
import { EMAIL, PASSWORD, REMEMBER, form } from '../form.js';
import { nodes, t } from '../language.js';
import { createPasskeyQuietly } from '../quiet-passkey.js';
import { go, present } from '../router.js';
import { secondStep } from './second-step.js';

const unreached = () => {
  throw unreachable();
};

/**
 * Waits for a request that signs in, and shows the next step if there is one.
 *
 * @param first what the request has proved: `password`, `code` or `identity`
 * @returns its answer
 */
export async function enter(sent, first = 'password') {
  const answer = await sent;
  if (answer?.two_factor) await present(t`One more step`, () => secondStep(answer, first));
  if (answer?.enrolment_required)
    await present(t`Set up a second factor`, async () =>
      // Few visits need it.
      (await import('./required-factor.js').catch(unreached)).requiredFactor(answer),
    );
  return answer;
}

let typed = '';
/** The email that was typed before another way was chosen. It is given once: a code is mailed for it. */
export const takeTyped = () => {
  const email = typed;
  typed = '';
  return email;
};

export async function signIn(left) {
  const { features, demo, providers } = config;
  const { continueWith } = providers.length ? await import('./identities.js') : {};
  const work = async (credentials) => {
    if ((await enter(auth.login(credentials))) === null) await createPasskeyQuietly();
  };
  const useDemo = () =>
    work({ ...demo, ...choice() }).catch((error) => {
      // Visitors can delete the account, and change its password.
      throw error.status === 422 ? new Error(t`Restart the sample to get the demo account again.`) : error;
    });
  const fields = [{ ...EMAIL, autocomplete: 'username webauthn' }, PASSWORD, REMEMBER];
  const entry = form(fields, { label: t`Sign in`, work, isWhole: true, isSecond: !!demo });
  const keep = () => (typed = entry.elements.email.value);
  if (features.passwordReset)
    entry
      .querySelector('.secret')
      .after(h('a', { href: '#/forgot-password', onclick: keep }, t`Forgot your password?`));
  const mailCode = () => {
    keep();
    return go('/sign-in-code');
  };
  const choice = () => (REMEMBER ? { remember: entry.elements.remember.checked } : {});
  if (hasPasskeys) void auth.autofillPasskeys(left, choice).catch(complain);
  const link = (to, label, onclick) => h('li', {}, h('a', { href: to, onclick }, label));
  return [
    storageNotice && h('p', { class: 'note' }, storageNotice),
    demo &&
      h(
        'section',
        { class: 'card', 'aria-label': t`Demo` },
        h('p', {}, nodes`Try the page as ${h('strong', {}, demo.email)}, without an account of your own.`),
        button(t`Use the demo account`, useDemo, { class: 'primary' }),
      ),
    demo && h('p', { class: 'or muted' }, t`or with an account of your own`),
    entry,
    h(
      'div',
      { class: 'ways' },
      hasPasskeys && button(t`Sign in with a passkey`, () => auth.loginWithPasskey(choice())),
      features.emailCode && button(t`Email me a code`, mailCode),
      continueWith?.(choice),
    ),
    h(
      'ul',
      { class: 'links' },
      features.registration && link('#/register', t`Create an account`, keep),
      link('#/staff', t`Staff sign-in`),
    ),
  ];
}
