import { hasPasskeys } from './config.js';
import { request } from './http.js';

/** The browser's part of WebAuthn. */

const ceremony = () => request('POST', 'auth/passkeys/login-options');

/** A new passkey, as `POST /auth/passkeys` takes it, from the options that the server gave. */
export async function create(options) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return (await navigator.credentials.create({ publicKey })).toJSON();
}

/** A proof of a passkey, as the routes take it that sign in and confirm. */
export async function get() {
  stopAutofill();
  return answer(await ceremony());
}

async function answer({ ceremony_id, options }, more) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return { ceremony_id, credential: (await navigator.credentials.get({ publicKey, ...more })).toJSON() };
}

let waiting = new AbortController();

/** Only one request may wait in a page: an open offer gives way to whatever the user does. */
export const stopAutofill = () => waiting.abort();

/**
 * Offers passkeys in the suggestions of a field with `autocomplete="webauthn"`, until `left` or one is picked.
 *
 * @param found takes the proof
 */
export async function autofill(found, left) {
  if (!hasPasskeys || !(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
  stopAutofill();
  waiting = new AbortController();
  const signal = AbortSignal.any([waiting.signal, left]);
  while (!signal.aborted) {
    const asked = await ceremony().catch(() => null);
    if (!asked) return;
    // A ceremony lives for its timeout, an offer for as long as nobody takes it.
    const round = AbortSignal.any([signal, AbortSignal.timeout(asked.options.timeout * 0.9)]);
    const proof = await answer(asked, { mediation: 'conditional', signal: round }).catch(() => null);
    if (proof) return found(proof);
    if (!round.aborted) return;
  }
}

/** Has the browser forget passkeys that were deleted here. */
export async function tellBrowser({ rp_id, user_handle, all_accepted_credential_ids }) {
  await PublicKeyCredential.signalAllAcceptedCredentials?.({
    rpId: rp_id,
    userId: user_handle,
    allAcceptedCredentialIds: all_accepted_credential_ids,
  }).catch(() => undefined);
}
