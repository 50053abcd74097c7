import { auth } from '../auth.js';
import { h } from '../dom.js';
import { EMAIL, form } from '../form.js';
import { present } from '../router.js';
import { mailboxHint } from './registration.js';

export function forgotPassword() {
  const work = async ({ email }) => {
    await auth.forgotPassword(email);
    await present('Check your mail', () => sent(email));
  };
  return [
    h('p', { class: 'muted' }, 'We will mail you a link to choose a new one.'),
    form([EMAIL], { label: 'Mail the link', work }),
    h('ul', { class: 'links' }, h('li', {}, h('a', { href: '#/sign-in' }, 'Back to sign in'))),
  ];
}

// The same text for every address: it must not show whether there is an account.
const sent = (email) => [
  h('p', {}, 'If there is an account for ', h('strong', {}, email), ', we have sent a link to it.'),
  mailboxHint(),
  h('p', {}, h('a', { href: '#/sign-in' }, 'Back to sign in')),
];
