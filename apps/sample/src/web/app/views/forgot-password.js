import { auth } from '../auth.js';
import { h } from '../dom.js';
import { EMAIL, form } from '../form.js';
import { nodes, t } from '../language.js';
import { present } from '../router.js';
import { mailboxHint } from './registration.js';
import { takeTyped } from './sign-in.js';

/** Lets the server mail a link to choose a new password, and says so. */
export async function sendResetLink(email) {
  await auth.forgotPassword(email);
  await present(t`Check your email`, () => sent(email));
}

export const forgotPassword = () => [
  h('p', { class: 'muted' }, t`We email you a link to choose a new one.`),
  form([{ ...EMAIL, value: takeTyped(), autofocus: true }], {
    label: t`Send link`,
    work: ({ email }) => sendResetLink(email),
  }),
  h('ul', { class: 'links' }, h('li', {}, h('a', { href: '#/sign-in' }, t`Back to sign in`))),
];

// The same text for every address: it must not show whether there is an account.
const sent = (email) => [
  h('p', {}, nodes`If there is an account for ${h('strong', {}, email)}, we have sent a link to it.`),
  mailboxHint(),
  h('p', {}, h('a', { href: '#/sign-in' }, t`Back to sign in`)),
];
