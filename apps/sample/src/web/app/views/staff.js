import { createAuthClient } from '../auth-client.js';
import { config } from '../config.js';
import { h } from '../dom.js';
import { button } from '../feedback.js';
import { PASSWORD, form } from '../form.js';
import { nodes, t } from '../language.js';
import { part } from '../router.js';

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
    demo && button(t`Use the demo user: ${demo.handle}`, () => enter(demo), { class: 'primary' }),
    demo && h('p', { class: 'or muted' }, t`or with another username`),
    form([HANDLE, PASSWORD], { label: t`Sign in`, work: enter, isWhole: true, isSecond: !!demo }),
  ];
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
      button(t`Sign out`, leave),
    ),
  ];
}
