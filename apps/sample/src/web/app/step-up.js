import { auth, hasPasskeys, onConfirm } from './auth.js';
import { cancel, openDialog } from './dialog.js';
import { h } from './dom.js';
import { button } from './feedback.js';
import { PASSWORD, form, hiddenUsername } from './form.js';
import { user } from './user.js';

/** Asks for the password or a passkey, if the user has them. @returns whether the user confirmed */
async function confirm(methods) {
  const { email } = await user();
  const canUsePassword = methods.includes('password');
  const canUsePasskey = hasPasskeys && methods.includes('passkey');
  const confirmed = await openDialog('Confirm your identity', (close) => {
    const byPassword = form(
      [PASSWORD],
      { label: 'Confirm', work: ({ password }) => auth.confirmPassword(password).then(() => close(true)) },
      cancel(close),
    );
    byPassword.prepend(hiddenUsername(email));
    const byPasskey = () => auth.confirmPasskey().then(() => close(true));
    return [
      h('p', {}, 'Is it really you? We ask before important changes, and then not again for a few minutes.'),
      canUsePassword && byPassword,
      canUsePasskey && button('Confirm with a passkey', byPasskey, { class: 'wide' }),
      !canUsePassword && h('p', { class: 'row' }, cancel(close)),
    ].filter(Boolean);
  });
  return confirmed === true;
}

onConfirm(confirm);
