/**
 * The settings of the server: `{ cookieMode, confirmationHeader, features, passkeyOrigins, … }`. The sample serves them
 * at `/web/config` (`PageConfig`). A page whose settings never change can use constants.
 */
export const config = await fetch('/web/config').then((response) => response.json());

/** Whether passkeys work here: the server lists this origin, and the browser parses WebAuthn options from JSON. */
export const hasPasskeys =
  !!config.features.passkeys &&
  config.passkeyOrigins.includes(location.origin) &&
  typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function';
