import { auth } from '../auth.js';
import { badge, item, items } from '../items.js';
import { config } from '../config.js';
import { deviceIcon, deviceOf, distinct } from '../device-name.js';
import { ask } from '../dialog.js';
import { ago, h } from '../dom.js';
import { button, say } from '../feedback.js';
import { nodes, t } from '../language.js';
import { part } from '../router.js';

const nameOf = ({ label, user_agent }) => label ?? deviceOf(user_agent);

export async function sessions() {
  const list = await part('div', { 'aria-label': t`Your sessions`, role: 'group' }, async (again) => {
    const all = (await auth.sessions()).toSorted((a, b) => b.current - a.current);
    const endOthers = async () => {
      const here = { name: 'here', type: 'checkbox', label: t`Sign out here, too` };
      const options = { fields: [config.features.logoutAll && here] };
      const given = await ask(t`Sign out other sessions?`, t`They end at once.`, t`Sign out`, options);
      if (!given) return;
      if (given.here) return auth.endAllSessions();
      await auth.endOtherSessions();
      await again();
      say(t`All other sessions signed out.`);
    };
    const names = distinct(all.map(nameOf));
    return [
      items(all.map((session, i) => row(session, names[i], again))),
      all.length > 1 && h('p', { class: 'row' }, button(t`Sign out other sessions`, endOthers, { class: 'danger' })),
    ];
  });
  return [
    h('p', { class: 'muted' }, t`Where you are signed in. Don’t recognize one? Sign it out and change your password.`),
    list,
  ];
}

/** @param name distinct from those of the other rows */
function row(session, name, again) {
  const { id, user_agent, ip, created_at, last_used_at, expires_at, actor, current } = session;
  const end = async () => {
    await auth.endSession(id);
    await again();
    say(t`Session signed out.`);
  };
  return item(
    'h2',
    [
      deviceIcon(user_agent),
      name,
      current && badge(t`This session`, 'good'),
      actor === 'operator' && badge(t`Support`, 'bad'),
    ],
    [
      [t`Last used`, ago(last_used_at)],
      [t`Signed in`, ago(created_at)],
      // The idle time counts from the last use.
      [t`Ends`, ...(config.hasIdleTimeout ? nodes`${ago(expires_at)} if it is not used` : [ago(expires_at)])],
      ip && [t`IP address`, ip],
    ],
    // For this one, there is the button of the page.
    !current && button(t`Sign out`, end, { class: 'small', 'aria-label': t`Sign out of ${name}` }),
  );
}
