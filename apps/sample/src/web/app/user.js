import { call } from './api.js';
import * as session from './session.js';

let known = null;

/** The signed-in user, as `GET /user` says. */
export const user = () => (known ??= fetchUser());

async function fetchUser() {
  try {
    return (await call('GET', 'user')).data;
  } catch (error) {
    known = null;
    throw error;
  }
}

/** Has it asked for anew. */
export const changed = () => (known = null);

session.onChange((access, before) => access?.payload.sub !== before?.payload.sub && changed());
