import { account, auth } from '../auth.js';
import { config } from '../config.js';
import { h } from '../dom.js';
import { say } from '../feedback.js';
import { NEW_PASSWORD, PASSWORD, form, hiddenUsername } from '../form.js';
import { t } from '../language.js';
import { show } from '../router.js';
import { changed, user } from '../user.js';

const CURRENT = { ...PASSWORD, name: 'current_password', label: t`Current password` };

const END_KEYS = { name: 'end_access_keys', type: 'checkbox', label: t`Also revoke my access keys` };

export async function password() {
  const [{ email, has_password }, keys] = await Promise.all([
    user(),
    config.features.accessKeys ? account.accessKeys.list() : [],
  ]);
  const work = async (fields) => {
    await auth.changePassword(fields);
    changed();
    await show();
    say(has_password ? t`Your password is changed. All other sessions have ended.` : t`Your password is set.`);
  };
  const change = form([has_password && CURRENT, NEW_PASSWORD, keys.length > 0 && END_KEYS], {
    label: has_password ? t`Change password` : t`Set password`,
    work,
  });
  change.prepend(hiddenUsername(email));
  return [
    h(
      'p',
      { class: 'muted' },
      has_password
        ? t`When you change your password, all your other sessions end.`
        : t`You have no password. With one, you can also sign in where your passkey is not.`,
    ),
    h('section', { class: 'card', 'aria-label': t`Password` }, change),
  ];
}
