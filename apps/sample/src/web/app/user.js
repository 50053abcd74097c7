import { account, auth, hasPasskeys } from './auth.js';

let known = null;

/** The signed-in user: the response of `GET /user`. */
export const user = () => (known ??= fetchUser());

async function fetchUser() {
  try {
    return (await auth.request('GET', '/user')).data;
  } catch (error) {
    known = null;
    throw error;
  }
}

/** Whether the user can confirm or sign in with a passkey here. */
export const hasPasskey = async () => hasPasskeys && (await account.passkeys()).passkeys.length > 0;

/** The next call of `user()` sends the request again. */
export const changed = () => (known = null);

auth.on('signedIn', changed);
auth.on('signedOut', changed);
