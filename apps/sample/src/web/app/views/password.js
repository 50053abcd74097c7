import { auth } from '../auth.js';
import { h } from '../dom.js';
import { say } from '../feedback.js';
import { NEW_PASSWORD, PASSWORD, form, hiddenUsername } from '../form.js';
import { show } from '../router.js';
import { changed, user } from '../user.js';

const CURRENT = { ...PASSWORD, name: 'current_password', label: 'Current password' };

export async function password() {
  const { email, has_password } = await user();
  const work = async (fields) => {
    await auth.changePassword(fields);
    changed();
    await show();
    say(has_password ? 'Your password is changed. All other sessions have ended.' : 'Your password is set.');
  };
  const change = form([has_password && CURRENT, NEW_PASSWORD], {
    label: has_password ? 'Change the password' : 'Set a password',
    work,
  });
  change.prepend(hiddenUsername(email));
  return [
    h(
      'p',
      { class: 'muted' },
      has_password
        ? 'When you change your password, all your other sessions end.'
        : 'You have no password. With one, you can also sign in where your passkey is not.',
    ),
    h('section', { class: 'card', 'aria-label': 'Change' }, change),
  ];
}
