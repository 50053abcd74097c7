import { callUnconfirmed, keepConfirmation, onConfirmationRequired } from './client/api.js';
import { hasPasskeys } from './client/config.js';
import { get } from './client/webauthn.js';
import { cancel, openDialog } from './dialog.js';
import { h } from './dom.js';
import { button } from './feedback.js';
import { PASSWORD, form, hiddenUsername } from './form.js';
import { user } from './user.js';

/** Asks for the password or a passkey, and keeps the confirmation token. @returns whether the user confirmed */
async function confirm() {
  const { email } = await user();
  const confirmed = await openDialog('Confirm your identity', (close) => {
    const send = async (path, body) => {
      keepConfirmation((await callUnconfirmed('POST', path, body)).confirmation_token);
      close(true);
    };
    const work = (body) => send('auth/confirm-password', body);
    const byPassword = form([PASSWORD], { label: 'Confirm', work }, cancel(close));
    byPassword.prepend(hiddenUsername(email));
    const byPasskey = async () => send('auth/confirm-passkey', await get());
    return [
      h('p', {}, 'This action requires a confirmation. It is valid for a few minutes.'),
      byPassword,
      hasPasskeys && button('Confirm with a passkey', byPasskey, { class: 'wide' }),
    ].filter(Boolean);
  });
  return confirmed === true;
}

let asking = null;

/** All requests that need a confirmation share one dialog. */
onConfirmationRequired(() => (asking ??= confirm().finally(() => (asking = null))));
