import { auth } from '../auth.js';
import { h } from '../dom.js';
import { say } from '../feedback.js';
import { NEW_PASSWORD, PASSWORD, form, hiddenUsername } from '../form.js';
import { show } from '../router.js';
import { user } from '../user.js';

const CURRENT = { ...PASSWORD, name: 'current_password', label: 'Current password' };

export async function password() {
  const { email } = await user();
  const work = async (fields) => {
    await auth.changePassword(fields);
    await show();
    say('Your password is changed. All other sessions have ended.');
  };
  const change = form([CURRENT, NEW_PASSWORD], { label: 'Change the password', work });
  change.prepend(hiddenUsername(email));
  return [
    h('p', { class: 'muted' }, 'When you change your password, all your other sessions end.'),
    h('section', { class: 'card', 'aria-label': 'Change' }, change),
  ];
}
