/** What a page does with the browser's part of WebAuthn. `call(method, path, body)` reaches the API. */

/** A new passkey, as `POST /auth/passkeys` takes it. */
export async function create(call) {
  const options = await call('POST', 'auth/passkeys/registration-options');
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return (await navigator.credentials.create({ publicKey })).toJSON();
}

/** A proof of a passkey, as `POST /auth/passkeys/login` and `POST /auth/confirm-passkey` take it. */
export async function get(call) {
  stopAutofill();
  return answer(await call('POST', 'auth/passkeys/login-options'));
}

async function answer({ ceremony_id, options }, more) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return { ceremony_id, credential: (await navigator.credentials.get({ publicKey, ...more })).toJSON() };
}

let waiting = new AbortController();

/** Only one request may wait in a page: an open offer gives way to whatever the user does. */
export const stopAutofill = () => waiting.abort();

/** Offers passkeys in the suggestions of a field with `autocomplete="webauthn"`, for as long as the page is open. */
export async function autofill(call, found) {
  if (!(await PublicKeyCredential?.isConditionalMediationAvailable?.())) return;
  stopAutofill();
  const { signal } = (waiting = new AbortController());
  while (!signal.aborted) {
    const ceremony = await call('POST', 'auth/passkeys/login-options');
    // A ceremony lives for its timeout, an offer for as long as nobody takes it.
    const round = AbortSignal.any([signal, AbortSignal.timeout(ceremony.options.timeout * 0.9)]);
    const assertion = await answer(ceremony, { mediation: 'conditional', signal: round }).catch(() => null);
    if (assertion) return found(assertion);
    if (!round.aborted) return;
  }
}

/** Has the browser forget passkeys that were deleted here. */
export async function tellBrowser({ rp_id, user_handle, all_accepted_credential_ids }) {
  await PublicKeyCredential.signalAllAcceptedCredentials?.({
    rpId: rp_id,
    userId: user_handle,
    allAcceptedCredentialIds: all_accepted_credential_ids,
  });
}
