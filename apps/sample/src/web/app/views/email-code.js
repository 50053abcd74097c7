import { account, storageNotice } from '../auth.js';
import { duration, h } from '../dom.js';
import { button, complain } from '../feedback.js';
import { CODE, EMAIL, REMEMBER, form } from '../form.js';
import { nodes, t } from '../language.js';
import { forgetLink, linkOf } from '../mailed-link.js';
import { present } from '../router.js';
import { mailboxHint } from './registration.js';
import { enter, takeTyped } from './sign-in.js';

const MAILED_CODE = { ...CODE, label: t`Code from the email` };

/** Asks for a mailed code, at once if its address is known, or for the confirmation of the one in a mailed link. */
export async function emailCode() {
  const code = linkOf('/sign-in-code')?.code;
  if (code) {
    return [
      h('p', { class: 'muted' }, t`The link works once, and only in the browser in which you asked for it.`),
      codeForm({ value: code }),
      links(h('a', { href: '#/sign-in-code', onclick: forgetLink }, t`Get a new code`)),
    ];
  }
  const email = takeTyped();
  const entry = emailForm(email);
  if (email && entry.elements.email.validity.valid) {
    try {
      return await requestCode({ email });
    } catch (error) {
      complain(error);
    }
  }
  return asking(entry);
}

const requestCode = async ({ email }) => {
  const { expires_in } = await account.requestCode(email);
  await present(t`Enter your code`, () => sent(email, expires_in));
};

const emailForm = (email) =>
  form([{ ...EMAIL, value: email, autofocus: true }], { label: t`Send code`, work: requestCode });

const asking = (entry) => [
  storageNotice && h('p', { class: 'note' }, storageNotice),
  h('p', { class: 'muted' }, t`We email you a code. It signs you in without your password.`),
  entry,
  links(),
];

// The same text for every address: it must not show whether there is an account.
const sent = (email, seconds) => [
  h(
    'p',
    { class: 'muted' },
    nodes`If there is an account for ${h('strong', {}, email)}, we have sent a code to it. It works for ${duration(seconds)}, in this browser only.`,
  ),
  codeForm(),
  mailboxHint(),
  links(
    button(t`Get a new code`, () => present(t`Sign in with a code`, () => asking(emailForm(email))), {
      class: 'quiet',
    }),
  ),
];

const codeForm = (more) =>
  form([{ ...MAILED_CODE, ...more }, REMEMBER], {
    label: t`Sign in`,
    work: ({ code, ...fields }) => {
      // The form keeps the code of a link. Opened again, this view asks for another one.
      forgetLink();
      return enter(account.signInWithCode(code, fields), 'code');
    },
  });

const links = (another) =>
  h(
    'ul',
    { class: 'links' },
    another && h('li', {}, another),
    h('li', {}, h('a', { href: '#/sign-in', onclick: forgetLink }, t`Back to sign in`)),
  );
