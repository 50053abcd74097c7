import { auth } from './auth.js';
import { h } from './dom.js';
import { button, complain, isSilent, quiet, textOf } from './feedback.js';
import { t } from './language.js';

const main = document.getElementById('main');

/**
 * `{ title, access: 'in' | 'out' | 'any', view }` by address. `view(left)` returns nodes; `left` is a signal that is
 * aborted when the user leaves the view.
 */
const routes = new Map();
let left = new AbortController();

export const address = () => location.hash.slice(1) || '/';

/** The address that needs a session and was opened without one. It is shown after the sign-in. */
let wanted = null;

/** After a sign-in, the overview is shown. */
export const forgetAddress = () => (wanted = null);

/** @param entries `[address, title, access, view]` */
export function register(entries) {
  for (const [path, title, access, view] of entries) routes.set(path, { title, access, view });
}

/** Goes to an address. @returns a promise that is resolved when the view is shown */
export function go(path) {
  history.pushState(null, '', `/#${path}`);
  return show();
}

/**
 * Shows the view of the address, or the home view if the view is only for users who are signed in, or signed out. An address
 * without a view has a view of its own.
 */
export function show() {
  const home = auth.session ? (wanted ?? '/') : '/sign-in';
  const route = routes.get(address());
  const fits = !route || route.access === 'any' || (route.access === 'in') === (auth.session !== null);
  if (!fits) {
    if (!auth.session) wanted = address();
    history.replaceState(null, '', `/#${home}`);
    return show();
  }
  if (auth.session) forgetAddress();
  document.dispatchEvent(new CustomEvent('moved'));
  return route ? replaceView(route.title, route.view) : replaceView(t`Page not found`, notFound);
}

const notFound = () => [
  h('p', { class: 'muted' }, t`There is no page at this address. The link may be old, or mistyped.`),
  h(
    'p',
    {},
    h('a', { class: 'button primary', href: '#/' }, auth.session ? t`Back to the overview` : t`Back to sign in`),
  ),
];

/** Shows a step that has no address, such as the second one of a sign-in. */
export function present(title, view) {
  document.dispatchEvent(new CustomEvent('step'));
  return replaceView(title, view);
}

/** What a view returns if its title is not that of its address. */
export const titled = (title, nodes) => Object.assign(nodes, { title });

/** Replaces the current view, and moves the focus to the first field if the view wants that, otherwise to the new heading. */
async function replaceView(title, view) {
  left.abort();
  const mine = (left = new AbortController());
  const isFirst = main.querySelector('h1') === null;
  quiet();
  main.setAttribute('aria-busy', 'true');
  const heading = h('h1', { tabindex: -1 }, title);
  let nodes;
  try {
    nodes = await view(mine.signal);
  } catch (error) {
    nodes = isSilent(error)
      ? []
      : [h('p', { role: 'alert' }, textOf(error)), h('p', { class: 'row' }, button(t`Try again`, show))];
  }
  // The user went to another view in the meantime.
  if (mine.signal.aborted) return;
  heading.textContent = nodes.title ?? title;
  main.replaceChildren(heading, ...nodes.filter(Boolean));
  main.removeAttribute('aria-busy');
  document.title = `${heading.textContent} · @svc/auth`;
  // Screen readers read a new page from its beginning.
  const first = main.querySelector('[autofocus]');
  if (first || !isFirst) (first ?? heading).focus();
  document.getElementById('page').scrollTo(0, 0);
}

/**
 * A part of a view that is drawn again after a change. If it had the focus, the focus moves to its beginning.
 *
 * @param draw `(again) => nodes`; `again()` draws the part again
 */
export async function part(tag, props, draw) {
  const element = h(tag, { tabindex: -1, ...props });
  const again = async () => {
    const held = element.contains(document.activeElement) || document.activeElement === document.body;
    element.replaceChildren(...(await draw(again)).filter(Boolean));
    if (held && element.isConnected) element.focus();
  };
  await again();
  return element;
}

window.addEventListener('hashchange', () => void Promise.resolve(show()).catch(complain));

// A link to the current address fires no `hashchange`, but a view without an address can be shown in its place.
document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href^="#/"]');
  if (link?.hash !== location.hash) return;
  event.preventDefault();
  void Promise.resolve(show()).catch(complain);
});
