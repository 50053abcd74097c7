import { hasPasskeys } from './config.js';
import { request } from './http.js';

/** The browser's part of WebAuthn: registration and authentication with a passkey. */

const startCeremony = () => request('POST', 'auth/passkeys/login-options');

/**
 * Creates a passkey.
 *
 * @param options the response of `POST /auth/passkeys/registration-options`
 * @returns the credential for `POST /auth/passkeys`
 */
export async function create(options) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return (await navigator.credentials.create({ publicKey })).toJSON();
}

/** Authenticates with a passkey. @returns the body for the routes that take one: login, challenge, confirmation */
export async function get() {
  stopAutofill();
  return answer(await startCeremony());
}

async function answer({ ceremony_id, options }, more) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return { ceremony_id, credential: (await navigator.credentials.get({ publicKey, ...more })).toJSON() };
}

let waiting = new AbortController();

/** Ends the autofill request: a page can have only one WebAuthn request at a time. */
export const stopAutofill = () => waiting.abort();

/**
 * Offers passkeys in the suggestions of a field with `autocomplete="webauthn"`.
 *
 * @param found is called with the body for the login
 * @param left an AbortSignal that ends the offer
 */
export async function autofill(found, left) {
  if (!hasPasskeys || !(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
  stopAutofill();
  waiting = new AbortController();
  const signal = AbortSignal.any([waiting.signal, left]);
  while (!signal.aborted) {
    const ceremony = await startCeremony().catch(() => null);
    if (!ceremony) return;
    // A ceremony expires after its timeout; the offer continues with a new one.
    const round = AbortSignal.any([signal, AbortSignal.timeout(ceremony.options.timeout * 0.9)]);
    const body = await answer(ceremony, { mediation: 'conditional', signal: round }).catch(() => null);
    if (body) return found(body);
    if (!round.aborted) return;
  }
}

/**
 * Sends the list of the server's passkeys to the browser, which then no longer offers deleted ones.
 *
 * @param listed the response of `GET /auth/passkeys`
 */
export async function signalAcceptedCredentials({ rp_id, user_handle, all_accepted_credential_ids }) {
  await PublicKeyCredential.signalAllAcceptedCredentials?.({
    rpId: rp_id,
    userId: user_handle,
    allAcceptedCredentialIds: all_accepted_credential_ids,
  }).catch(() => undefined);
}
