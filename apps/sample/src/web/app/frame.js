import { auth } from './auth.js';
import { config } from './config.js';
import { h } from './dom.js';
import { button } from './feedback.js';
import { productLinks } from './intro.js';
import { LANGUAGES, choose, language, t } from './language.js';
import { address } from './router.js';
import { user } from './user.js';

const element = (id) => document.getElementById(id);

const STORES = h('span', { class: 'muted' }, 'NestJS · PostgreSQL · Redis');

/** What is around the view: the way to the other views, and who is signed in. @param groups entries as of `register` */
export function drawFrame(groups) {
  const isSignedIn = auth.session !== null;
  element('nav').hidden = !isSignedIn;
  element('nav').replaceChildren(...menu(groups));
  element('who').replaceChildren(...(isSignedIn ? [identity(), button(t`Sign out`, () => auth.logout())] : [STORES]));
  document.body.classList.toggle('signed-in', isSignedIn);
}

/** The links to the views. On a narrow screen, a button shows and hides them. */
function menu(groups) {
  const link = ([path, title]) => h('a', { href: `#${path}`, 'aria-current': path === address() && 'page' }, title);
  const close = ({ key }) => {
    if (key !== 'Escape' || !isOpen()) return;
    toggle(false);
    opener.focus();
  };
  const views = h(
    'div',
    { id: 'views', onkeydown: close },
    groups.map((entries) => h('div', {}, entries.map(link))),
  );
  const toggle = (isOpen) => {
    element('nav').classList.toggle('open', isOpen);
    opener.setAttribute('aria-expanded', String(isOpen));
  };
  const isOpen = () => element('nav').classList.contains('open');
  const opener = h(
    'button',
    { type: 'button', class: 'menu', 'aria-controls': 'views', onclick: () => toggle(!isOpen()), onkeydown: close },
    t`Menu`,
  );
  element('nav').setAttribute('aria-label', t`Account`);
  toggle(false);
  return [opener, views];
}

/** Is filled when the user is known. Until then, nothing is said of another user. */
function identity() {
  const place = h('p', { class: 'identity' });
  const fill = ({ name, email }) =>
    place.replaceChildren(
      h('span', { class: 'initial', 'aria-hidden': 'true' }, [...name.trim()][0]?.toUpperCase() ?? ''),
      h('span', {}, h('strong', {}, name), h('span', { class: 'muted' }, email)),
    );
  // A view that needs the user shows the error.
  user().then(fill, () => undefined);
  return place;
}
document.addEventListener('user', ({ detail: { name, email } }) => {
  const [first, second] = document.querySelectorAll('.identity > span:last-child > *');
  if (second) [first.textContent, second.textContent] = [name, email];
});

const languageChoice = () =>
  h(
    'select',
    { 'aria-label': t`Language`, onchange: ({ target }) => choose(target.value) },
    Object.entries(LANGUAGES).map(([tag, name]) =>
      h('option', { value: tag, lang: tag, selected: tag === language }, name),
    ),
  );

export function drawFoot(canChoose) {
  element('foot').replaceChildren(
    ...[
      config.mailbox && h('a', { href: '/mailbox' }, t`Mailbox`),
      config.docs && h('a', { href: '/docs' }, t`API docs`),
      ...productLinks(),
      canChoose && languageChoice(),
    ].filter(Boolean),
  );
  const skip = document.querySelector('.skip');
  skip.textContent = t`Skip to the content`;
  skip.addEventListener('click', (event) => {
    event.preventDefault();
    element('main').focus();
  });
}
