import { h } from '../dom.js';
import { button, complain, isSilent, quiet, say } from '../feedback.js';
import { form } from '../form.js';
import { account } from './account.js';
import { refusalOf } from './actions.js';
import { onStopped } from './acting.js';
import { auth, can, config, me, nameOf, operators } from './session.js';
import { signIn } from './sign-in.js';

const [main, who, foot, page] = ['main', 'who', 'foot', 'page'].map((id) => document.getElementById(id));

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The id in the address; null for the search alone. */
const idInAddress = () => {
  const [, id] = /^#\/users\/(.+)$/.exec(location.hash) ?? [];
  return id === undefined ? null : decodeURIComponent(id);
};
const linkTo = ({ id }) => `#/users/${encodeURIComponent(id)}`;

/** The accounts that were opened since the sign-in, the last one first. */
let opened = [];

const title = h('h1', { tabindex: -1 }, 'Find an account');
const place = h('div', { id: 'account' });
const search = searchForm();

function searchForm() {
  const element = form(
    [
      {
        name: 'identifier',
        label: 'Email or id of a user',
        type: 'search',
        autocomplete: 'off',
        autocapitalize: 'none',
        spellcheck: 'false',
        maxlength: 255,
      },
    ],
    { label: 'Find', work: ({ identifier }) => find(identifier.trim()) },
  );
  element.role = 'search';
  return element;
}

async function find(text) {
  const isAfterAnother = clear();
  const found = await findUsers(text).catch(async (error) => {
    if (!isSilent(error)) draw(start());
    throw isSilent(error) ? error : new Error(await refusalOf(error));
  });
  if (found.length === 1) return go(linkTo(found[0]), isAfterAnother);
  if (found.length) return several(found);
  draw(start());
  throw new Error(`No user has the email or id “${text}”.`);
}

/** Ends what an earlier search has shown: no answer stands beside the account of another one. @returns whether there was an account */
function clear() {
  turn++;
  const wasShown = idInAddress() !== null;
  if (wasShown) history.pushState(null, '', '#/');
  place.setAttribute('aria-busy', 'true');
  place.replaceChildren();
  return wasShown;
}

/** @returns the users that have an id, or an identifier, or an email */
async function findUsers(text) {
  if (UUID.test(text)) {
    const user = await operators('GET', `/users/${text.toLowerCase()}`).then(
      (shown) => shown.user,
      (error) => (error.status === 404 ? null : Promise.reject(error)),
    );
    if (user) return [user];
  }
  return (await operators('POST', '/find', { identifier: text })).data;
}

/** One text can be the name of a user and the email of another one. */
function several(users) {
  draw([
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'several' },
      h('h2', { id: 'several', tabindex: -1 }, `${users.length} users are found`),
      people(users),
    ),
  ]);
  place.querySelector('h2').focus();
}

const people = (users) =>
  h(
    'ul',
    { class: 'links people' },
    users.map((user) => h('li', {}, h('a', { href: linkTo(user) }, nameOf(user)))),
  );

/** @param replaces whether the way back leads to what was shown before the current entry */
function go(address, replaces) {
  if (location.hash === address) return show();
  if (replaces) location.replace(address);
  else location.hash = address;
}

/** Shows nodes below the search. One of them can be the heading of the page. @returns the heading */
function draw(nodes) {
  place.replaceChildren(...nodes.filter(Boolean));
  place.removeAttribute('aria-busy');
  const own = place.querySelector('h1');
  if (own) title.remove();
  else main.prepend(title);
  const heading = own ?? title;
  document.title = `${heading.textContent} · Support`;
  return heading;
}

/** The newest call of `show` wins. */
let turn = 0;

