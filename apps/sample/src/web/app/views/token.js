import { auth, place } from '../auth.js';
import { config } from '../config.js';
import { h, time } from '../dom.js';
import { button, say } from '../feedback.js';
import { canReplay, graceLeft, onLife, replay } from '../life.js';
import { timeline } from './timeline.js';

/** Where the tokens are, by the place of the refresh token. */
const KEPT = {
  cookie:
    'This page has the access token in memory. The refresh token is in a cookie that no script can read: a malicious script could act as you while the page is open, but could steal only a short-lived access token.',
  localStorage:
    'This page has the access token in memory. The refresh token is in localStorage, where all tabs find it, and a malicious script would, too. Cookie mode (SVC_COOKIE_MODE=true) prevents that.',
  memory: 'This page has both tokens in memory. They are gone when you reload or close it.',
}[place];

/** Why this page cannot replay an old refresh token. */
const NO_REPLAY = {
  cookie:
    'The refresh token is in a cookie that no script can read, so this page cannot replay an old one. In body mode it can.',
  memory:
    'This browser stores nothing for this page: the session ends when you reload it, and no token can be replayed.',
}[place];

/** What the claims of an access token mean. */
const MEANINGS = {
  sub: 'the user',
  fid: 'the session, the same in all its tokens',
  jti: 'this token',
  scope: 'what it may do',
  amr: 'how you signed in',
  auth_time: 'when you signed in',
  iat: 'issued',
  nbf: 'not valid before',
  exp: 'not valid after',
  iss: 'who issued it',
  aud: 'who accepts it',
};
const TIMES = ['auth_time', 'iat', 'nbf', 'exp'];

const claim = ([name, value]) =>
  h(
    'div',
    {},
    h('dt', {}, h('code', {}, name), MEANINGS[name] && ` ${MEANINGS[name]}`),
    h('dd', {}, TIMES.includes(name) ? time(value * 1000) : [value].flat().join(', ')),
  );

const headerOf = (token) => JSON.parse(atob(token.split('.')[0].replaceAll('-', '+').replaceAll('_', '/')));

/** A button for something that is not always possible. When it is not, a press says why. */
function offer(label, whyNot, work) {
  const element = button(label, () => {
    const why = whyNot();
    return why ? say(why, 'plain') : work();
  });
  return { element, update: () => element.setAttribute('aria-disabled', String(!!whyNot())) };
}

const seconds = (ms) => `${Math.ceil(ms / 1000)} s`;
const FIRST = 'Renew first: that makes the refresh token an old one.';

/** What the old refresh token is good for now. */
function advice() {
  const left = graceLeft();
  if (left === null) return FIRST;
  if (left > 0)
    return `The old refresh token is still accepted for ${seconds(left)}: a client may have lost the answer.`;
  return 'The old refresh token is no longer accepted. Whoever sends it now ends the session.';
}

/** The life of the session, and what the user can do to it. */
export function sessionCard(left) {
  const remaining = h('span', { class: 'remaining' });
  const hint = h('p', { class: 'note' });
  const claims = h('dl', { class: 'claims' });
  const [header, payload] = [h('pre', { id: 'token-header' }), h('pre', { id: 'token-payload' })];

  const inTime = offer(
    'Replay the old token',
    () =>
      graceLeft()
        ? null
        : graceLeft() === null
          ? FIRST
          : `The grace time is over. Renew, then replay within ${config.graceSeconds} s.`,
    replay,
  );
  const tooLate = offer(
    'Replay after the grace time',
    () => (graceLeft() === null ? FIRST : graceLeft() && `Wait until the grace time is over: ${seconds(graceLeft())}.`),
    replay,
  );

  function count() {
    if (!auth.session) return;
    const rest = Math.max(0, Math.round((auth.session.expiresAt - Date.now()) / 1000));
    remaining.textContent = `${Math.floor(rest / 60)}:${String(rest % 60).padStart(2, '0')} left`;
    hint.textContent = NO_REPLAY ?? advice();
    for (const { update } of [inTime, tooLate]) update();
  }
  function draw() {
    if (!auth.session) return;
    header.textContent = JSON.stringify(headerOf(auth.session.token), null, 2);
    payload.textContent = JSON.stringify(auth.session.claims, null, 2);
    claims.replaceChildren(...Object.entries(auth.session.claims).map(claim));
    count();
  }
  draw();
  onLife(draw, { signal: left });
  const ticking = setInterval(count, 1000);
  left.addEventListener('abort', () => clearInterval(ticking));

  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'life-heading' },
    h(
      'div',
      { class: 'spread' },
      h('h2', { id: 'life-heading' }, 'The life of your session'),
      h('span', { class: 'muted' }, 'Access token: ', remaining),
    ),
    h(
      'div',
      { class: 'row' },
      button('Renew now', () => auth.renew(), { class: 'primary' }),
      canReplay && [inTime.element, tooLate.element],
    ),
    hint,
    timeline(left),
    h(
      'details',
      {},
      h('summary', {}, 'What is in the access token'),
      h(
        'div',
        { class: 'stack' },
        claims,
        h('p', { class: 'note' }, KEPT),
        h('details', {}, h('summary', {}, 'As JSON'), h('div', { class: 'stack' }, header, payload)),
      ),
    ),
  );
}

/** The life of the session that has ended, for the view after it. */
export const lastSession = (left) => [
  h('h2', { id: 'intro-heading' }, 'What happened to your session'),
  h('div', { class: 'card' }, timeline(left)),
];
