import { auth } from '../auth.js';
import { h, newId } from '../dom.js';
import { button, say } from '../feedback.js';
import { NEW_PASSWORD, form, hiddenUsername } from '../form.js';
import { nodes, t } from '../language.js';
import { forgetLink, linkOf } from '../mailed-link.js';
import { go, present, titled } from '../router.js';
import { sendResetLink } from './forgot-password.js';
import { NO_LINK, sheet } from './mailed-links.js';

export function resetPassword() {
  const { token, email } = linkOf('/reset-password') ?? {};
  // The server needs both.
  if (!token || !email)
    return titled(NO_LINK, again(t`The link is incomplete. Open it in your email again, or get a new one.`));
  const work = async ({ password }) => {
    try {
      await auth.resetPassword({ token, email, password });
    } catch (error) {
      // The link is used, too old, or was replaced by another one.
      const [refusal] = error.errors?.email ?? [];
      if (!refusal) throw error;
      forgetLink();
      return present(NO_LINK, () => again(`${refusal} ${t`Your password is not changed.`}`, email));
    }
    forgetLink();
    await toSignIn(email);
  };
  const reset = form([NEW_PASSWORD], { label: t`Set new password`, work });
  reset.prepend(hiddenUsername(email));
  return sheet([h('p', { class: 'muted' }, nodes`For ${h('strong', {}, email)}`), reset]);
}

/** The sign-in, which knows the address and says what happened until the visitor has signed in. */
async function toSignIn(email) {
  await go('/sign-in');
  const text = t`Your password is changed. Sign in with the new one.`;
  // The session of another account.
  if (auth.session) return say(text);
  const id = newId('changed');
  const entry = document.querySelector('main form');
  const { email: address, password } = entry.elements;
  entry.before(h('p', { id, class: 'notice', role: 'status' }, text));
  address.value = email;
  password.setAttribute('aria-describedby', id);
  password.focus();
}

/** The way to a new link, to the address of the old one if it is known. */
const again = (text, email) =>
  sheet([
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
  ]);
