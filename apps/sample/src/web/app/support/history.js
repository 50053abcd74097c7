import { deviceOf } from '../device-name.js';
import { ago, h } from '../dom.js';
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
  const isActing = line.operation === 'auth.session.started' && line.actor === 'operator';
  const words = line.reason?.replaceAll('_', ' ');
  const reasons = line.outcome === 'failed' ? [detailOf(line), words] : [detailOf(line) ?? words];
  return [isActing ? 'Session of the support started' : titleOf(line), ...new Set(reasons.filter(Boolean))];
}

/** Which lines are attempts of the user to sign in. */
const isSignIn = ({ operation, actor }) =>
  (operation === 'auth.session.started' && actor === 'user') ||
  /^auth\.(login|email_code_login|passkey_login|identity_login|challenge)\.failed$/.test(operation);

const COLUMNS = ['When', 'What', 'By', 'From'];

const from = ({ ip, user_agent: agent }) =>
  ip || agent
    ? [agent && deviceOf(agent), agent && ip && ' ', agent && ip && h('br'), ip].filter(Boolean)
    : h('span', { class: 'muted nothing' }, '–');

const rowOf = (line, own) => {
  const { at, actor, actor_id: id, text } = line;
  const [title, ...reasons] = textsOf(line);
  return [
    ago(at),
    [
      h('span', { class: `what${isTheft(line) ? ' bad' : ''}` }, title),
      ...(isAction(line) && line.outcome === 'failed' ? [' ', badge('Failed', 'bad')] : []),
      ...reasons.map((reason) => h('span', { class: 'muted' }, ` · ${reason}`)),
      text && h('q', { class: 'words' }, text),
    ],
    actor === 'operator' && id === own
      ? 'You'
      : [
          isTheft(line) ? ACTORS.system : (ACTORS[actor] ?? actor),
          id && h('br'),
          id && h('code', { title: id }, id.slice(0, 8)),
        ],
    from(line),
  ];
};

const PAGE = 20;

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

/** The last attempts to sign in among the newest lines. */
export const lastSignIns = ({ lines }) => lines.filter(isSignIn);

export const signIns = (lines) =>
  section(
    'sign-ins',
    'Last sign-ins',
    {},
    lines.length
      ? table(
          'Last sign-ins',
          ['When', 'Outcome', 'From'],
          lines
            .slice(0, 5)
            .map((line) => [
              ago(line.at),
              line.outcome === 'failed'
                ? [
                    badge('Refused', 'bad'),
                    line.reason && h('span', { class: 'muted' }, ` ${line.reason.replaceAll('_', ' ')}`),
                  ]
                : badge('Signed in', 'good'),
              from(line),
            ]),
        )
      : none('No sign-in among the newest entries of the history.'),
  );

/** The history, which grows by a page at its end. */
export async function history(user, first) {
  const { id: own } = await me();
  const list = table(
    'History',
    COLUMNS,
    first.lines.map((line) => rowOf(line, own)),
  );
  let { next } = first;
  const older = async () => {
    const page = await pageOf(user, next).catch(async (error) => {
      throw await told(error);
    });
    const rows = page.lines.map((line) => tableRow(COLUMNS, rowOf(line, own)));
    rows[0]?.setAttribute('tabindex', '-1');
    list.tBodies[0].append(...rows);
    ({ next } = page);
    say(rows.length === 1 ? 'One older entry is shown.' : `${rows.length} older entries are shown.`, 'plain');
    // The button moves below the new rows, where the reading goes on.
    rows[0]?.focus({ preventScroll: true });
    if (!next) more.replaceWith(none('This is the beginning of the history.'));
  };
  const more = h('p', { class: 'row' }, button('Show older entries', older));
  return section(
    'history',
    'History',
    { note: 'What happened to this account, the newest first. Nothing here can be changed.' },
    first.lines.length ? list : none('Nothing yet.'),
    next && more,
  );
}
