import { auth } from '../auth.js';
import { badge, item, items } from '../items.js';
import { config } from '../config.js';
import { deviceOf } from '../device-name.js';
import { ask } from '../dialog.js';
import { ago, h } from '../dom.js';
import { button, say } from '../feedback.js';
import { nodes, t } from '../language.js';
import { part } from '../router.js';

async function everywhere() {
  const text = t`All sessions end, including this one. You have to sign in again.`;
  if (await ask(t`Sign out everywhere?`, text, t`Sign out everywhere`)) await auth.endAllSessions();
}

export async function sessions() {
  const list = await part('div', { 'aria-label': t`Your sessions`, role: 'group' }, async (again) => {
    const all = (await auth.sessions()).toSorted((a, b) => b.current - a.current);
    const others = async () => {
      if (!(await ask(t`Sign out others?`, t`All sessions end but this one.`, t`Sign out others`))) return;
      await auth.endOtherSessions();
      await again();
      say(t`All other sessions have ended.`);
    };
    return [
      h(
        'p',
        { class: 'row' },
        all.length > 1 && button(t`Sign out others`, others),
        config.features.logoutAll && button(t`Sign out everywhere`, everywhere, { class: 'danger' }),
      ),
      items(all.map((session) => row(session, again))),
    ];
  });
  return [
    h(
      'p',
      { class: 'muted' },
      t`Where you are signed in. Is there one that you do not know? Sign it out, and change your password.`,
    ),
    list,
  ];
}

function row({ id, label, user_agent, ip, created_at, last_used_at, expires_at, current }, again) {
  const name = label ?? deviceOf(user_agent);
  const end = async () => {
    if (current) return auth.logout();
    await auth.endSession(id);
    await again();
    say(t`The session has ended.`);
  };
  return item(
    'h2',
    [name, current && badge(t`This device`, 'good')],
    [
      [t`Last used`, ago(last_used_at)],
      [t`Signed in`, ago(created_at)],
      // The idle time counts from the last use.
      [t`Ends`, ...(config.hasIdleTimeout ? nodes`${ago(expires_at)} if it is not used` : [ago(expires_at)])],
      ip && [t`Address`, ip],
    ],
    button(t`Sign out`, end, {
      class: 'small',
      'aria-label': current ? t`Sign out of this session` : t`Sign out of ${name}`,
    }),
  );
}
