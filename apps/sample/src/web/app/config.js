/** What the server says of itself: see `PageConfig`. */
export const config = await fetch('/web/config').then((response) => response.json());

/** Whether passkeys work here: they belong to the origins that the server names, and to no other. */
export const hasPasskeys =
  !!config.features.passkeys &&
  config.passkeyOrigins.includes(location.origin) &&
  typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function';
