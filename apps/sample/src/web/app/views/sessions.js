import { auth } from '../auth.js';
import { config } from '../config.js';
import { deviceOf } from '../device-name.js';
import { ask } from '../dialog.js';
import { h, time } from '../dom.js';
import { button, say } from '../feedback.js';
import { part } from '../router.js';

async function everywhere() {
  const text = 'All sessions end, including this one. You have to sign in again.';
  if (await ask('Sign out everywhere?', text, 'Sign out everywhere')) await auth.endAllSessions();
}

export async function sessions() {
  const list = await part('div', { 'aria-label': 'Your sessions', role: 'group' }, async (again) => {
    const all = (await auth.sessions()).toSorted((a, b) => b.current - a.current);
    const others = async () => {
      await auth.endOtherSessions();
      await again();
      say('All other sessions have ended.');
    };
    return [
      h(
        'ul',
        { class: 'cards' },
        all.map((session) => row(session, again)),
      ),
      h(
        'p',
        { class: 'row' },
        all.length > 1 && button('End all others', others),
        config.features.logoutAll && button('Sign out everywhere…', everywhere, { class: 'danger' }),
      ),
    ];
  });
  return [
    h(
      'p',
      { class: 'muted' },
      'Where you are signed in. Is there one that you do not know? End it, and change your password.',
    ),
    list,
  ];
}

/** When the session ends: the idle time counts from its last use. */
const ends = (at) => [' · ends ', time(at), config.hasIdleTimeout && ' if it is not used'].filter(Boolean);

function row({ id, label, user_agent, ip, created_at, last_used_at, expires_at, current }, again) {
  const name = label ?? deviceOf(user_agent);
  const end = async () => {
    if (current) return auth.logout();
    await auth.endSession(id);
    await again();
    say('The session has ended.');
  };
  return h(
    'li',
    { class: 'card spread' },
    h(
      'div',
      {},
      h('h2', {}, name, ' ', current && h('span', { class: 'badge good' }, 'this one')),
      h(
        'p',
        { class: 'muted' },
        ip && `${ip} · `,
        'last used ',
        time(last_used_at),
        ' · since ',
        time(created_at),
        ends(expires_at),
      ),
    ),
    button(current ? 'Sign out' : 'End', end, {
      'aria-label': current ? 'Sign out of this session' : `End the session of ${name}`,
    }),
  );
}
