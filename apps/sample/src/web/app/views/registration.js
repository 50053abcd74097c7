import { account, auth, hasPasskeys } from '../auth.js';
import { config } from '../config.js';
import { h } from '../dom.js';
import { EMAIL, NEW_PASSWORD, form } from '../form.js';
import { present } from '../router.js';
import { enter } from './sign-in.js';

const NAME = { name: 'name', label: 'Name', autocomplete: 'name', maxlength: 255 };
const PASSWORD = { ...NEW_PASSWORD, label: 'Password' };

const register = async (sent) => {
  const answer = await enter(sent);
  if (answer?.registered) await present('Your account was created', () => created(answer));
  // The server does not show whether there was an account.
  if (answer?.status) await present('Check your mail', () => created({ requires_verification: true }));
};
const link = (to, label) => h('li', {}, h('a', { href: to }, label));

export const registration = () => [
  form([NAME, EMAIL, PASSWORD], { label: 'Create the account', work: (fields) => register(auth.register(fields)) }),
  h(
    'ul',
    { class: 'links' },
    config.features.passkeyRegistration &&
      hasPasskeys &&
      link('#/register-passkey', 'Use a passkey, without a password'),
    link('#/sign-in', 'Do you have an account? Sign in'),
  ),
];

export const passkeyRegistration = () => [
  h(
    'p',
    { class: 'muted' },
    'You sign in with your fingerprint, your face or a PIN. There is no password that you could forget, or that could be stolen.',
  ),
  hasPasskeys
    ? form([NAME, EMAIL], {
        label: 'Create the account with a passkey',
        work: (fields) => register(account.registerWithPasskey(fields)),
      })
    : h('p', { class: 'note' }, 'Passkeys do not work in this browser at this address.'),
  h(
    'ul',
    { class: 'links' },
    link('#/register', 'Use a password'),
    link('#/sign-in', 'Do you have an account? Sign in'),
  ),
];

const created = ({ requires_verification }) => [
  h('p', {}, requires_verification ? 'Open the link that we mailed to you, then sign in.' : 'You can sign in now.'),
  h('p', {}, h('a', { href: '#/sign-in' }, 'Sign in')),
  requires_verification && mailboxHint(),
];

/** In development: where the mails are. */
export const mailboxHint = () =>
  config.mailbox &&
  h(
    'p',
    { class: 'note' },
    'This server does not send mails. It shows them in its ',
    h('a', { href: '/mailbox' }, 'mailbox'),
    '.',
  );
