import { call } from './client/api.js';
import * as session from './client/session.js';

/** Sends a request that ends the session, then forgets the session in all tabs. */
export async function leaveBy(method, path, notice) {
  const ended = session.current();
  await call(method, path);
  await session.end(ended, notice);
}

export const signOut = () => leaveBy('POST', 'auth/logout', 'You are signed out.');
