import { ApiError, Cancelled } from './errors.js';
import { request } from './http.js';
import * as session from './session.js';

/** Calls the API as the signed-in user. */

let proof = null;
let askForProof = () => Promise.resolve(false);

/** @param ask shows what confirms the user, and tells whether it did; see `step-up.js` */
export const confirmBy = (ask) => (askForProof = ask);

/** Keeps what confirms the user, for every request of the same session until the server refuses it. */
export function keepProof(token) {
  proof = { token, fid: session.current()?.payload.fid };
}

/**
 * A request with the access token. When that is not good any more, it is renewed and the request repeated; when the
 * server wants the user confirmed, the user is asked and the request repeated.
 *
 * @throws ApiError; Cancelled when the user does not confirm, or is signed out
 */
export async function call(method, path, body) {
  try {
    return await asUser(method, path, body);
  } catch (error) {
    if (!error.needsConfirmation) throw error;
    proof = null;
    if (!(await askForProof())) throw new Cancelled();
    return asUser(method, path, body);
  }
}

/** The same without confirmation: for the requests that earn one. */
export async function asUser(method, path, body) {
  const used = session.current();
  if (!used) throw new Cancelled();
  try {
    return await send(used, method, path, body);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    await session.refresh(used);
    const now = session.current();
    // Another tab may have signed in as somebody else, who did not ask for this.
    if (now?.payload.sub !== used.payload.sub) throw new Cancelled();
    return send(now, method, path, body);
  }
}

const send = ({ token, payload }, method, path, body) =>
  request(method, path, { body, token, proof: proof?.fid === payload.fid ? proof.token : undefined });
