import { ANY_CODE, withAnyCode } from './any-code.js';
import { auth, hasPasskeys } from './auth.js';
import { config } from './config.js';
import { asked, openDialog } from './dialog.js';
import { h } from './dom.js';
import { button } from './feedback.js';
import { PASSWORD, form, hiddenUsername, withPassword } from './form.js';
import { t } from './language.js';
import { user } from './user.js';

/** Offers the password of the demo account, which the visitor has never typed. */
export const withDemoPassword = (email, entry) =>
  withPassword(entry, email === config.demo?.email && config.demo.password);

/** Asks for the password, with a code if that is necessary, a passkey, or a provider, if the user has them. @returns whether the user confirmed */
export async function confirm(methods) {
  const { email } = await user();
  const needsCode = methods.includes('password+otp');
  const canUsePassword = needsCode || methods.includes('password');
  const canUsePasskey = hasPasskeys && methods.includes('passkey');
  const byProvider = methods.includes('identity') ? await (await import('./views/identities.js')).confirming() : [];
  const about = asked(email);
  const confirmed = await openDialog(
    t`Confirm it’s you`,
    (close) => {
      const work = async ({ password, code }) => {
        await withAnyCode(code, (factor) => auth.confirmPassword(password, factor));
        close(true);
      };
      const byPassword = form([{ ...PASSWORD, autofocus: true }, needsCode && ANY_CODE], { label: t`Confirm`, work });
      withDemoPassword(email, byPassword).prepend(hiddenUsername(email));
      const byPasskey = () => auth.confirmPasskey().then(() => close(true));
      return [
        about,
        h('p', { class: 'note' }, t`You are not asked again for a few minutes.`),
        canUsePassword && byPassword,
        canUsePasskey && button(t`Confirm with a passkey`, byPasskey),
        ...byProvider.map(([label, confirmBy]) => button(label, () => confirmBy().then(() => close(true)))),
      ].filter(Boolean);
      // The action itself may be to cancel something.
    },
    t`Not now`,
  );
  return confirmed === true;
}
