import { h } from './dom.js';

const SHOWN_MS = 8000;

/** Messages for the errors of WebAuthn, by the name of the error. */
const WEBAUTHN_MESSAGES = {
  NotAllowedError: 'The passkey was not used: the request was cancelled, or took too long.',
  InvalidStateError: 'This device already has a passkey for this account.',
  SecurityError: 'Passkeys do not work at this address.',
};

/** The message of an error, to show to the user. */
export const textOf = (error) => WEBAUTHN_MESSAGES[error.name] ?? error.message;

/** Whether the user cancelled or is signed out: there is no message to show. */
export const isSilent = ({ reason }) => reason === 'cancelled' || reason === 'signedOut';

const [status, alert] = ['status', 'alert'].map((id) => document.getElementById(id));
let timer;

/** Moves the messages into the dialog that is open last: the rest of the page is inert then. */
export function moveMessages() {
  const dialogs = document.querySelectorAll('dialog[open]');
  const place = dialogs[dialogs.length - 1]?.firstChild ?? document.querySelector('.frame');
  if (status.parentNode !== place.parentNode) place.before(status, alert);
}

function show(place, text) {
  quiet();
  place.replaceChildren(
    text,
    h('button', { type: 'button', class: 'quiet', 'aria-label': 'Dismiss', onclick: quiet }, '✕'),
  );
}

/** Removes the current message. */
export function quiet() {
  clearTimeout(timer);
  status.replaceChildren();
  alert.replaceChildren();
}

/**
 * Shows a message for some seconds. Screen readers read it.
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
