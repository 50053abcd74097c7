import { takeLink } from './mailed-link.js';
// It listens to the session before this module does.
import { life } from './life.js';
import { auth, canStore, hasPasskeys, onConfirm, unreachable } from './auth.js';
import { config } from './config.js';
import { closeDialogs } from './dialog.js';
import { h } from './dom.js';
import { button, complain, say, textOf } from './feedback.js';
import { drawFoot, drawFrame } from './frame.js';
import { intro, trials } from './intro.js';
import { t } from './language.js';
import { address, forgetAddress, present, register, show } from './router.js';
import { isSigningInAgain } from './user.js';
import { signIn } from './views/sign-in.js';

const { features } = config;
const element = (id) => document.getElementById(id);

/** A function of a file that the first visit does not need. That of the first view for signed-in users has all of them. */
const later =
  (name, file = './views/signed-in.js') =>
  async (given) => {
    const functions = await import(file).catch(() => {
      throw unreachable();
    });
    return functions[name](given);
  };

onConfirm(later('confirm', './step-up.js'));

/** The views for signed-in users: what to try, and the account. */
const groups = [
  [
    ['/', t`Overview`, 'in', later('overview')],
    ['/orders', t`Orders`, 'in', later('orders')],
    ['/sessions', t`Sessions`, 'in', later('sessions')],
    (features.knownDevices || config.trustedDeviceDays > 0) && ['/devices', t`Devices`, 'in', later('devices')],
    features.audit && ['/history', t`History`, 'in', later('history', './views/history.js')],
  ],
  [
    features.emailChange && ['/email', t`Email`, 'in', later('email')],
    features.changePassword && ['/password', t`Password`, 'in', later('password')],
    features.twoFactor && ['/two-factor', t`Two-factor`, 'in', later('twoFactor')],
    hasPasskeys && ['/passkeys', t`Passkeys`, 'in', later('passkeys')],
    config.providers.length > 0 && [
      '/identities',
      t`Linked accounts`,
      'in',
      later('identities', './views/identities.js'),
    ],
    features.accessKeys && ['/access-keys', t`Access keys`, 'in', later('accessKeys', './views/access-keys.js')],
    features.accountDeletion && ['/account', t`Your data`, 'in', later('yourData')],
  ],
].map((entries) => entries.filter(Boolean));

register([
  ...groups.flat(),
  ['/sign-in', t`Sign in`, 'out', signIn],
  ['/sign-in-code', t`Sign in with a code`, 'out', later('emailCode', './views/email-code.js')],
  ['/register', t`Create your account`, 'out', later('registration', './views/registration.js')],
  [
    '/register-passkey',
    t`Create your account with a passkey`,
    'out',
    later('passkeyRegistration', './views/registration.js'),
  ],
  ['/forgot-password', t`Forgot your password?`, 'out', later('forgotPassword', './views/forgot-password.js')],
  ['/reset-password', t`Choose a new password`, 'any', later('resetPassword', './views/reset-password.js')],
  ['/verified', t`Your email is confirmed`, 'any', later('verified', './views/verified.js')],
  ['/confirm-email', t`Confirm your new email`, 'any', later('confirmEmail', './views/mailed-links.js')],
  ['/undo-email', t`Restore your email`, 'any', later('undoEmail', './views/mailed-links.js')],
  ['/unknown-sign-in', t`Was this you?`, 'any', later('unknownSignIn', './views/mailed-links.js')],
  ['/signed-in', t`One moment`, 'any', later('signedIn', './views/identities.js')],
  ['/staff', t`Staff sign-in`, 'out', later('staff', './views/staff.js')],
]);

let drawn = new AbortController();

/** Beside the sign-in: what happened to the session that has ended, or what this page is; and what to try. */
function drawIntro(isShown) {
  drawn.abort();
  const { signal } = (drawn = new AbortController());
  element('intro').hidden = !isShown;
  const fill = (nodes) => element('intro').replaceChildren(...nodes, ...trials(life()));
  if (isShown && !life().ended) fill(intro());
  else if (isShown)
    // It was loaded with the views of the session.
    import('./views/token.js').then(({ lastSession }) => signal.aborted || fill(lastSession(signal)), complain);
  document.body.classList.toggle('arriving', isShown);
  document.body.classList.toggle('new', isShown && !life().ended);
  // An end that the user did not expect.
  document.body.classList.toggle('surprised', isShown && life().events.at(-1)?.reason === 'ended');
}

// A question belongs to the view that asked it.
window.addEventListener('hashchange', closeDialogs);

// Without storage, the choice would be lost with the page.
drawFoot(canStore);
document.addEventListener('moved', () => drawFrame(groups));
document.addEventListener('moved', () => drawIntro(address() === '/sign-in'));
// A step of the sign-in stands alone.
document.addEventListener('step', () => drawIntro(false));

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
  if (reason === 'deleted') return say(t`Your account is deleted.`, 'plain');
  if (otherTab && reason === 'logout') return say(t`You were signed out in another tab.`, 'plain');
  // The view of the sign-in says it above the life of the session.
  if (address() === '/sign-in') return;
  if (reason === 'ended') say(t`Your session has ended. Sign in again.`, 'warning');
  else say(t`You are signed out.`, 'plain');
});

/** Restores the session. If the server does not respond, the user can try again. */
async function start() {
  try {
    if (!(await auth.restore())) await show();
  } catch (error) {
    await present(t`One moment`, () => [h('p', { role: 'alert' }, textOf(error)), button(t`Try again`, start)]);
  }
}

takeLink();
// The page scrolls in an element, to which the keys of a visitor who has not pressed anything go, too.
element('page').focus({ preventScroll: true });
start().catch(complain);
