import { config } from './config.js';

/** What the tabs of one browser share: a lock, a channel for messages, and storage. All tabs are one session. */

const channel = new BroadcastChannel('session');

/** Sends a message to the other tabs. The message is never stored. */
// A BroadcastChannel reaches its own origin only and takes no target.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
export const broadcast = (message) => channel.postMessage(message);

/** Calls `listener` with each message of another tab. */
export const onBroadcast = (listener) => channel.addEventListener('message', ({ data }) => listener(data));

/**
 * Runs `work` while no other tab runs any (Web Locks). Calls must not be nested. A page without TLS has no locks, except
 * on localhost: there, only the grace period of the server accepts the refreshes of two tabs at the same time.
 */
export const withLock = (work) => (navigator.locks ? navigator.locks.request('session', work) : work());

const [TOKEN, MARK] = ['refresh-token', 'signed-in'];

/**
 * What remains when a tab is closed. In cookie mode: only a mark that there is a session. In body mode: the refresh token
 * in localStorage, which every script of this origin can read. Cookie mode prevents that.
 */
export const stored = {
  get signedIn() {
    return localStorage.getItem(config.cookieMode ? MARK : TOKEN) !== null;
  },
  /** Undefined in cookie mode. */
  get refreshToken() {
    return config.cookieMode ? undefined : localStorage.getItem(TOKEN);
  },
  save(refreshToken) {
    if (config.cookieMode) localStorage.setItem(MARK, '1');
    else localStorage.setItem(TOKEN, refreshToken);
  },
  clear() {
    localStorage.removeItem(TOKEN);
    localStorage.removeItem(MARK);
  },
};

// The server may have run in body mode before.
if (config.cookieMode) localStorage.removeItem(TOKEN);
