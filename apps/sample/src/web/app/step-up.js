import { asUser, confirmBy, keepProof } from './api.js';
import { hasPasskeys } from './config.js';
import { cancel, openDialog } from './dialog.js';
import { h } from './dom.js';
import { button } from './feedback.js';
import { PASSWORD, form, hiddenUsername } from './form.js';
import { user } from './user.js';
import { get } from './webauthn.js';

/** Asks who is at the keyboard, by password or passkey, and keeps the proof. Resolves whether there is one. */
async function confirm() {
  const { email } = await user();
  const confirmed = await openDialog('Is it you?', (close) => {
    const earn = async (path, body) => {
      keepProof((await asUser('POST', path, body)).confirmation_token);
      close(true);
    };
    const work = (body) => earn('auth/confirm-password', body);
    const byPassword = form([PASSWORD], { label: 'Confirm', work }, cancel(close));
    byPassword.prepend(hiddenUsername(email));
    const byPasskey = async () => earn('auth/confirm-passkey', await get());
    return [
      h('p', {}, 'Please confirm before this is done. It holds for a few minutes.'),
      byPassword,
      hasPasskeys && button('Confirm with a passkey', byPasskey, { class: 'wide' }),
    ].filter(Boolean);
  });
  return confirmed === true;
}

let asking = null;

/** One dialog, however many requests wait for it. */
confirmBy(() => (asking ??= confirm().finally(() => (asking = null))));
