import { config } from '../client/config.js';
import { h } from '../dom.js';
import { button, say } from '../feedback.js';
import { current, onChange, refresh } from '../client/session.js';

const KEPT = config.cookieMode
  ? 'The refresh token is in a cookie that no script can read. A malicious script in this page could act as you while the page is open, but it could only steal a short-lived access token.'
  : 'The refresh token is in localStorage, so that all tabs share it. A malicious script in this page could steal it, and use it elsewhere until the session ends. Cookie mode (SVC_COOKIE_MODE=true) prevents that.';

/** The access token and the time until it expires. It is refreshed automatically. */
export function tokenCard(left) {
  const [remaining, bar] = [
    h('span', { class: 'remaining' }),
    h('progress', { 'aria-label': 'Remaining lifetime of the access token' }),
  ];
  const [header, payload] = [h('pre', { id: 'token-header' }), h('pre', { id: 'token-payload' })];

  function count() {
    const access = current();
    if (!access) return;
    const seconds = Math.max(0, Math.round((access.endsAt - Date.now()) / 1000));
    remaining.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`;
    [bar.max, bar.value] = [access.life / 1000, seconds];
  }
  function draw() {
    const access = current();
    if (!access) return;
    header.textContent = JSON.stringify(access.header, null, 2);
    payload.textContent = JSON.stringify(access.payload, null, 2);
    count();
  }
  draw();
  onChange(draw, { signal: left });
  const ticking = setInterval(count, 1000);
  left.addEventListener('abort', () => clearInterval(ticking));

  const renew = async () => {
    await refresh(current());
    if (current()) say('Renewed.');
  };
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'token-heading' },
    h('div', { class: 'spread' }, h('h2', { id: 'token-heading' }, 'Access token'), remaining),
    bar,
    h('p', { class: 'muted' }, 'It is only in memory, and is refreshed automatically before it expires. ', KEPT),
    h('h3', {}, 'Header'),
    header,
    h('h3', {}, 'Payload'),
    payload,
    button('Refresh it now', renew),
  );
}
