/** Sign-in with a provider, and the linked accounts. It is loaded only from a server that has a provider. */
import './identities-texts.js';
import {
  confirmWith,
  endSession,
  finishSignIn,
  linkWith,
  linkedIdentities,
  registerWith,
  signInWith,
  unlink,
} from '../auth-identities.js';
import { auth } from '../auth.js';
import { item, items } from '../items.js';
import { config } from '../config.js';
import { ask } from '../dialog.js';
import { ago, h } from '../dom.js';
import { button, say, textOf } from '../feedback.js';
import { EMAIL, NEW_PASSWORD, form } from '../form.js';
import { language, t } from '../language.js';
import { forgetLink, linkOf } from '../mailed-link.js';
import { part, present, show } from '../router.js';
import { NAME, next, register } from './registration.js';
import { enter } from './sign-in.js';

const labelOf = (provider) => config.providers.find(({ name }) => name === provider)?.label ?? provider;

/** In a window of its own: this page keeps what it shows. */
const popup = true;

/** The buttons of the sign-in. The page goes to the provider. @param choice returns further fields */
export const continueWith = (choice) =>
  config.providers.map(({ name, label }) => button(t`Continue with ${label}`, () => signInWith(auth, name, choice())));

/** The providers that the signed-in user has linked. */
const linked = async (isWanted = () => true) => [
  ...new Set((await linkedIdentities(auth)).filter(isWanted).map(({ provider }) => provider)),
];

/** How the user can confirm the identity at a provider: `[label, work]`. */
export const confirming = async () =>
  (await linked((one) => one.can_confirm)).map((name) => [
    t`Confirm with ${labelOf(name)}`,
    () => confirmWith(auth, name, { popup }),
  ]);

/** How the user can sign in again: `[label, work(choice)]`. */
export const signingIn = async () =>
  (await linked()).map((name) => [
    t`Continue with ${labelOf(name)}`,
    (choice) => signInWith(auth, name, { popup, ...choice }),
  ]);

/** Goes to another view, without a way back to this one. */
const leaveTo = (address) => {
  history.replaceState(null, '', `/#${address}`);
  return show();
};

/** The page to which the provider returns. Its parameters are no longer in the address. */
export function signedIn() {
  const { search } = linkOf('/signed-in') ?? {};
  // This view is shown again when the user is signed in.
  forgetLink();
  return search ? finish(search) : leaveTo(auth.session ? '/' : '/sign-in');
}

async function finish(search) {
  let finished;
  try {
    finished = await finishSignIn(auth, `${location.origin}/signed-in${search}`);
  } catch (error) {
    return failed(error, error.status === 422 ? undefined : () => present(t`One moment`, () => finish(search)));
  }
  const { way, answer } = finished ?? {};
  if (way === 'handed-over') return [h('p', {}, t`You can close this window.`)];
  if (way === 'lost')
    return failed(new Error(t`This sign-in is over, or was begun in another browser or tab. Begin again.`));
  if (way === 'link') return leaveTo('/identities').then(() => say(t`The account is linked.`));
  if (way !== 'sign-in') return leaveTo('/');
  return answer && goOn(answer);
}

const failed = (error, again) => [
  h('p', { role: 'alert' }, textOf(error)),
  h(
    'p',
    { class: 'row' },
    h('a', { class: 'button primary', href: auth.session ? '#/' : '#/sign-in' }, t`Continue`),
    again && button(t`Try again`, again),
  ),
];

/** The next step of a sign-in that is not complete. */
async function goOn(answer) {
  await enter(answer, 'identity');
  if (answer.status === 'registration-required') return present(t`Create your account`, () => missing(answer));
  return next(answer);
}

/** Fields of a new account. A field that is not listed is a text, with its name as its label. */
const FIELDS = { name: NAME, email: EMAIL, password: NEW_PASSWORD };

/** What the provider does not say, or may not say. */
const missing = (required) => {
  const fields = required.fields.map((name) => ({
    ...(FIELDS[name] ?? { name, label: name }),
    value: required[name],
  }));
  const work = (values) => register(registerWith(auth, required, { ...values, language }), 'identity');
  return [
    h('p', { class: 'muted' }, t`You have no account here yet. It is created with what you enter.`),
    form(fields, { label: t`Create account`, work }),
    h('ul', { class: 'links' }, h('li', {}, h('a', { href: '#/sign-in' }, t`Have an account? Sign in`))),
  ];
};

/** The accounts at providers with which the user signs in. */
export async function identities() {
  const list = await part('div', { 'aria-label': t`Your linked accounts`, role: 'group' }, async (again) => {
    const done = async (text) => {
      await again();
      say(text);
    };
    const rows = (await linkedIdentities(auth)).map((one) => row(one, done));
    return [rows.length ? items(rows) : h('p', { class: 'empty' }, t`No linked accounts yet.`), linking(done)];
  });
  return [h('p', { class: 'muted' }, t`Sign in with an account that you have elsewhere.`), list];
}

const linking = (done) =>
  h(
    'section',
    { class: 'card', 'aria-labelledby': 'link-heading' },
    h('h2', { id: 'link-heading' }, t`Link an account`),
    h('p', {}, t`You sign in there once, and then also here with it.`),
    h(
      'p',
      { class: 'row' },
      config.providers.map(({ name, label }) =>
        button(t`Link ${label}`, async () => {
          await linkWith(auth, name, { popup });
          await done(t`The account is linked.`);
        }),
      ),
      button(t`Sign out here and there`, () => endSession(auth)),
    ),
  );

function row({ id, provider, email, linked_at, last_used_at }, done) {
  const label = labelOf(provider);
  const remove = async () => {
    const text = t`You cannot sign in with it any more, and the sessions that it has started end.`;
    if (!(await ask(t`Unlink ${label}?`, text, t`Unlink account`))) return;
    await unlink(auth, id);
    await done(t`The account is unlinked.`);
  };
  return item(
    'h2',
    label,
    [
      email && [t`Email`, email],
      [t`Linked`, ago(linked_at)],
      [t`Last used`, last_used_at ? ago(last_used_at) : t`never`],
    ],
    button(t`Unlink`, remove, { class: 'small danger', 'aria-label': t`Unlink ${email ?? label}` }),
  );
}
