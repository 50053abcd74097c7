import { account, auth, hasPasskeys } from './auth.js';
import { language } from './language.js';

let known = null;
let running = null;

/** The signed-in user: the response of `GET /user`. */
export const user = () => (known ??= fetchUser());

/** The user as the server knows it now. */
export const latestUser = () => running ?? (known = fetchUser());

async function fetchUser() {
  running = auth.request('GET', '/user').then(({ data }) => data);
  const mine = running;
  try {
    const me = await mine;
    document.dispatchEvent(new CustomEvent('user', { detail: me }));
    // The server mails in this language. The page does not wait, and asks again with the next user that it reads.
    if (me.language !== language) auth.request('PUT', '/user/language', { language }).catch(() => undefined);
    return me;
  } catch (error) {
    known = null;
    throw error;
  } finally {
    if (running === mine) running = null;
  }
}

/** Whether the user can confirm or sign in with a passkey here. */
export const hasPasskey = async () => hasPasskeys && (await account.passkeys()).passkeys.length > 0;

let isAgain = false;

/** Whether the user signs in again, for a request of the current view. */
export const isSigningInAgain = () => isAgain;
export const signsInAgain = (given) => (isAgain = given);

/** The next call of `user()` sends the request again. */
export const changed = () => (known = running = null);

auth.on('signedIn', changed);
auth.on('signedOut', changed);
