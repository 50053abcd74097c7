import { takeLink } from './mailed-link.js';
// It listens to the session before this module does.
import { life } from './life.js';
import './step-up.js';
import { auth, hasPasskeys } from './auth.js';
import { config } from './config.js';
import { closeDialogs } from './dialog.js';
import { h } from './dom.js';
import { button, complain, say } from './feedback.js';
import { intro } from './intro.js';
import { address, present, register, show } from './router.js';
import { account } from './views/account.js';
import { forgotPassword } from './views/forgot-password.js';
import { orders } from './views/orders.js';
import { overview } from './views/overview.js';
import { passkeys } from './views/passkeys.js';
import { password } from './views/password.js';
import { registration } from './views/registration.js';
import { resetPassword } from './views/reset-password.js';
import { sessions } from './views/sessions.js';
import { signIn } from './views/sign-in.js';
import { lastSession } from './views/token.js';
import { twoFactor } from './views/two-factor.js';
import { verified } from './views/verified.js';

const { features } = config;
const element = (id) => document.getElementById(id);

const own = [
  ['/', 'Overview', 'in', overview],
  ['/orders', 'Orders', 'in', orders],
  ['/sessions', 'Sessions', 'in', sessions],
  features.changePassword && ['/password', 'Password', 'in', password],
  features.twoFactor && ['/two-factor', 'Two-factor', 'in', twoFactor],
  hasPasskeys && ['/passkeys', 'Passkeys', 'in', passkeys],
  features.accountDeletion && ['/account', 'Your data', 'in', account],
].filter(Boolean);

register([
  ...own,
  ['/sign-in', 'Sign in', 'out', signIn],
  ['/register', 'Create an account', 'out', registration],
  ['/forgot-password', 'Forgot your password?', 'out', forgotPassword],
  ['/reset-password', 'Choose a new password', 'any', resetPassword],
  ['/verified', 'Your address is confirmed', 'any', verified],
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

/** Beside the sign-in: what happened to the session that has ended, or what this page is. */
function drawIntro() {
  const isShown = address() === '/sign-in';
  drawn.abort();
  drawn = new AbortController();
  element('intro').hidden = !isShown;
  if (isShown) element('intro').replaceChildren(...(life().ended ? lastSession(drawn.signal) : intro()));
  document.body.classList.toggle('arriving', isShown);
  document.body.classList.toggle('new', isShown && !life().ended);
  // On a narrow screen, an end that the user did not expect is explained before the form.
  document.body.classList.toggle('surprised', life().events.at(-1)?.reason === 'ended');
}

element('foot').replaceChildren(
  ...[
    config.mailbox && h('a', { href: '/mailbox' }, 'Mailbox'),
    config.docs && h('a', { href: '/docs' }, 'API docs'),
    h('span', {}, `This server runs in ${config.cookieMode ? 'cookie' : 'body'} mode`),
  ].filter(Boolean),
);
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  element('main').focus();
});
document.addEventListener('moved', drawFrame);
document.addEventListener('moved', drawIntro);

auth.on('signedIn', () => {
  closeDialogs();
  show().catch(complain);
});

auth.on('signedOut', async ({ reason, otherTab }) => {
  closeDialogs();
  await show();
  if (reason === 'ended') say('Your session has ended. Please sign in again.');
  else if (reason === 'deleted') say('Your account is deleted.');
  else say(otherTab ? 'You were signed out.' : 'You are signed out.');
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
