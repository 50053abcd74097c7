import { takeLink } from './mailed-link.js';
// It listens to the session before this module does.
import { life } from './life.js';
import { isSigningInAgain } from './sign-in-again.js';
import './step-up.js';
import { auth, hasPasskeys, unreachable } from './auth.js';
import { config } from './config.js';
import { closeDialogs } from './dialog.js';
import { h } from './dom.js';
import { button, complain, say } from './feedback.js';
import { intro, productLinks, trials } from './intro.js';
import { address, forgetAddress, present, register, show } from './router.js';
import { emailCode } from './views/email-code.js';
import { forgotPassword } from './views/forgot-password.js';
import { confirmEmail, undoEmail, unknownSignIn } from './views/mailed-links.js';
import { passkeyRegistration, registration } from './views/registration.js';
import { resetPassword } from './views/reset-password.js';
import { signIn } from './views/sign-in.js';
import { lastSession } from './views/token.js';
import { verified } from './views/verified.js';

const { features } = config;
const element = (id) => document.getElementById(id);

/** A view for signed-in users. The first of them loads all, so that the sign-in loads none. */
const later = (name) => async (left) => {
  const views = await import('./views/signed-in.js').catch(() => {
    throw unreachable();
  });
  return views[name](left);
};

const own = [
  ['/', 'Overview', 'in', later('overview')],
  ['/orders', 'Orders', 'in', later('orders')],
  ['/sessions', 'Sessions', 'in', later('sessions')],
  (features.knownDevices || config.trustedDeviceDays > 0) && ['/devices', 'Devices', 'in', later('devices')],
  features.emailChange && ['/email', 'Email', 'in', later('email')],
  features.changePassword && ['/password', 'Password', 'in', later('password')],
  features.twoFactor && ['/two-factor', 'Two-factor', 'in', later('twoFactor')],
  hasPasskeys && ['/passkeys', 'Passkeys', 'in', later('passkeys')],
  features.accountDeletion && ['/account', 'Your data', 'in', later('yourData')],
].filter(Boolean);

register([
  ...own,
  ['/sign-in', 'Sign in', 'out', signIn],
  ['/sign-in-code', 'Sign in with a mailed code', 'out', emailCode],
  ['/register', 'Create an account', 'out', registration],
  ['/register-passkey', 'Create an account with a passkey', 'out', passkeyRegistration],
  ['/forgot-password', 'Forgot your password?', 'out', forgotPassword],
  ['/reset-password', 'Choose a new password', 'any', resetPassword],
  ['/verified', 'Your address is confirmed', 'any', verified],
  ['/confirm-email', 'Confirm your new address', 'any', confirmEmail],
  ['/undo-email', 'Restore your address', 'any', undoEmail],
  ['/unknown-sign-in', 'A sign-in that was not yours', 'any', unknownSignIn],
]);

function drawFrame() {
  const here = address();
  const signedIn = auth.session !== null;
  const link = ([path, title]) => h('a', { href: `#${path}`, 'aria-current': path === here && 'page' }, title);
  element('nav').hidden = !signedIn;
  element('nav').replaceChildren(...own.map(link));
  element('who').replaceChildren(...(signedIn ? [button('Sign out', () => auth.logout())] : []));
  document.body.classList.toggle('signed-in', signedIn);
}

let drawn = new AbortController();

/** Beside the sign-in: what happened to the session that has ended, or what this page is; and what to try. */
function drawIntro() {
  const isShown = address() === '/sign-in';
  drawn.abort();
  drawn = new AbortController();
  element('intro').hidden = !isShown;
  if (isShown) element('intro').replaceChildren(...(life().ended ? lastSession(drawn.signal) : intro()), ...trials());
  document.body.classList.toggle('arriving', isShown);
  document.body.classList.toggle('new', isShown && !life().ended);
  // On a narrow screen, an end that the user did not expect is explained before the form.
  document.body.classList.toggle('surprised', life().events.at(-1)?.reason === 'ended');
}

element('foot').replaceChildren(
  ...[
    config.mailbox && h('a', { href: '/mailbox' }, 'Mailbox'),
    config.docs && h('a', { href: '/docs' }, 'API docs'),
    ...productLinks(),
    h(
      'span',
      {},
      config.cookieMode
        ? 'Cookie mode: no script can read the refresh token'
        : 'Body mode: the page keeps the refresh token',
    ),
  ].filter(Boolean),
);
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  element('main').focus();
});
document.addEventListener('moved', drawFrame);
document.addEventListener('moved', drawIntro);

/** The id of the signed-in user. */
let shownUser = null;

auth.on('signedIn', ({ session, otherTab }) => {
  const isSame = shownUser === session.claims.sub;
  shownUser = session.claims.sub;
  // The view continues, and keeps what it shows only once.
  if (isSame && (otherTab || isSigningInAgain())) return;
  closeDialogs();
  show().catch(complain);
});

auth.on('signedOut', async ({ reason, otherTab }) => {
  shownUser = null;
  closeDialogs();
  const shown = show();
  // Whoever signs in next begins at the overview, unless this user did not want to leave.
  if (reason !== 'ended') forgetAddress();
  await shown;
  if (reason === 'ended') say('Your session has ended. Please sign in again.', 'warning');
  else if (reason === 'deleted') say('Your account is deleted.', 'plain');
  else say(otherTab ? 'You were signed out in another tab.' : 'You are signed out.', 'plain');
});

/** Restores the session. If the server does not respond, the user can try again. */
async function start() {
  try {
    if (!(await auth.restore())) await show();
  } catch (error) {
    await present('One moment', () => [h('p', { role: 'alert' }, error.message), button('Try again', start)]);
  }
}

takeLink();
start().catch(complain);
