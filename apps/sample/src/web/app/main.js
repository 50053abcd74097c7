import { takeLink } from './mailed-link.js';
import './step-up.js';
import { config, hasPasskeys } from './client/config.js';
import * as session from './client/session.js';
import { closeDialogs } from './dialog.js';
import { h } from './dom.js';
import { button, complain, say } from './feedback.js';
import { address, present, register, show } from './router.js';
import { signOut } from './sign-out.js';
import { account } from './views/account.js';
import { forgotPassword } from './views/forgot-password.js';
import { overview } from './views/overview.js';
import { passkeys } from './views/passkeys.js';
import { password } from './views/password.js';
import { registration } from './views/registration.js';
import { resetPassword } from './views/reset-password.js';
import { sessions } from './views/sessions.js';
import { signIn } from './views/sign-in.js';
import { twoFactor } from './views/two-factor.js';
import { verified } from './views/verified.js';

const { features } = config;
const element = (id) => document.getElementById(id);

const own = [
  ['/', 'Overview', 'in', overview],
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
  const signedIn = session.current() !== null;
  const link = ([path, title]) => h('a', { href: `#${path}`, 'aria-current': path === here && 'page' }, title);
  element('nav').hidden = !signedIn;
  element('nav').replaceChildren(...own.map(link));
  element('who').replaceChildren(...(signedIn ? [button('Sign out', signOut)] : []));
  document.body.classList.toggle('signed-in', signedIn);
}

const mode = config.cookieMode ? 'cookie mode' : 'body mode';
element('foot').replaceChildren(
  ...(config.mailbox ? [h('a', { href: '/mailbox' }, 'Mailbox of this development server')] : []),
  h('span', {}, `Running in ${mode}`),
);
document.querySelector('.brand').textContent = config.appName;
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  element('main').focus();
});
document.addEventListener('moved', drawFrame);

session.onChange(async (access, before, notice) => {
  // A new token of the same user changes only the views that show the token.
  if (access?.payload.sub === before?.payload.sub) return;
  closeDialogs();
  drawFrame();
  await show();
  if (!access && notice) say(notice);
});

/** Restores the session. If the server does not respond, the user can try again. */
async function start() {
  try {
    await session.restore();
  } catch (error) {
    return present('One moment', () => [h('p', { role: 'alert' }, error.message), button('Try again', start)]);
  }
  if (!session.current()) await show();
}

takeLink();
start().catch(complain);
