import { config, hasPasskeys } from '../client/config.js';
import { h } from '../dom.js';
import { button, complain } from '../feedback.js';
import { EMAIL, PASSWORD, form } from '../form.js';
import { present } from '../router.js';
import * as session from '../client/session.js';
import { autofill, get, stopAutofill } from '../client/webauthn.js';
import { secondStep } from './second-step.js';

/** Signs in, or shows the login challenge. */
export async function enter(path, body) {
  stopAutofill();
  const challenge = await session.signIn(path, body);
  if (challenge?.two_factor) await present('One more step', () => secondStep(challenge));
  return challenge;
}

export function signIn(left) {
  const byPasskey = (proof) => enter('auth/passkeys/login', proof);
  void autofill(byPasskey, left).catch(complain);
  const { features, demo } = config;
  const fields = [{ ...EMAIL, autocomplete: 'username webauthn' }, PASSWORD];
  const login = form(fields, { label: 'Sign in', work: (body) => enter('auth/login', body) });
  const useDemo = () => {
    for (const [name, value] of Object.entries(demo)) login.elements[name].value = value;
    login.requestSubmit();
  };
  return [
    login,
    hasPasskeys && button('Sign in with a passkey', async () => byPasskey(await get()), { class: 'wide' }),
    h(
      'ul',
      { class: 'links' },
      features.registration && h('li', {}, h('a', { href: '#/register' }, 'Create an account')),
      features.passwordReset && h('li', {}, h('a', { href: '#/forgot-password' }, 'Forgot your password?')),
    ),
    demo &&
      h(
        'section',
        { class: 'card', 'aria-label': 'Demo' },
        h('p', {}, 'To try this page, use the account ', h('strong', {}, demo.email), '.'),
        button('Use the demo account', useDemo),
      ),
  ];
}
