import { auth } from '../auth.js';
import { h } from '../dom.js';
import { button } from '../feedback.js';
import { t } from '../language.js';
import { afterSignIn } from '../sign-in-again.js';

const PRODUCTS = { tea: t`tea`, coffee: t`coffee`, cake: t`cake` };

/** A product of the menu, in the language of the page. */
export const productOf = (item) => PRODUCTS[item] ?? item;

/** A route and its decorator. */
export const route = (name, gate) =>
  h('p', { class: 'route' }, h('code', {}, name), ' ', h('code', { class: 'gate' }, gate));

/** What needs more than a session: `run` sends the request, `resultOf` describes its answer. */
const REQUESTS = [
  {
    title: t`See what you have spent`,
    name: 'GET /orders/statement',
    gate: '@RequireRecentLogin(600)',
    why: t`You must have signed in within the last ten minutes. Otherwise you sign in again, and the request is repeated.`,
    label: t`Show statement`,
    run: () => auth.request('GET', '/orders/statement'),
    resultOf: ({ data }) =>
      data.length ? data.map(({ item, count }) => `${count} × ${productOf(item)}`).join(', ') : t`Nothing ordered yet.`,
  },
  {
    title: t`Order for a party`,
    name: 'POST /orders/party',
    gate: "@RequireFactor('any')",
    why: t`You must have signed in with a second factor.`,
    label: t`Order one of everything`,
    run: () => auth.request('POST', '/orders/party'),
    resultOf: ({ data }) => t`Ordered: ${data.map(({ item }) => productOf(item)).join(', ')}.`,
  },
];

/** @param ordered is called after an order */
export const stronger = (ordered) =>
  h(
    'section',
    { class: 'card', 'aria-labelledby': 'stronger-heading' },
    h('h2', { id: 'stronger-heading' }, t`Needs a recent or stronger sign-in`),
    h(
      'ul',
      { class: 'refusals' },
      REQUESTS.map((one) => request(one, ordered)),
    ),
  );

function request({ title, name, gate, why, label, run, resultOf }, ordered) {
  const outcome = h('p', { role: 'status' });
  const work = async () => {
    outcome.replaceChildren();
    const result = resultOf(await afterSignIn(run));
    await ordered();
    outcome.replaceChildren(result);
  };
  return h(
    'li',
    {},
    h('h3', {}, title),
    route(name, gate),
    h('p', { class: 'note' }, why),
    button(label, work),
    outcome,
  );
}
