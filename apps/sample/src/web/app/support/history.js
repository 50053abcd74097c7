import { deviceOf } from '../device-name.js';
import { WITHOUT_ZONE, ago, h, time } from '../dom.js';
import { inWords } from '../event-name.js';
import { button, say } from '../feedback.js';
import { badge } from '../items.js';
import { detailOf, isTheft, linesBefore, titleOf } from '../views/history-lines.js';
import { told } from './actions.js';
import { none, section, table, tableRow } from './table.js';
import { me, operators } from './session.js';

/** What an operator did. */
const ACTIONS = {
  end_sessions: 'Sessions signed out',
  release: 'Locks released',
  remove_credential: 'Credential removed',
  require_password: 'New password required',
  suspend: 'Suspended',
  restore: 'Restored',
  act: 'Acted as the user',
};

const ACTORS = { user: 'User', host: 'Application', console: 'Console', system: 'System', operator: 'Operator' };

const isAction = ({ operation }) => operation === 'auth.operator.acted';

/** What the line says; and why, in words of the page or of the security log. */
function textsOf(line) {
  if (isAction(line)) return [ACTIONS[line.reason] ?? inWords(line.reason)];
  const words = PURPOSES[line.reason]?.toLowerCase() ?? line.reason?.replaceAll('_', ' ');
  const reasons = line.outcome === 'failed' ? [detailOf(line), words] : [detailOf(line) ?? words];
  return [titleOf(line), ...new Set(reasons.filter(Boolean))];
}

const ATTEMPT = /^auth\.(login|email_code_login|passkey_login|identity_login|challenge)\.failed$/;

/** Which lines are attempts of the user to sign in. */
const isSignIn = ({ operation, actor }) =>
  (operation === 'auth.session.started' && actor === 'user') || ATTEMPT.test(operation);

/** Who did it. Nobody knows who sent what was refused. */
function actorOf(line) {
  const { operation, actor } = line;
  if (isTheft(line)) return ACTORS.system;
  if (ATTEMPT.test(operation) || /^auth\.(refresh\.failed|bound_token\.refused)$/.test(operation)) return 'Unknown';
  return ACTORS[actor] ?? actor;
}

/** What failed attempts were about. */
export const PURPOSES = {
  login: 'Sign-in with the password',
  two_factor: 'Second factor',
  confirm: 'Confirmation',
};

const COLUMNS = ['When', 'What', 'By', 'From'];

const from = ({ ip, user_agent: agent }) =>
  ip || agent
    ? h(
        'span',
        { class: 'parts' },
        [agent && deviceOf(agent), ip].filter(Boolean).map((part) => h('span', {}, part)),
      )
    : h('span', { class: 'muted nothing' }, '–');

const rowOf = (line, own) => {
  const { at, actor, actor_id: id, text } = line;
  const [title, ...reasons] = textsOf(line);
  return [
    [time(at, WITHOUT_ZONE), h('span', { class: 'since' }, ago(at))],
    [
      h('span', { class: `what${isTheft(line) ? ' bad' : ''}` }, title),
      ...(isAction(line) && line.outcome === 'failed' ? [' ', badge('Failed', 'bad')] : []),
      ...reasons.map((reason) => h('span', { class: 'muted' }, ` · ${reason}`)),
      text && h('q', { class: 'words' }, text),
    ],
    actor === 'operator' && id === own
      ? 'You'
      : [actorOf(line), ...(id ? [' ', h('code', { title: id }, id.slice(0, 8))] : [])],
    from(line),
  ];
};

const PAGE = 10;
/** The most pages that are read for the first sign-in. */
const MOST = 10;

const pageOf = (user, next) =>
  linesBefore(
    (before) =>
      operators(
        'GET',
        `/users/${encodeURIComponent(user.id)}/history?limit=${PAGE}${before ? `&before=${before}` : ''}`,
      ),
    next,
  );

/** The newest lines. An account without a history has none. */
export const newest = (user) => pageOf(user);

/** The history, which grows by a page at its end. */
export async function history(user, first) {
  const { id: own } = await me();
  const rowsOf = ({ lines }) =>
    lines.map((line) => {
      const row = tableRow(COLUMNS, rowOf(line, own));
      row.classList.toggle('sign-in', isSignIn(line));
      return row;
    });
  const list = table('History', COLUMNS, []);
  list.tBodies[0].append(...rowsOf(first));
  let { next } = first;
  const load = async () => {
    const page = await pageOf(user, next).catch(async (error) => {
      throw await told(error);
    });
    const read = rowsOf(page);
    list.tBodies[0].append(...read);
    ({ next } = page);
    if (!next) more.replaceWith(none('This is the beginning of the history.'));
    return read;
  };
  const find = async (pages) => {
    if (!pages || !next || list.querySelector('.sign-in')) return;
    await load();
    await find(pages - 1);
  };
  const older = async () => {
    const read = await load();
    const rows = filter.ariaPressed === 'true' ? read.filter((row) => row.matches('.sign-in')) : read;
    rows[0]?.setAttribute('tabindex', '-1');
    const count = rows.length === 1 ? 'One older entry is' : `${rows.length || 'No'} older entries are`;
    say(`${count} shown.`, 'plain');
    // The button moves below the new rows, where the reading goes on.
    rows[0]?.focus({ preventScroll: true });
  };
  const filter = button(
    'Only sign-ins',
    async () => {
      filter.ariaPressed = String(filter.ariaPressed !== 'true');
      list.classList.toggle('filtered', filter.ariaPressed === 'true');
      await find(MOST);
      if (!list.querySelector('.sign-in')) say('No sign-in is among the entries shown.', 'plain');
    },
    { class: 'small', 'aria-pressed': 'false' },
  );
  const more = h('p', { class: 'row' }, button('Show older entries', older));
  return section(
    'history',
    'History',
    {
      note: 'What happened to this account, the newest first. Nothing here can be changed.',
      action: first.lines.length > 0 && filter,
    },
    first.lines.length ? list : none('Nothing yet.'),
    next && more,
  );
}
