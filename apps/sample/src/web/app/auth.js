import { createAccountClient } from './auth-account.js';
import { createAuthClient } from './auth-client.js';
import { config } from './config.js';
import { UNREACHABLE } from './feedback.js';
import { t } from './language.js';

let ask = async () => false;

/** Sets the function that asks the user to confirm the identity, in one of the given ways. It resolves to whether the user did. */
export const onConfirm = (confirm) => (ask = confirm);

/** Whether the browser stores something for this page. If the user has forbidden it, each access throws. */
export const canStore = (() => {
  try {
    return !!localStorage;
  } catch {
    return false;
  }
})();

/** Where the refresh token is kept: `cookie`, `localStorage`, or the memory of this page if the browser stores nothing. */
export const place = config.cookieMode ? 'cookie' : canStore ? 'localStorage' : 'memory';

/** The session of this browser. */
export const auth = createAuthClient({
  refreshToken: place,
  confirmationHeader: config.confirmationHeader,
  confirm: (methods) => ask(methods),
});

/** The entry of this session in the list of the server. */
export const ownSession = async () => (await auth.sessions()).find(({ current }) => current);

/** The settings of the account, and further ways to sign in. */
export const account = createAccountClient(auth);

/** What the user has to know of a browser that stores nothing for this page; otherwise undefined. */
export const storageNotice = canStore
  ? undefined
  : config.cookieMode
    ? t`This browser blocks cookies, and this server keeps the session in one. Allow cookies for this page to sign in.`
    : t`This browser stores nothing for this page. You can sign in, but the session ends when you reload or close the page.`;

/** Whether passkeys work here: the server lists this origin, and the browser has them. */
export const hasPasskeys =
  !!config.features.passkeys && config.passkeyOrigins.includes(location.origin) && auth.supportsPasskeys;

/** How the user signed in, by the claim `amr`. */
const METHODS = {
  pwd: t`password`,
  otp: t`one-time code`,
  webauthn: t`passkey`,
  email: t`emailed code`,
  fed: t`linked account`,
};

export const methodsOf = ({ amr = [] }) => amr.map((method) => METHODS[method] ?? method).join(' + ');

/** The same sentence as that of the client. */
export const unreachable = () => new Error(UNREACHABLE);

/** Sends one request without the client of the page: without a token, or with another one. @returns `{ status, answer }` */
export async function send(method, path, { token, body } = {}) {
  const headers = {
    Accept: 'application/json',
    ...(body && { 'Content-Type': 'application/json' }),
    ...(token && { Authorization: `Bearer ${token}` }),
  };
  const init = { method, headers, credentials: 'omit', ...(body && { body: JSON.stringify(body) }) };
  try {
    const response = await fetch(path, init);
    return { status: response.status, answer: await response.json() };
  } catch {
    throw unreachable();
  }
}
