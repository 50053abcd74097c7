import { auth, place } from '../auth.js';
import { h, time } from '../dom.js';
import { button } from '../feedback.js';
import { t } from '../language.js';
import { canReplay, graceLeft, life, onLife, replay } from '../life.js';
import { timeline } from './timeline.js';

/** Where the tokens are, by the place of the refresh token. */
const KEPT = {
  cookie: t`This page has the access token in memory. The refresh token is in a cookie that no script can read: a malicious script could act as you while the page is open, but could steal only a short-lived access token.`,
  localStorage: t`This page has the access token in memory. The refresh token is in localStorage, where all tabs find it, and a malicious script would, too. Cookie mode (SVC_COOKIE_MODE=true) prevents that.`,
  memory: t`This page has both tokens in memory. They are gone when you reload or close it.`,
}[place];

/** Why this page cannot replay an old refresh token. */
const NO_REPLAY = {
  cookie: t`The refresh token is in a cookie that no script can read, so this page cannot replay an old one. In body mode it can.`,
  memory: t`This browser stores nothing for this page: the session ends when you reload it, and no token can be replayed.`,
}[place];

/** What the claims of an access token mean. */
const MEANINGS = {
  sub: t`the user`,
  fid: t`the session, the same in all its tokens`,
  jti: t`this token`,
  scope: t`what it may do`,
  amr: t`how you signed in`,
  auth_time: t`when you signed in`,
  iat: t`issued`,
  nbf: t`not valid before`,
  exp: t`not valid after`,
  iss: t`who issued it`,
  aud: t`who accepts it`,
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

/** What the old refresh token is good for. @param left how long it is still accepted */
function advice(left) {
  if (left === null) return t`Renew once, then replay the old refresh token.`;
  if (left > 0)
    return t`The old refresh token is still accepted, for a client that lost the answer. After its grace time, a replay ends the session.`;
  return t`The old refresh token is no longer accepted. Whoever sends it now ends the session.`;
}

/** The life of the session, and what the user can do to it. */
export function sessionCard(left) {
  const hint = h('p', { class: 'note', id: 'hint' });
  const claims = h('dl', { class: 'claims' });
  const [header, payload] = [h('pre', { id: 'token-header' }), h('pre', { id: 'token-payload' })];
  const again = button('', replay, { 'aria-describedby': 'hint' });

  function count() {
    if (!auth.session) return;
    const rest = canReplay ? graceLeft() : null;
    hint.textContent = NO_REPLAY ?? advice(rest);
    again.hidden = rest === null;
    again.classList.toggle('danger', rest === 0);
    again.textContent = rest === 0 ? t`Replay it and end the session` : t`Replay the old token`;
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
    h('h2', { id: 'life-heading' }, t`The life of your session`),
    timeline(
      left,
      h(
        'div',
        { class: 'actions' },
        button(t`Renew now`, () => auth.renew(), { class: 'primary' }),
        again,
        hint,
      ),
    ),
    h(
      'details',
      {},
      h('summary', {}, t`What is in the access token`),
      h(
        'div',
        { class: 'stack' },
        claims,
        h('p', { class: 'note' }, KEPT),
        h('details', {}, h('summary', {}, t`As JSON`), h('div', { class: 'stack' }, header, payload)),
      ),
    ),
  );
}

const isTheft = () => life().events.some(({ kind }) => kind === 'reused');

/** Why the session has ended, if the user did not want it. It is announced. */
function verdict() {
  const last = life().events.at(-1);
  if (last.reason !== 'ended') return;
  const line = h('p', { class: 'verdict', role: 'status' });
  const cause = isTheft()
    ? t`An old refresh token came back after its grace time. The server takes that for theft: whoever sent it got nothing, and every tab is signed out.`
    : last.text;
  // On a phone, the form is far below.
  const toForm = button(t`Sign in again`, () => document.querySelector('#main input').focus(), { class: 'second' });
  // Screen readers read what is added to an element that is there.
  setTimeout(() => line.append(h('strong', {}, t`Your session has ended. Sign in again.`), ' ', cause, toForm));
  return line;
}

/** The life of the session that has ended, for the view after it. */
export const lastSession = (left) => [
  h('h2', { id: 'intro-heading' }, isTheft() ? t`A stolen token was stopped` : t`What happened to your session`),
  h('div', { class: 'card' }, verdict(), timeline(left)),
];
