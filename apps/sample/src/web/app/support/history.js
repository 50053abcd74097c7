import { deviceOf } from '../device-name.js';
import { ago, h } from '../dom.js';
import { inWords } from '../event-name.js';
import { button, say } from '../feedback.js';
import { badge } from '../items.js';
import { told } from './actions.js';
import { none, section, table, tableRow } from './table.js';
import { me, operators } from './session.js';

/** What a line of the history says, by the name of the security log. */
const OPERATIONS = {
  'auth.session.started': 'Signed in',
  'auth.session.ended': 'Session ended',
  'auth.logout.succeeded': 'Signed out',
  'auth.login.failed': 'Sign-in refused',
  'auth.login.challenged': 'Password correct, second factor asked',
  'auth.login_challenge.failed': 'Second factor refused',
  'auth.login_with_code.failed': 'Mailed code refused',
  'auth.passkey_login.failed': 'Passkey refused',
  'auth.confirm_password.failed': 'Confirmation refused',
  'auth.account.locked': 'Locked after failed attempts',
  'auth.account.failures_cleared': 'Failed attempts cleared',
  'auth.register.succeeded': 'Account created',
  'auth.device.trusted': 'Device trusted',
  'auth.email.verified': 'Email confirmed',
  'auth.email.changed': 'Email changed',
  'auth.email.change_undone': 'Change of the email undone',
  'auth.identity.linked': 'Account at a provider linked',
  'auth.identity.unlinked': 'Account at a provider unlinked',
  'auth.passkey.added': 'Passkey added',
  'auth.passkey.removed': 'Passkey removed',
  'auth.password_change.succeeded': 'Password changed',
  'auth.password_forgot.succeeded': 'Link for a new password asked for',
  'auth.password_reset.succeeded': 'Password chosen by link',
  'auth.recovery_code.used': 'Recovery code used',
  'auth.recovery_codes.replaced': 'Recovery codes replaced',
  'auth.refresh_token.reused': 'Refresh token used twice',
  'auth.sign_in.reported': 'Sign-in reported as unknown',
  'auth.two_factor.enabled': 'Two-factor turned on',
  'auth.two_factor.disabled': 'Two-factor turned off',
  'auth.access_key.created': 'Access key created',
  'auth.access_key.revoked': 'Access key revoked',
};

/** What an operator did. */
const ACTIONS = {
  end_sessions: 'Sessions ended',
  release: 'Locks released',
  remove_credential: 'Credential removed',
  require_password: 'New password required',
  suspend: 'Suspended',
  restore: 'Restored',
  act: 'Acted as the user',
};

/** Why something was refused, or why a session ended. The other reasons of the security log are words already. */
const REASONS = {
  logout: 'signed out',
  operator: 'by the support',
  others: 'by “sign out others”',
  revoked: 'ended by the user or the application',
  reuse: 'its refresh token was stolen',
  cap: 'too many sessions',
  idle: 'not used',
};

const because = (reason) => REASONS[reason] ?? reason.replaceAll('_', ' ');

const ACTORS = { user: 'User', host: 'Application', console: 'Console', system: 'System', operator: 'Operator' };

function titleOf({ operation, reason, actor }) {
  if (operation === 'auth.operator.acted') return ACTIONS[reason] ?? inWords(reason);
  if (operation === 'auth.session.started' && actor === 'operator') return 'Session of the support started';
  return OPERATIONS[operation] ?? inWords(operation);
}

/** Which lines are attempts of the user to sign in. */
const isSignIn = ({ operation, actor }) =>
  (operation === 'auth.session.started' && actor === 'user') ||
  /^auth\.(login|passkey_login|login_challenge)\w*\.failed$/.test(operation);

const COLUMNS = ['When', 'What', 'By', 'From'];

const from = ({ ip, user_agent: agent }) =>
  ip || agent
    ? [agent && deviceOf(agent), agent && ip && ' ', agent && ip && h('br'), ip].filter(Boolean)
    : h('span', { class: 'muted nothing' }, '–');

const rowOf = (line, own) => {
  const { at, operation, outcome, reason, actor, actor_id: id, text } = line;
  const isActed = operation === 'auth.operator.acted';
  return [
    ago(at),
    [
      h('span', { class: 'what' }, titleOf(line)),
      outcome === 'failed' && ' ',
      outcome === 'failed' && badge('failed', 'bad'),
      !isActed && reason && h('span', { class: 'muted' }, ` · ${because(reason)}`),
      text && h('q', { class: 'words' }, text),
    ],
    actor === 'operator' && id === own
      ? 'You'
      : [ACTORS[actor] ?? actor, id && h('br'), id && h('code', { title: id }, id.slice(0, 8))],
    from(line),
  ];
};

const PAGE = 20;

const pageOf = (user, before = '') =>
  operators('GET', `/users/${encodeURIComponent(user.id)}/history?limit=${PAGE}${before && `&before=${before}`}`);

/** The newest lines. An account without a history has none. */
export const newest = (user) => pageOf(user);

/** The last attempts to sign in among the newest lines. */
export const lastSignIns = ({ data }) => data.filter(isSignIn);

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
                ? [badge('refused', 'bad'), line.reason && h('span', { class: 'muted' }, ` ${because(line.reason)}`)]
                : badge('signed in', 'good'),
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
    first.data.map((line) => rowOf(line, own)),
  );
  let { next } = first;
  const older = async () => {
    const page = await pageOf(user, next).catch(async (error) => {
      throw await told(error);
    });
    const rows = page.data.map((line) => tableRow(COLUMNS, rowOf(line, own)));
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
    first.data.length ? list : none('Nothing yet.'),
    next && more,
  );
}
