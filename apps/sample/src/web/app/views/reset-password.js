import { auth } from '../auth.js';
import { h } from '../dom.js';
import { button, say } from '../feedback.js';
import { NEW_PASSWORD, form, hiddenUsername } from '../form.js';
import { nodes, t } from '../language.js';
import { forgetLink, linkOf } from '../mailed-link.js';
import { go, present } from '../router.js';
import { sendResetLink } from './forgot-password.js';

export function resetPassword() {
  const { token, email } = linkOf('/reset-password') ?? {};
  if (!token) return again(t`Open the link in your email again, or get a new one.`);
  const work = async ({ password }) => {
    try {
      await auth.resetPassword({ token, email, password });
    } catch (error) {
      // The link is used, too old, or was replaced by another one.
      const [refusal] = error.errors?.email ?? [];
      if (!refusal) throw error;
      forgetLink();
      return present(t`This link no longer works`, () => again(refusal, email));
    }
    forgetLink();
    await go('/sign-in');
    say(t`Your password is changed. Sign in with the new one.`);
  };
  const reset = form([NEW_PASSWORD], { label: t`Set new password`, work });
  reset.prepend(hiddenUsername(email));
  return [h('p', { class: 'muted' }, nodes`For ${h('strong', {}, email ?? '')}`), reset];
}

/** The way to a new link, to the address of the old one if it is known. */
const again = (text, email) => [
  h('p', {}, text),
  email && h('p', { class: 'muted' }, nodes`We can send a new link to ${h('strong', {}, email)}.`),
  h(
    'p',
    { class: 'row' },
    email
      ? button(t`Send a new link`, () => sendResetLink(email), { class: 'primary' })
      : h('a', { class: 'button primary', href: '#/forgot-password' }, t`Get a new link`),
    h('a', { class: 'button', href: '#/sign-in' }, t`Back to sign in`),
  ),
];
