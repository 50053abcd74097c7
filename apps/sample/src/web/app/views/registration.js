import { account, auth, hasPasskeys } from '../auth.js';
import { config } from '../config.js';
import { h } from '../dom.js';
import { EMAIL, NEW_PASSWORD, REMEMBER, form } from '../form.js';
import { language, t } from '../language.js';
import { present } from '../router.js';
import { enter, takeTyped } from './sign-in.js';

export const NAME = { name: 'name', label: t`Name`, autocomplete: 'name', maxlength: 255 };
const PASSWORD = { ...NEW_PASSWORD, label: t`Password` };
/** On a narrow screen, the keyboard would cover what is below the first field. */
const person = () => [
  { ...NAME, autofocus: matchMedia('(min-width: 44rem)').matches },
  { ...EMAIL, value: takeTyped() },
];

/** Waits for a request that creates an account, and shows what is next. @param first as of `enter` */
export const register = async (sent, first) => {
  const answer = await enter(sent, first);
  await next(answer);
  return answer;
};

/** Shows how to go on with an account without a session. */
export const next = async (answer) => {
  if (answer?.registered) await present(t`Your account is created`, () => created(answer));
  // The server does not show whether there was an account.
  if (answer?.status) await present(t`Check your email`, () => created({ requires_verification: true }));
};
const link = (to, label) => h('li', {}, h('a', { href: to }, label));

export const registration = () => [
  form([...person(), PASSWORD, REMEMBER], {
    label: t`Create account`,
    work: (fields) => register(auth.register({ ...fields, language })),
  }),
  h(
    'ul',
    { class: 'links' },
    config.features.passkeyRegistration &&
      hasPasskeys &&
      link('#/register-passkey', t`Use a passkey, without a password`),
    link('#/sign-in', t`Have an account? Sign in`),
  ),
];

export const passkeyRegistration = () => [
  h(
    'p',
    { class: 'muted' },
    t`You sign in with your fingerprint, your face or a PIN. There is no password that you could forget, or that could be stolen.`,
  ),
  hasPasskeys
    ? form([...person(), REMEMBER], {
        label: t`Create account with a passkey`,
        work: (fields) => register(account.registerWithPasskey({ ...fields, language })),
      })
    : h('p', { class: 'note' }, t`Passkeys do not work in this browser at this address.`),
  h('ul', { class: 'links' }, link('#/register', t`Use a password`), link('#/sign-in', t`Have an account? Sign in`)),
];

const toSignIn = (look = '') => h('a', { class: `button ${look}`, href: '#/sign-in' }, t`Sign in`);

const created = ({ requires_verification }) => [
  h(
    'p',
    {},
    requires_verification ? t`Open the link that we have sent to you, then sign in.` : t`You can sign in now.`,
  ),
  (requires_verification && mailboxHint(toSignIn())) || h('p', {}, toSignIn('primary')),
];

/** In development: where the mails are. It is the first choice if there is another one beside it. */
export const mailboxHint = (other) =>
  config.mailbox &&
  h(
    'div',
    { class: 'stack' },
    h('p', { class: 'note' }, t`This development server keeps its email in a mailbox, and does not send it.`),
    h(
      'p',
      { class: 'row' },
      h('a', { class: `button ${other ? 'primary' : 'second'}`, href: '/mailbox' }, t`Open the mailbox`),
      other,
    ),
  );
