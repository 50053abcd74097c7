import { auth, methodsOf, ownSession, place, send } from './auth.js';
import { config } from './config.js';
import { duration } from './dom.js';
import { exchange, t } from './language.js';

/**
 * The life of the session of this tab, which the page draws. It is in memory only, remains after the end of the session,
 * and begins anew with the next session.
 */

/** How a session ended. The server does not say why it refuses to renew one. */
const ENDS = {
  logout: t`You signed out.`,
  deleted: t`The account was deleted.`,
  ended: t`It was ended on another device, by the support, or because its time was over.`,
};

/** Whether a script can read the refresh token, and so replay an old one. */
export const canReplay = place === 'localStorage';
/** Where the client keeps the refresh token in `localStorage`. Only this demonstration needs to know. */
const KEY = 'svc-auth:/auth';
const refreshToken = () => (canReplay ? localStorage.getItem(KEY) : null);

const changes = new EventTarget();
/** `{ at, kind, title, text, http }`, in order. `kind` is `started`, `renewed`, `replayed`, `reused`, `refused` or `ended`;
 * `http` is `[request, status]` if this tab sent one; an end has the `reason` of the client. */
let events = [];
/** When each refresh token was issued, in order. */
let issued = [];
/** When the access token expires, and when the session ends, with its refresh tokens: Infinity until that is known. */
let [expiresAt, endsAt] = [0, Infinity];
/** The current refresh token, and `{ token, at }`: the one before it, and when it was replaced. Null if no script can read it. */
let held = refreshToken();
let old = null;

/** The life of the session: `events`, `issued`, `expiresAt`, `endsAt`, and `ended`, the time of its end or null. */
export const life = () => ({
  events,
  issued,
  expiresAt,
  endsAt,
  ended: events.find(({ kind }) => kind === 'ended')?.at ?? null,
});

/** Calls `listener` after each event. */
export const onLife = (listener, options) => changes.addEventListener('change', listener, options);

/** Asks when the session ends. An idle time begins anew at each renewal, so that there is no such moment. */
export async function learnEnd() {
  if (isFinite(endsAt) || config.hasIdleTimeout) return;
  const of = events;
  const { expires_at } = await ownSession();
  if (of !== events) return;
  endsAt = Date.parse(expires_at);
  changes.dispatchEvent(new Event('change'));
}

/** How long the server still accepts the old refresh token, in milliseconds: 0 when it does not; null if there is none. */
export const graceLeft = () => old && Math.max(0, old.at + config.graceSeconds * 1000 - Date.now());

function add(kind, title, text, { at = Date.now(), reason, http } = {}) {
  events.push({ at, kind, title, text, reason, http });
  changes.dispatchEvent(new Event('change'));
}

/** Remembers the refresh token that was replaced just now. */
function replace(before, now) {
  if (before && now && before !== now) old = { token: before, at: Date.now() };
  held = now;
  changes.dispatchEvent(new Event('change'));
}

// A message of another tab can arrive before the storage of this tab has the token that it is about.
window.addEventListener('storage', ({ key, oldValue, newValue }) => {
  if (key === KEY && canReplay) replace(oldValue, newValue);
});

auth.on('signedIn', ({ session: { claims, expiresAt: end }, reason, otherTab }) => {
  const start = Math.min((claims.auth_time ?? Infinity) * 1000, Date.now());
  [events, issued, expiresAt, endsAt, old] = [[], [start], end, Infinity, null];
  const how = methodsOf(claims);
  const text = otherTab
    ? t`In another tab, by ${how}. This issued the first tokens.`
    : t`By ${how}. This issued the first tokens.`;
  const isNew = reason !== 'restored';
  const isFirst = isNew && !otherTab && /register/.test(exchange);
  add('started', isFirst ? t`Account created` : t`Signed in`, text, {
    at: start,
    http: isNew && !otherTab && exchange,
  });
  if (isNew) return void (held = refreshToken());
  issued.push(Date.now());
  replace(held, refreshToken());
  add('renewed', t`Renewed`, t`The page was opened again, and took up the session that this browser has.`, {
    http: exchange,
  });
});

auth.on('renewed', ({ session, otherTab }) => {
  const at = Date.now();
  expiresAt = session.expiresAt;
  issued.push(at);
  if (!otherTab) replace(held, refreshToken());
  const text = otherTab
    ? t`In another tab: a new access token and a new refresh token.`
    : t`A new access token and a new refresh token.`;
  add('renewed', t`Renewed`, text, { at, http: !otherTab && exchange });
});

auth.on('signedOut', ({ reason, otherTab }) => {
  [held, old] = [null, null];
  const isOther = reason === 'logout' && otherTab;
  // The replay before it has ended the session.
  const isTold = events.some(({ kind }) => kind === 'reused');
  const title = isTold ? t`Current refresh token refused` : t`Ended`;
  const text = isTold ? t`Refresh token ${issued.length}.` : ENDS[reason];
  add('ended', title, isOther ? t`You signed out in another tab.` : text, {
    reason,
    http: !otherTab && exchange,
  });
});

/**
 * Sends the old refresh token again, as a client does that lost an answer, or as a thief.
 *
 * @throws Error if the server neither accepts nor refuses it
 */
export async function replay() {
  const used = auth.session;
  const { status, answer } = await send('POST', '/auth/refresh', { body: { refresh_token: old.token } });
  if (status === 200) {
    const isSame = answer.refresh_token === refreshToken();
    const text = isSame
      ? t`Perhaps the client lost the answer. It got the current refresh token again, and nothing else changed.`
      : t`It got a refresh token.`;
    return add('replayed', t`Replayed in time`, text, { http: exchange });
  }
  if (status !== 401) throw new Error(answer.message);
  add('reused', t`Replayed too late: session ended`, t`Refresh token ${issued.length - 1}, after its grace time.`, {
    http: exchange,
  });
  await tryAccess(used);
  // The current refresh token is refused, too, so the client ends the session in all tabs.
  await auth.renew();
}

/** Shows that the access token of an ended session is refused although it has not expired. */
async function tryAccess(session) {
  const { status } = await send('GET', '/user', { token: session.token });
  if (status !== 401) return;
  const left = duration(Math.max(0, Math.round((session.expiresAt - Date.now()) / 1000)));
  add('refused', t`Access token refused`, t`It had ${left} left.`, { http: ['GET /user', status] });
}
