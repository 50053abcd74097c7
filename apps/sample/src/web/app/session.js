import { request } from './http.js';
import { decode } from './jwt.js';
import { alone, hear, kept, tell } from './tabs.js';

/** The session of this tab. Its access token is in memory, and nowhere else. */

const DAY_MS = 86_400_000;
const EARLY_MS = 60_000;
const RETRY_MS = 5000;
/** Time for the other tabs to hear of a new token, before they get their turn. */
const ECHO_MS = 50;

const changes = new EventTarget();
let access = null;
let timer;

/** `{ token, header, payload, life, endsAt }`, times in milliseconds; null when signed out. */
export const current = () => access;

/** Calls `listener(access, before, notice)` whenever there is another token, or none. */
export function onChange(listener, options) {
  changes.addEventListener('change', ({ detail }) => listener(...detail), options);
}

function become(next, notice) {
  const before = access;
  access = next;
  schedule();
  changes.dispatchEvent(new CustomEvent('change', { detail: [access, before, notice] }));
}

function hold(token, endsAt, life) {
  become({ token, ...decode(token), life, endsAt });
}

/** Takes tokens that the server gave, for all tabs. */
function accept({ access_token: token, refresh_token: refreshToken, expires_in: seconds }) {
  const [life, endsAt] = [seconds * 1000, Date.now() + seconds * 1000];
  kept.keep(refreshToken);
  tell({ kind: 'token', token, endsAt, life });
  hold(token, endsAt, life);
}

/**
 * Signs in by a request that answers with tokens. Returns what it answers instead: a challenge, a registration
 * without a session.
 */
export const signIn = (path, body) =>
  alone(async () => {
    const answer = await request('POST', path, { body });
    if (!answer.access_token) return answer;
    accept(answer);
    return null;
  });

/** Takes up the session that an earlier page, or another tab, has left. */
export const restore = () => (kept.signedIn ? refresh(null) : undefined);

/**
 * Exchanges the refresh token, unless another tab has done so since `stale` was current. A server that cannot be
 * asked ends no session: then it throws.
 */
export const refresh = (stale) =>
  alone(async () => {
    if (access !== stale) return;
    if (!kept.signedIn) return forget();
    const refreshToken = kept.refreshToken;
    try {
      accept(
        await request('POST', 'auth/refresh', { body: refreshToken ? { refresh_token: refreshToken } : undefined }),
      );
    } catch (error) {
      if (error.status !== 401 && error.status !== 403) throw error;
      return forget();
    }
    await new Promise((resolve) => setTimeout(resolve, ECHO_MS));
  });

/** Forgets a session that the server has ended, in all tabs. */
export const end = (ended, notice) =>
  alone(async () => {
    if (ended && access?.payload.fid === ended.payload.fid) forget(notice);
  });

function forget(notice = 'Your session has ended. Please sign in again.') {
  kept.forget();
  tell({ kind: 'end', fid: access?.payload.fid });
  become(null, notice);
}

hear(({ kind, token, endsAt, life, fid }) => {
  if (kind === 'token') hold(token, endsAt, life);
  if (kind === 'end' && access?.payload.fid === fid) become(null, 'You were signed out.');
});

function schedule(wait = access && access.endsAt - Date.now() - Math.min(EARLY_MS, access.life / 5)) {
  clearTimeout(timer);
  // A timer of the browser's holds no more than 24 days.
  if (access) timer = setTimeout(renewIfDue, Math.min(Math.max(wait, 0), DAY_MS));
}

function renewIfDue() {
  if (!access) return;
  const left = access.endsAt - Date.now();
  if (left > Math.min(EARLY_MS, access.life / 5)) return schedule();
  refresh(access).catch(({ retryAfter }) => schedule(retryAfter ? retryAfter * 1000 : RETRY_MS));
}

// A tab that slept has missed its timer.
document.addEventListener('visibilitychange', () => document.hidden || renewIfDue());
window.addEventListener('online', renewIfDue);
