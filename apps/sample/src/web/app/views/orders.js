import { auth, send } from '../auth.js';
import { config } from '../config.js';
import { ago, h } from '../dom.js';
import { button, nameAction, say } from '../feedback.js';
import { nodes, t } from '../language.js';
import { part } from '../router.js';
import { user } from '../user.js';
import { answer } from './answer.js';
import { productOf, route, stronger } from './stronger-orders.js';

/** The access token of the user's read-only device, as long as this page is open. */
let device = null;
auth.on('signedOut', () => (device = null));

async function readOnlyToken() {
  // The route asks for a confirmation: a token for another device is an important change.
  nameAction(t`Sign in a read-only device`);
  device ??= (await auth.request('POST', '/user/tokens', { label: t`Read-only device`, abilities: ['orders.read'] }))
    .access_token;
  return device;
}

/** What the server refuses: `run` sends the request, `why` explains the answer. */
const REFUSALS = [
  {
    title: t`See the orders without signing in`,
    route: 'GET /orders',
    gate: '@Authenticated()',
    label: t`Try without a token`,
    run: () => send('GET', '/orders'),
    why: () => t`There was no token. A wrong, expired or ended one gets the same answer: it gives no hint to a thief.`,
  },
  {
    title: t`Order with a token that may only read`,
    route: 'POST /orders',
    gate: "@Abilities('orders.write')",
    label: t`Try as a read-only device`,
    run: async () => send('POST', '/orders', { token: await readOnlyToken(), body: { item: 'tea' } }),
    why: (status) =>
      status === 403
        ? t`This token never gets another scope than orders.read. Its session is in your list: once you sign it out there, the answer is 401.`
        : t`The session of this device has ended, so the server refuses its token, although it has not expired.`,
    after: (status) => status === 401 && (device = null),
  },
  {
    title: t`List all users`,
    route: 'GET /admin/users',
    gate: "@Authenticated('admin')",
    label: t`Try with your own token`,
    run: () => send('GET', '/admin/users', { token: auth.session.token }),
    why: () =>
      t`Your token is fine, but not for this guard: administrators have their own accounts, tokens and sign-in.`,
  },
];

export async function orders() {
  const [{ answer: menu }, me] = await Promise.all([send('GET', '/orders/menu'), user()]);
  const mustConfirm = config.features.emailVerification && !me.email_verified;
  const outcome = h('div', { role: 'status' });
  let redraw;
  const list = await part('div', { 'aria-label': t`Your orders`, role: 'group' }, async (again) => {
    redraw = again;
    const { data } = await auth.request('GET', '/orders');
    const place = async (item) => {
      const refused = await auth.request('POST', '/orders', { item }).catch((error) => {
        if (!mustConfirm) throw error;
        return error;
      });
      if (refused instanceof Error) return outcome.replaceChildren(answer(refused.status, refused.message));
      outcome.replaceChildren();
      await again();
      say(t`Ordered: ${productOf(item)}.`);
    };
    return [
      h(
        'div',
        { class: 'equal' },
        menu.data.map((item) => button(t`Order ${productOf(item)}`, () => place(item), { class: 'second' })),
      ),
      data.length
        ? h(
            'ul',
            { class: 'orders' },
            data.toReversed().map((order) => row(order, again)),
          )
        : h('p', { class: 'empty' }, t`Nothing ordered yet.`),
    ];
  });
  return [
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'yours-heading' },
      h('h2', { id: 'yours-heading' }, t`Your orders`),
      route('POST /orders', "@Abilities('orders.write')"),
      h(
        'p',
        { class: 'muted' },
        mustConfirm
          ? nodes`Your token has the scope ${scope()}, but ${h('a', { href: '#/' }, t`confirm your email`)} first.`
          : nodes`Your token may do this: it has the scope ${scope()}.`,
      ),
      outcome,
      list,
    ),
    stronger(() => redraw()),
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'refused-heading' },
      h('h2', { id: 'refused-heading' }, t`Try a refused request`),
      h('ul', { class: 'refusals' }, REFUSALS.map(refusal)),
    ),
  ];
}

function row({ id, item, createdAt }, again) {
  const name = productOf(item);
  const cancelOrder = async () => {
    await auth.request('DELETE', `/orders/${id}`);
    await again();
    say(t`The order is cancelled.`);
  };
  return h(
    'li',
    {},
    h('div', {}, h('strong', {}, name), ' ', h('span', { class: 'muted' }, ago(createdAt))),
    button(t`Cancel order`, cancelOrder, { class: 'quiet', 'aria-label': t`Cancel order: ${name}` }),
  );
}

const scope = () => h('code', {}, auth.session.claims.scope);

/** One request that is refused, and after it the answer and its reason. */
function refusal({ title, route: name, gate, label, run, why, after }) {
  const outcome = h('div', { role: 'status' });
  const work = async () => {
    const { status, answer: told } = await run();
    after?.(status);
    outcome.replaceChildren(answer(status, told.message), h('p', { class: 'note' }, why(status)));
  };
  return h('li', {}, h('h3', {}, title), route(name, gate), button(label, work), outcome);
}
