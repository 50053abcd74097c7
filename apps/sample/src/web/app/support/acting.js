import { ago, h } from '../dom.js';
import { UNREACHABLE, button, say } from '../feedback.js';
import { openQuestion } from './question.js';
import { auth, nameOf } from './session.js';

const banner = document.getElementById('acting');

/** As whom the operator acts: `{ user, token, abilities, endsAt }`. The token is in the memory of this page only. */
let current = null;

const clock = () => {
  const seconds = Math.max(0, Math.ceil((current.endsAt - Date.now()) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};

/** The id of the session in which the operator acts; undefined without one. */
export const actingSession = () =>
  current && JSON.parse(atob(current.token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/'))).fid;

/** Why the operator cannot begin to act; undefined if that is possible. */
export const actsAlready = () => current && `You act as ${nameOf(current.user)} already. Stop that first.`;

const stopped = new Set();
/** @param listener is called after the end */
export const onStopped = (listener) => stopped.add(listener);

export function begin(user, { access_token: token, expires_in: seconds }, abilities) {
  current = { user, token, abilities, endsAt: Date.now() + seconds * 1000 };
  draw();
}

/** Forgets the token. The server has ended it, or does so now. */
export function forget() {
  current = null;
  draw();
}

function draw() {
  banner.hidden = !current;
  document.body.classList.toggle('acts', !!current);
  if (!current) return banner.replaceChildren();
  const { user, abilities } = current;
  banner.replaceChildren(
    h(
      'p',
      {},
      'You act as ',
      h('strong', {}, nameOf(user)),
      abilities.length ? ' with ' : ' without a scope',
      abilities.flatMap((name, i) => [i > 0 && ' and ', h('code', {}, name)]),
      '. It ends in ',
      h('span', { class: 'remaining', role: 'timer' }, clock()),
      '.',
    ),
    h(
      'p',
      { class: 'row' },
      button('Orders of the user', orders, { class: 'small' }),
      button('Stop acting', stop, { class: 'small' }),
    ),
  );
}

setInterval(() => {
  if (!current) return;
  if (current.endsAt > Date.now()) banner.querySelector('.remaining').textContent = clock();
  else over('The time to act as the user is over.');
}, 1000);

function over(text) {
  forget();
  say(text, 'plain');
  for (const listener of stopped) listener();
}

/** A request as the user. A token that has ended ends the acting here, too. */
async function asUser(method, path, body) {
  const headers = { Accept: 'application/json', Authorization: `Bearer ${current.token}` };
  if (body) headers['Content-Type'] = 'application/json';
  const init = { method, headers, credentials: 'omit', body: JSON.stringify(body) };
  const response = await fetch(path, init).catch(() => null);
  const text = await response?.text().catch(() => null);
  if (text === undefined || text === null) throw new Error(UNREACHABLE);
  if (response.status === 401) {
    document.querySelectorAll('dialog').forEach((dialog) => dialog.close());
    over('The acting has ended: the user or an operator has ended its session.');
    throw Object.assign(new Error(), { reason: 'signedOut' });
  }
  const answer = text ? JSON.parse(text) : null;
  if (!response.ok) throw new Error(answer.message);
  return answer;
}

async function stop() {
  const name = nameOf(current.user);
  // A logout with the token of the acting: the session of the operator goes on.
  await asUser('POST', '/auth/logout');
  over(`You no longer act as ${name}.`);
}

/** What the token may do in this application: see the orders, and order. What it may not do is refused, and the refusal is shown. */
async function orders() {
  const name = nameOf(current.user);
  const mayOrder = current.abilities.includes('orders.write');
  const list = h('div', { class: 'orders' });
  const refusal = h('p', { class: 'summary', role: 'alert' });
  const attempt = async (work) => {
    refusal.replaceChildren();
    await work().catch((error) => error.reason === 'signedOut' || refusal.append(`Refused: ${error.message}`));
  };
  const read = async () => {
    const { data } = await asUser('GET', '/orders');
    list.replaceChildren(
      data.length
        ? h(
            'ul',
            {},
            data.toReversed().map(({ item, createdAt }) => h('li', {}, item, ', ', ago(createdAt))),
          )
        : h('p', { class: 'muted' }, 'No order.'),
    );
  };
  const order = async () => {
    await asUser('POST', '/orders', { item: 'tea' });
    await read();
  };
  await attempt(read);
  if (!current) return;
  await openQuestion(
    `Orders of ${name}`,
    () => [
      h(
        'p',
        { class: 'note' },
        'These requests are sent as the user, and the application knows that they come from you.',
      ),
      list,
      refusal,
      h(
        'p',
        { class: 'row' },
        button('Order tea', () => attempt(order), { class: mayOrder && 'primary' }),
      ),
    ],
    'Close',
  );
}

auth.on('signedOut', forget);
