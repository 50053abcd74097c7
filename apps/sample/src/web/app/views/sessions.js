import { call } from '../client/api.js';
import { config } from '../client/config.js';
import { ask } from '../dialog.js';
import { h, time } from '../dom.js';
import { button, say } from '../feedback.js';
import { part } from '../router.js';
import { leaveBy, signOut } from '../sign-out.js';

const BROWSERS = ['Edg', 'OPR', 'Firefox', 'HeadlessChrome', 'Chrome', 'Safari', 'curl'];
const SYSTEMS = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS', 'Linux'];
const NAMES = { Edg: 'Edge', OPR: 'Opera', HeadlessChrome: 'Chrome', 'Mac OS': 'Mac' };

/** A short name for a user agent, so that users recognise their devices. Clients can send any user agent. */
function deviceOf(userAgent) {
  const [browser, system] = [BROWSERS, SYSTEMS].map((names) => names.find((name) => userAgent?.includes(name)));
  return (
    [browser, system]
      .filter(Boolean)
      .map((name) => NAMES[name] ?? name)
      .join(' on ') || 'Unknown device'
  );
}

async function everywhere() {
  const text = 'All sessions end, including this one. You have to sign in again.';
  if (await ask('Sign out everywhere?', text, 'Sign out everywhere'))
    await leaveBy('DELETE', 'auth/sessions', 'You are signed out everywhere.');
}

export async function sessions() {
  const list = await part('div', { 'aria-label': 'Your sessions', role: 'group' }, async (again) => {
    const { data } = await call('GET', 'auth/sessions');
    const others = async () => {
      await call('DELETE', 'auth/sessions/others');
      await again();
      say('All other sessions have ended.');
    };
    return [
      h(
        'ul',
        { class: 'cards' },
        data.map((session) => row(session, again)),
      ),
      h(
        'p',
        { class: 'row' },
        data.length > 1 && button('End all others', others),
        config.features.logoutAll && button('Sign out everywhere…', everywhere, { class: 'danger' }),
      ),
    ];
  });
  return [
    h(
      'p',
      { class: 'muted' },
      'The places where you are signed in. If you do not recognize a session, end it and change your password.',
    ),
    list,
  ];
}

function row({ id, label, user_agent, ip, created_at, last_used_at, current }, again) {
  const name = label ?? deviceOf(user_agent);
  const end = async () => {
    if (current) return signOut();
    await call('DELETE', `auth/sessions/${id}`);
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
      h('p', { class: 'muted' }, ip && `${ip} · `, 'last used ', time(last_used_at), ' · since ', time(created_at)),
    ),
    button(current ? 'Sign out' : 'End', end, {
      'aria-label': current ? 'Sign out of this session' : `End the session of ${name}`,
    }),
  );
}
