import { config } from './config.js';

/**
 * What the tabs of one browser share. They are one session: one tab renews it at a time, and the others take what it
 * was given.
 */

const channel = new BroadcastChannel('session');

/** Tells the other tabs. It stays in the browser's memory. */
// A channel reaches its own origin alone, and knows no other target.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
export const tell = (message) => channel.postMessage(message);

export const hear = (listener) => channel.addEventListener('message', ({ data }) => listener(data));

/**
 * Runs `work` while no other tab runs any. Not to be nested. Where there are no locks (a page without TLS, elsewhere
 * than at localhost), the server's grace window is what is left.
 */
export const alone = (work) => (navigator.locks ? navigator.locks.request('session', work) : work());

const [TOKEN, MARK] = ['refresh-token', 'signed-in'];

/**
 * What outlives a tab. In cookie mode no more than the mark that there is a session. In body mode the refresh token,
 * which any script of this origin can read: that is what cookie mode is for.
 */
export const kept = {
  get signedIn() {
    return localStorage.getItem(config.cookieMode ? MARK : TOKEN) !== null;
  },
  /** Undefined in cookie mode. */
  get refreshToken() {
    return config.cookieMode ? undefined : localStorage.getItem(TOKEN);
  },
  keep(refreshToken) {
    if (config.cookieMode) localStorage.setItem(MARK, '1');
    else localStorage.setItem(TOKEN, refreshToken);
  },
  forget() {
    localStorage.removeItem(TOKEN);
    localStorage.removeItem(MARK);
  },
};

// Left by a server that was in body mode before.
if (config.cookieMode) localStorage.removeItem(TOKEN);
