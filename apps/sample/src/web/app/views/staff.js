import { send } from '../auth.js';
import { createAuthClient } from '../auth-client.js';
import { config } from '../config.js';
import { h } from '../dom.js';
import { button } from '../feedback.js';
import { PASSWORD, form } from '../form.js';
import { nodes, t } from '../language.js';
import { part } from '../router.js';
import { stylesheet } from '../stylesheet.js';
import { answer } from './answer.js';
import { route } from './stronger-orders.js';

// The answers of the server look as they do for customers.
await stylesheet('session.css');

/** The guard of the staff has accounts and sessions of its own. Its session ends with the page. */
const client = createAuthClient({ url: config.staff.path, refreshToken: 'memory' });
const me = async () => (await client.request('GET', '/staff')).data;

const HANDLE = {
  name: 'handle',
  label: t`Username`,
  autocomplete: 'username',
  autocapitalize: 'none',
  spellcheck: 'false',
  maxlength: 30,
};

/** The sign-in with a username. */
export const staff = async () => [
  h('p', { class: 'muted' }, t`Staff sign in with a username. Staff and customer tokens are not interchangeable.`),
  await part('div', { 'aria-label': t`Staff`, role: 'group' }, async (again) =>
    client.session ? signedIn(await me(), again) : signedOut(again),
  ),
  h('ul', { class: 'links' }, h('li', {}, h('a', { href: '#/sign-in' }, t`Back to sign in`))),
];

function signedOut(again) {
  const { demo } = config.staff;
  const enter = async (fields) => {
    await client.login(fields);
    await again();
  };
  return [
    demo &&
      h(
        'section',
        { class: 'card', 'aria-label': t`Demo` },
        h('p', {}, nodes`Try the page as ${h('strong', {}, demo.handle)}, without an account of your own.`),
        button(t`Use the demo account`, () => enter(demo), { class: 'primary' }),
      ),
    demo && h('p', { class: 'or muted' }, t`or with another username`),
    form([HANDLE, PASSWORD], { label: t`Sign in`, work: enter, isWhole: true, isSecond: !!demo }),
  ];
}

/** What the token of the staff opens, and what it does not. */
const REQUESTS = [
  { path: '/staff', gate: "@Authenticated('staff')" },
  { path: '/user', gate: '@Authenticated()', why: t`Your token is fine, but not for this guard.` },
];

function trial({ path, gate, why }) {
  const name = `GET ${path}`;
  const outcome = h('div', { role: 'status' });
  const work = async () => {
    const { status, answer: told } = await send('GET', path, { token: client.session.token });
    outcome.replaceChildren(
      answer(status, told.message ?? JSON.stringify(told)),
      ...(why && status === 401 ? [h('p', { class: 'note' }, why)] : []),
    );
  };
  return h('li', {}, route(name, gate), button(t`Send ${name}`, work), outcome);
}

function signedIn({ handle }, again) {
  const leave = async () => {
    await client.logout();
    await again();
  };
  return [
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'staff-heading' },
      h('h2', { id: 'staff-heading' }, nodes`Signed in as ${h('strong', {}, handle)}`),
      h('p', {}, t`This session is in the memory of the page, and ends with it.`),
      h('ul', { class: 'refusals' }, REQUESTS.map(trial)),
      button(t`Sign out`, leave),
    ),
  ];
}
