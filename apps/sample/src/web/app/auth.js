import { createAuthClient } from './auth-client.js';
import { config } from './config.js';

let ask = async () => false;

/** Sets the function that asks the user to confirm the identity, in one of the given ways. It resolves to whether the user did. */
export const onConfirm = (confirm) => (ask = confirm);

/** The session of this browser. */
export const auth = createAuthClient({
  refreshToken: config.cookieMode ? 'cookie' : 'localStorage',
  confirmationHeader: config.confirmationHeader,
  confirm: (methods) => ask(methods),
});

/** Whether passkeys work here: the server lists this origin, and the browser parses WebAuthn options from JSON. */
export const hasPasskeys =
  !!config.features.passkeys && config.passkeyOrigins.includes(location.origin) && auth.supportsPasskeys;

/** How the user signed in, by the claim `amr`. */
const METHODS = { pwd: 'password', otp: 'one-time code', webauthn: 'passkey' };

export const methodsOf = ({ amr = [] }) => amr.map((method) => METHODS[method] ?? method).join(' and ');

/** Sends one request without the client of the page: without a token, or with another one. @returns `{ status, answer }` */
export async function send(method, path, { token, body } = {}) {
  const headers = {
    Accept: 'application/json',
    ...(body && { 'Content-Type': 'application/json' }),
    ...(token && { Authorization: `Bearer ${token}` }),
  };
  const init = { method, headers, credentials: 'omit', ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(path, init);
  return { status: response.status, answer: await response.json() };
}
