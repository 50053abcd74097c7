import { ANY_CODE, withAnyCode } from '../any-code.js';
import { createAuthClient } from '../auth-client.js';
import { h } from '../dom.js';
import { UNREACHABLE, button } from '../feedback.js';
import { PASSWORD, form, hiddenUsername, withPassword } from '../form.js';
import { asked } from '../dialog.js';
import { concern, openQuestion } from './question.js';

/** The settings of the server: `SupportConfig`. */
export const config = await fetch('/support/config')
  .then((response) => (response.ok ? response.json() : Promise.reject()))
  .catch(() => {
    document.getElementById('main').append(h('p', { role: 'alert' }, UNREACHABLE, ' Reload the page.'));
    return new Promise(() => undefined);
  });

/** The session of the operator. A server without cookies: it ends with the page, and no script of another page can read its token. */
export const auth = createAuthClient({
  url: config.url,
  refreshToken: config.cookieMode ? 'cookie' : 'memory',
  confirmationHeader: config.confirmationHeader,
  confirm,
});

/** Whether passkeys of operators work in this browser, at this address. */
export const hasPasskeys = config.passkeyOrigins.includes(location.origin) && auth.supportsPasskeys;

/** A request to a route of operators. */
export const operators = (method, path, body) => auth.routes.call(method, `/operators${path}`, body);

/** Whether the token has an ability of operators, such as `sessions`. */
export const can = (what) => {
  const ability = `svc.operators.${what}`;
  return (auth.session?.claims.scope ?? '')
    .split(' ')
    .some((name) => name === ability || (name.endsWith('*') && ability.startsWith(name.slice(0, -1))));
};

/** How the support names a user. */
export const nameOf = ({ email, identifier, id }) => email ?? identifier ?? String(id);

let known = null;

/** The operator who is signed in: `{ id, email, role }`. */
export const me = () => (known ??= fetchMe());

async function fetchMe() {
  try {
    return (await auth.request('GET', '/admin/me')).data;
  } catch (error) {
    known = null;
    throw error;
  }
}
auth.on('signedIn', () => (known = null));
auth.on('signedOut', () => (known = null));

/** Asks the operator to confirm the identity. The question before it stays as it is, with what was typed. @returns whether it was confirmed */
async function confirm(methods) {
  const { email } = await me();
  const needsCode = methods.includes('password+otp');
  const canUsePassword = needsCode || methods.includes('password');
  const canUsePasskey = hasPasskeys && methods.includes('passkey');
  const confirmed = await openQuestion('Confirm it’s you', (close) => {
    const work = async ({ password, code }) => {
      await withAnyCode(code, (factor) => auth.confirmPassword(password, factor));
      close(true);
    };
    const byPassword = form([{ ...PASSWORD, autofocus: true }, needsCode && ANY_CODE], { label: 'Confirm', work });
    const { demo } = config;
    const isDemo = demo && [demo.administrator, demo.support].includes(email);
    withPassword(byPassword, isDemo && demo.password).prepend(hiddenUsername(email));
    const byPasskey = button('Confirm with a passkey', () => auth.confirmPasskey().then(() => close(true)));
    return [
      asked(concern?.account ?? email, concern?.action, ['You', email]),
      h('p', { class: 'note' }, 'You are not asked again for a few minutes.'),
      canUsePassword && byPassword,
      canUsePasskey && byPasskey,
      !canUsePassword && !canUsePasskey && h('p', { class: 'summary' }, 'You have no way to confirm in this browser.'),
    ].filter(Boolean);
  });
  return confirmed === true;
}