/** Shows the account of the address. @param isSame whether it is shown already: the focus then stays in its part */
async function show(isSame = false) {
  const mine = ++turn;
  const id = idInAddress();
  const part = isSame ? document.activeElement?.closest?.('section[id]')?.id : undefined;
  if (!isSame) quiet();
  place.setAttribute('aria-busy', 'true');
  let nodes;
  try {
    nodes = id === null ? start() : await account(id, () => show(true));
  } catch (error) {
    if (isSilent(error)) return;
    const text = await refusalOf(error);
    nodes = [
      h(
        'section',
        { class: 'card', 'aria-labelledby': 'refusal' },
        h(
          'h1',
          { id: 'refusal', tabindex: -1 },
          error.status === 404 ? 'No such user' : 'This account cannot be shown',
        ),
        h('p', { role: 'alert' }, text),
        error.status !== 404 && button('Try again', () => show()),
      ),
    ];
  }
  if (mine !== turn || !auth.session) return;
  const top = page.scrollTop;
  const heading = draw(nodes);
  remember(id, heading.textContent);
  if (isSame) page.scrollTo(0, top);
  else page.scrollTo(0, 0);
  if (id === null) search.querySelector('input').focus();
  else (document.querySelector(`#${part ?? 'none'} h2`) ?? heading).focus({ preventScroll: isSame });
}

function remember(id, email) {
  if (id === null || email === 'No such user') return;
  opened = [{ id, email }, ...opened.filter((one) => one.id !== id)].slice(0, 5);
}

/** Before an account is chosen. */
function start() {
  return [
    h(
      'p',
      { class: 'muted' },
      'You see what an account has: sessions, devices, factors, keys, locks, and its history. Every change needs a reason.',
    ),
    config.demo &&
      h(
        'p',
        {},
        button(`Open ${config.demo.user}`, () => find(config.demo.user), { class: 'second' }),
      ),
    opened.length > 0 &&
      h(
        'section',
        { class: 'card', 'aria-labelledby': 'before' },
        h('h2', { id: 'before' }, 'Opened before'),
        people(opened),
      ),
  ];
}

async function drawWho() {
  const { email, role } = await me();
  who.replaceChildren(
    h(
      'p',
      { class: 'identity' },
      h('span', { class: 'initial', 'aria-hidden': 'true' }, email[0].toUpperCase()),
      h('span', {}, h('strong', {}, email), h('span', { class: 'muted' }, role)),
    ),
    button('Sign out', () => auth.logout()),
  );
}

function enter() {
  document.body.classList.add('signed-in');
  document.body.classList.remove('entering');
  if (!can('read'))
    return present([
      h('h1', { tabindex: -1 }, 'Support'),
      h('p', { role: 'alert' }, 'Your role may not see accounts.'),
    ]);
  main.replaceChildren(search, place);
  search.reset();
  drawWho().catch(complain);
  return show();
}

/** Shows a step of the sign-in. */
function present(nodes) {
  main.replaceChildren(...nodes.filter(Boolean));
  (main.querySelector('[autofocus]') ?? main.querySelector('h1')).focus();
  document.title = `${main.querySelector('h1').textContent} · Support`;
}

function leave() {
  turn++;
  opened = [];
  place.replaceChildren();
  who.replaceChildren();
  document.body.classList.remove('signed-in');
  document.body.classList.add('entering');
  document.querySelectorAll('dialog').forEach((dialog) => dialog.close());
  present(signIn(present));
}

document.querySelector('.skip').addEventListener('click', (event) => {
  // The address is that of an account.
  event.preventDefault();
  main.focus();
});

foot.replaceChildren(
  h('a', { href: '/' }, 'User page'),
  ...[
    config.mailbox && h('a', { href: '/mailbox' }, 'Mailbox'),
    config.docs && h('a', { href: '/docs' }, 'API docs'),
  ].filter(Boolean),
  h('span', {}, 'English only'),
);

/** The id of the operator whose session is shown. */
let shown = null;
auth.on('signedIn', ({ session }) => {
  if (shown === session.claims.sub) return;
  shown = session.claims.sub;
  enter().catch(complain);
});
auth.on('signedOut', ({ reason }) => {
  shown = null;
  leave();
  if (reason === 'ended') say('Your session has ended. Sign in again.', 'warning');
  else {
    history.replaceState(null, '', '/support');
    say('You are signed out.', 'plain');
  }
});
onStopped(() => auth.session && show(true).catch(complain));
window.addEventListener('hashchange', () => auth.session && show().catch(complain));

/** Restores the session of an earlier page. */
async function begin() {
  try {
    if (!(await auth.restore())) leave();
  } catch (error) {
    present([
      h('h1', { tabindex: -1 }, 'One moment'),
      h('p', { role: 'alert' }, await refusalOf(error)),
      button('Try again', begin),
    ]);
  }
}
await begin();
