import { auth, place } from '../auth.js';
import { config } from '../config.js';
import { h, newId, time } from '../dom.js';
import { button, say } from '../feedback.js';
import { nodes, t } from '../language.js';
import { canReplay, graceLeft, life, onLife, replay } from '../life.js';
import { clockOf, timeline } from './timeline.js';

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

const captioned = (element, caption) => h('div', {}, element, caption);

/**
 * A button for what is not always possible, and below it when it is. When it is not, a press says why.
 *
 * @param stateOf gets how long the old token is still accepted, and returns `{ caption, why, ends }`; `why` only if it is not possible,
 *   `ends` if it ends the session
 */
function offer(label, stateOf, work) {
  const caption = h('p', { class: 'note', id: newId('when') });
  const state = () => stateOf(graceLeft());
  const act = () => (state().why ? say(state().why, 'plain') : work());
  const element = button(label, act, { 'aria-describedby': caption.id });
  const update = () => {
    element.setAttribute('aria-disabled', String(!!state().why));
    element.classList.toggle('danger', !!state().ends);
    caption.textContent = state().caption;
  };
  return { shown: captioned(element, caption), update };
}

const seconds = (ms) => `${Math.ceil(ms / 1000)} s`;
const FIRST = t`Renew first: that makes the refresh token an old one.`;
/** The line below the buttons says it once for all of them. */
const NOT_YET = { caption: '', why: FIRST };

const inGraceTime = (left) => {
  if (left === null) return NOT_YET;
  if (left > 0) return { caption: t`${seconds(left)} left` };
  return {
    caption: t`The grace time is over`,
    why: t`The grace time is over. Renew, then replay within ${config.graceSeconds} s.`,
  };
};
const afterGraceTime = (left) => {
  if (left === null) return NOT_YET;
  if (left > 0) return { caption: t`Possible in ${seconds(left)}`, why: t`Wait until the grace time is over.` };
  return { caption: t`Ends the session`, ends: true };
};

/** What the old refresh token is good for now. */
function advice() {
  const left = graceLeft();
  if (left === null) return FIRST;
  if (left > 0) return t`The old refresh token is still accepted: a client may have lost the answer.`;
  return t`The old refresh token is no longer accepted. Whoever sends it now ends the session.`;
}

/** The life of the session, and what the user can do to it. */
export function sessionCard(left) {
  const remaining = h('span', { class: 'remaining' });
  const hint = h('p', { class: 'note' });
  const claims = h('dl', { class: 'claims' });
  const [header, payload] = [h('pre', { id: 'token-header' }), h('pre', { id: 'token-payload' })];

  const offers = canReplay
    ? [
        offer(t`Replay the old token`, inGraceTime, replay),
        offer(t`Replay after the grace time`, afterGraceTime, replay),
      ]
    : [];

  function count() {
    if (!auth.session) return;
    remaining.textContent = t`${clockOf(auth.session.expiresAt - Date.now())} left`;
    hint.textContent = NO_REPLAY ?? advice();
    for (const { update } of offers) update();
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
    h(
      'div',
      { class: 'actions' },
      captioned(
        button(t`Renew now`, () => auth.renew(), { class: 'primary' }),
        h('p', { class: 'note' }, nodes`Access token: ${remaining}`),
      ),
      offers.map(({ shown }) => shown),
    ),
    hint,
    timeline(left),
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

/** Why the session has ended, in one line. An end that the user did not want is announced. */
function verdict() {
  const { events } = life();
  const last = events.at(-1);
  if (last.reason !== 'ended') return h('p', { class: 'verdict' }, last.text);
  const line = h('p', { class: 'verdict bad', role: 'status' });
  const isTheft = events.some(({ kind }) => kind === 'reused');
  const cause = isTheft
    ? t`An old refresh token came back after its grace time. The server takes that for theft.`
    : last.text;
  // Screen readers read what is added to an element that is there.
  setTimeout(() => line.append(h('strong', {}, t`Your session has ended. Sign in again.`), ' ', cause));
  return line;
}

/** The life of the session that has ended, for the view after it. */
export const lastSession = (left) => [
  h('h2', { id: 'intro-heading' }, t`What happened to your session`),
  verdict(),
  h('div', { class: 'card' }, timeline(left)),
];
