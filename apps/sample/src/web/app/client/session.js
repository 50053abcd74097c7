import { request } from './http.js';
import { decode } from './jwt.js';
import { broadcast, onBroadcast, stored, withLock } from './tabs.js';

/** The session of this tab. The access token is in memory only. */

const DAY_MS = 86_400_000;
/** A token is refreshed this long before it expires, or a fifth of its lifetime before, whichever is less. */
const MARGIN_MS = 60_000;
const RETRY_MS = 5000;
/** The lock is held this long after a refresh, so that the other tabs receive the new token before one gets the lock. */
const BROADCAST_MS = 50;

const changes = new EventTarget();
let access = null;
let timer;

/** `{ token, header, payload, life, endsAt }`, times in milliseconds; null when signed out. */
export const current = () => access;

/** Calls `listener(access, before, notice)` after each new token and after the end of the session. */
export function onChange(listener, options) {
  changes.addEventListener('change', ({ detail }) => listener(...detail), options);
}

function setAccess(next, notice) {
  const before = access;
  access = next;
  schedule();
  changes.dispatchEvent(new CustomEvent('change', { detail: [access, before, notice] }));
}

function useToken(token, endsAt, life) {
  setAccess({ token, ...decode(token), life, endsAt });
}

/** Takes the tokens of a response, and sends the access token to the other tabs. */
function accept({ access_token: token, refresh_token: refreshToken, expires_in: seconds }) {
  const [life, endsAt] = [seconds * 1000, Date.now() + seconds * 1000];
  stored.save(refreshToken);
  broadcast({ kind: 'token', token, endsAt, life });
  useToken(token, endsAt, life);
}

/**
 * Signs in with a request that is answered with tokens.
 *
 * @returns null; or the response, if it has no tokens: a login challenge, or a registration without a session
 */
export const signIn = (path, body) =>
  withLock(async () => {
    const answer = await request('POST', path, { body });
    if (!answer.access_token) return answer;
    accept(answer);
    return null;
  });

/** Restores the session of an earlier page or of another tab. Call it once, when the page starts. */
export const restore = () => (stored.signedIn ? refresh(null) : undefined);

/**
 * Refreshes the session, unless `stale` is no longer the current token because another tab refreshed it.
 *
 * Only the answers 401 and 403 end the session. @throws ApiError for any other failure: the session continues
 */
export const refresh = (stale) =>
  withLock(async () => {
    if (access !== stale) return;
    if (!stored.signedIn) return forget();
    const refreshToken = stored.refreshToken;
    try {
      accept(
        await request('POST', 'auth/refresh', { body: refreshToken ? { refresh_token: refreshToken } : undefined }),
      );
    } catch (error) {
      if (error.status !== 401 && error.status !== 403) throw error;
      return forget();
    }
    await new Promise((resolve) => setTimeout(resolve, BROADCAST_MS));
  });

/** Forgets, in all tabs, a session that the server has ended. */
export const end = (ended, notice) =>
  withLock(async () => {
    if (ended && access?.payload.fid === ended.payload.fid) forget(notice);
  });

function forget(notice = 'Your session has ended. Please sign in again.') {
  stored.clear();
  broadcast({ kind: 'end', fid: access?.payload.fid });
  setAccess(null, notice);
}

onBroadcast(({ kind, token, endsAt, life, fid }) => {
  if (kind === 'token') useToken(token, endsAt, life);
  if (kind === 'end' && access?.payload.fid === fid) setAccess(null, 'You were signed out.');
});

const margin = () => Math.min(MARGIN_MS, access.life / 5);

function schedule(wait = access && access.endsAt - Date.now() - margin()) {
  clearTimeout(timer);
  // The longest timer of a browser is 24 days.
  if (access) timer = setTimeout(refreshIfDue, Math.min(Math.max(wait, 0), DAY_MS));
}

function refreshIfDue() {
  if (!access) return;
  const left = access.endsAt - Date.now();
  if (left > margin()) return schedule();
  refresh(access).catch(({ retryAfter }) => schedule(retryAfter ? retryAfter * 1000 : RETRY_MS));
}

// The timers of a tab do not run while the machine sleeps.
document.addEventListener('visibilitychange', () => document.hidden || refreshIfDue());
window.addEventListener('online', refreshIfDue);
