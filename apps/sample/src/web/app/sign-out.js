import { call } from './api.js';
import * as session from './session.js';

/** Runs a request that ends the session, and has all tabs forget it. */
export async function leaveBy(method, path, notice) {
  const ended = session.current();
  await call(method, path);
  await session.end(ended, notice);
}

export const signOut = () => leaveBy('POST', 'auth/logout', 'You are signed out.');
