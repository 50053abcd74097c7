import { auth } from '../auth.js';
import { config } from '../config.js';
import { h } from '../dom.js';
import { EMAIL, NEW_PASSWORD, form } from '../form.js';
import { present } from '../router.js';
import { enter } from './sign-in.js';

const NAME = { name: 'name', label: 'Name', autocomplete: 'name', maxlength: 255 };
const FIELDS = [NAME, EMAIL, { ...NEW_PASSWORD, label: 'Password' }];

export function registration() {
  const work = async (fields) => {
    const answer = await enter(auth.register(fields));
    if (answer?.registered) await present('Your account was created', () => created(answer));
  };
  return [
    form(FIELDS, { label: 'Create the account', work }),
    h('ul', { class: 'links' }, h('li', {}, h('a', { href: '#/sign-in' }, 'Do you have an account? Sign in'))),
  ];
}

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
