import { call } from './client/api.js';
import * as session from './client/session.js';

let known = null;

/** The signed-in user: the response of `GET /user`. */
export const user = () => (known ??= fetchUser());

async function fetchUser() {
  try {
    return (await call('GET', 'user')).data;
  } catch (error) {
    known = null;
    throw error;
  }
}

/** The next call of `user()` sends the request again. */
export const changed = () => (known = null);

session.onChange((access, before) => access?.payload.sub !== before?.payload.sub && changed());
