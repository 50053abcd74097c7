import { auth, hasPasskeys, storageNotice } from '../auth.js';
import { config } from '../config.js';
import { h } from '../dom.js';
import { button, complain } from '../feedback.js';
import { EMAIL, PASSWORD, form } from '../form.js';
import { present } from '../router.js';
import { secondStep } from './second-step.js';

/** Waits for a request that signs in, and shows the login challenge if there is one. @returns its answer */
export async function enter(sent) {
  const answer = await sent;
  if (answer?.two_factor) await present('One more step', () => secondStep(answer));
  return answer;
}

export function signIn(left) {
  if (hasPasskeys) void auth.autofillPasskeys(left).catch(complain);
  const { features, demo } = config;
  const work = (credentials) => enter(auth.login(credentials));
  const useDemo = () =>
    work(demo).catch((error) => {
      // Visitors can delete the account, and change its password.
      throw error.status === 422 ? new Error('Restart the sample to get the demo account again.') : error;
    });
  const fields = [{ ...EMAIL, autocomplete: 'username webauthn' }, PASSWORD];
  return [
    storageNotice && h('p', { class: 'note' }, storageNotice),
    demo &&
      h(
        'section',
        { class: 'card', 'aria-label': 'Demo' },
        h('p', {}, 'Try the page as ', h('strong', {}, demo.email), ', without an account of your own.'),
        button('Use the demo account', useDemo, { class: 'wide primary' }),
      ),
    demo && h('p', { class: 'or muted' }, 'or with an account of your own'),
    form(fields, { label: 'Sign in', work, isWhole: true, isSecond: !!demo }),
    hasPasskeys && button('Sign in with a passkey', () => auth.loginWithPasskey(), { class: 'wide' }),
    h(
      'ul',
      { class: 'links' },
      features.registration && h('li', {}, h('a', { href: '#/register' }, 'Create an account')),
      features.passwordReset && h('li', {}, h('a', { href: '#/forgot-password' }, 'Forgot your password?')),
    ),
  ];
}
