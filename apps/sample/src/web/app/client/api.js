import { ApiError, Cancelled } from './errors.js';
import { request } from './http.js';
import * as session from './session.js';

/** Requests of the signed-in user. */

/** `{ token, fid }`: a confirmation token, and the session that it belongs to. */
let confirmation = null;
let askToConfirm = () => Promise.resolve(false);

/**
 * Sets the function that asks the user to confirm.
 *
 * @param ask gets a confirmation token, passes it to `keepConfirmation` and resolves to true; or resolves to false
 */
export const onConfirmationRequired = (ask) => (askToConfirm = ask);

/** Keeps a confirmation token for all requests of the current session, until the server refuses it. */
export function keepConfirmation(token) {
  confirmation = { token, fid: session.current()?.payload.fid };
}

/**
 * Sends a request with the access token. If the token is refused, it is refreshed and the request is sent again. If the
 * server requires a confirmation, the user is asked and the request is sent again.
 *
 * @throws ApiError; Cancelled if the user does not confirm or is signed out
 */
export async function call(method, path, body) {
  try {
    return await callUnconfirmed(method, path, body);
  } catch (error) {
    if (!error.needsConfirmation) throw error;
    confirmation = null;
    if (!(await askToConfirm())) throw new Cancelled();
    return callUnconfirmed(method, path, body);
  }
}

/** The same, but never asks the user to confirm: for the requests that get the confirmation token. */
export async function callUnconfirmed(method, path, body) {
  const used = session.current();
  if (!used) throw new Cancelled();
  try {
    return await send(used, method, path, body);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    await session.refresh(used);
    const now = session.current();
    // Another user may have signed in from another tab: the request is not sent as that user.
    if (now?.payload.sub !== used.payload.sub) throw new Cancelled();
    return send(now, method, path, body);
  }
}

const send = ({ token, payload }, method, path, body) =>
  request(method, path, {
    body,
    token,
    confirmationToken: confirmation?.fid === payload.fid ? confirmation.token : undefined,
  });
