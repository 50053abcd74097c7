import { auth } from '../auth.js';
import { h } from '../dom.js';
import { say } from '../feedback.js';
import { NEW_PASSWORD, form, hiddenUsername } from '../form.js';
import { forgetLink, linkOf } from '../mailed-link.js';
import { go } from '../router.js';

export function resetPassword() {
  const { token, email } = linkOf('/reset-password') ?? {};
  if (!token) {
    return [
      h(
        'p',
        {},
        'Open the link in your mail again, or ',
        h('a', { href: '#/forgot-password' }, 'ask for a new one'),
        '.',
      ),
    ];
  }
  const work = async ({ password }) => {
    await auth.resetPassword({ token, email, password });
    forgetLink();
    await go('/sign-in');
    say('Your password is changed. Sign in with the new one.');
  };
  const reset = form([NEW_PASSWORD], { label: 'Set the password', work });
  reset.prepend(hiddenUsername(email));
  return [h('p', { class: 'muted' }, 'For ', h('strong', {}, email ?? '')), reset];
}
