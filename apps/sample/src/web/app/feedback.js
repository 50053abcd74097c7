import { h } from './dom.js';
import { t } from './language.js';

const SHOWN_MS = 8000;

/** Messages for the errors of WebAuthn, by the name of the error. */
const WEBAUTHN_MESSAGES = {
  NotAllowedError: t`The passkey was not used: the request was cancelled, or took too long.`,
  InvalidStateError: t`This device already has a passkey for this account.`,
  SecurityError: t`Passkeys do not work at this address.`,
};

export const UNREACHABLE = t`The server cannot be reached. Try again later.`;

/** The message of an error, to show to the user. Those of the server are in the language of the page. */
export const textOf = (error) =>
  WEBAUTHN_MESSAGES[error.name] ?? (error.reason === 'unreachable' ? UNREACHABLE : error.message);

/** Whether the user cancelled or is signed out: there is no message to show. */
export const isSilent = ({ name, reason }) => name === 'AbortError' || reason === 'cancelled' || reason === 'signedOut';

const [status, alert] = ['status', 'alert'].map((id) => document.getElementById(id));
let timer;

/** Moves the messages into the dialog that is open last: the rest of the page is inert then. */
export function moveMessages() {
  const dialog = [...document.querySelectorAll('dialog[open]')].at(-1);
  if (status.parentNode === (dialog ?? document.body)) return;
  if (dialog) dialog.prepend(status, alert);
  else document.body.append(status, alert);
}

function show(place, text) {
  quiet();
  place.replaceChildren(
    text,
    h('button', { type: 'button', class: 'quiet', 'aria-label': t`Dismiss`, onclick: quiet }, '✕'),
  );
}

/** Removes the current message, and the errors above the forms: there is one message at a time. */
export function quiet() {
  clearTimeout(timer);
  for (const place of [status, alert, ...document.querySelectorAll('.summary')]) place.replaceChildren();
}

/**
 * Shows a message for some seconds, below the content and not above it: it covers no control. Screen readers read it.
 *
 * @param kind `good` for a success, `plain` for what is neither good nor bad, `warning` for what the user did not want
 */
export function say(text, kind = 'good') {
  show(status, text);
  status.className = `toast ${kind}`;
  timer = setTimeout(quiet, SHOWN_MS);
}

/** Shows an error until the user dismisses it or the next message replaces it. */
export function complain(error) {
  if (!isSilent(error)) show(alert, textOf(error));
}

/** What the user is about to do, for a question before it: the button that was pressed last, or what its work says. */
export let action = '';
export const nameAction = (text) => (action = text);
document.addEventListener(
  'click',
  ({ target }) => {
    const element = target.closest('button');
    if (element) nameAction(element.ariaLabel ?? element.textContent);
  },
  true,
);

/** A button that copies a text. There is none where the browser has no clipboard, as on a page without TLS. */
export const copyButton = (label, text, props) =>
  navigator.clipboard && button(label, () => navigator.clipboard.writeText(text).then(() => say(t`Copied.`)), props);

/** A button that runs `work`, once at a time. An error of `work` is shown. */
export function button(label, work, props = {}) {
  let busy = false;
  const element = h('button', { type: 'button', ...props }, label);
  element.addEventListener('click', async () => {
    if (busy) return;
    busy = true;
    element.setAttribute('aria-busy', 'true');
    await Promise.resolve().then(work).catch(complain);
    busy = false;
    element.removeAttribute('aria-busy');
  });
  return element;
}
