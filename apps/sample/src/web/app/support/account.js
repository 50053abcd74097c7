import { deviceOf, distinct } from '../device-name.js';
import { ago, h, time } from '../dom.js';
import { badge } from '../items.js';
import { copyButton } from '../feedback.js';
import { act, actionButton } from './actions.js';
import { actingSession, actsAlready, begin } from './acting.js';
import { credentials, missing } from './credentials.js';
import { PURPOSES, history, newest } from './history.js';
import { can, config, nameOf, operators } from './session.js';
import { none, section, table } from './table.js';

/** The account of a user: `again()` shows it as it is now. */
export async function account(id, again) {
  const shown = await operators('GET', `/users/${encodeURIComponent(id)}`);
  const lines = await newest(shown.user);
  const view = { ...shown, again };
  const open = view.sessions.length > 0;
  const closed = view.locks.length + view.limits.length > 0;
  const nothing = [
    !open && 'No open session.',
    !closed && 'Nothing is locked, and no failed attempt counts.',
    missing(view),
  ].filter(Boolean);
  return [
    card(view),
    open && sessions(view),
    closed && protection(view),
    ...credentials(view),
    nothing.length > 0 && section('nothing', 'Also checked', {}, none(nothing.join(' '))),
    await history(shown.user, lines),
  ];
}

/** How long a lock lasts, or a time from now. */
const inTime = (seconds) => ago(Date.now() + seconds * 1000);

const fact = (what, ...value) => h('div', {}, h('dt', {}, what), h('dd', {}, value));

function card(view) {
  const { user, suspension, locks, sessions: open, credentials: held } = view;
  const name = nameOf(user);
  const state = suspension
    ? badge('Suspended', 'bad')
    : locks.length
      ? badge('Locked', 'bad')
      : badge('Active', 'good');
  return h(
    'section',
    { class: 'card account', 'aria-labelledby': 'account-heading' },
    h(
      'div',
      { class: 'owner' },
      h('span', { class: 'initial', 'aria-hidden': 'true' }, [...name][0].toUpperCase()),
      h(
        'div',
        {},
        h('h1', { id: 'account-heading', tabindex: -1 }, name),
        h(
          'p',
          { class: 'id' },
          h('code', {}, String(user.id)),
          copyButton('Copy id', String(user.id), { class: 'quiet' }),
        ),
        h(
          'p',
          { class: 'badges' },
          state,
          user.email_verified === false && badge('Email not confirmed', 'bad'),
          user.email_verified && badge('Email confirmed'),
          badge(held.two_factor?.enabled ? 'Two-factor on' : 'Two-factor off'),
        ),
      ),
      h(
        'p',
        { class: 'row deeds' },
        actionButton('Act as user', 'act', () => actAs(view), { prevented: actsAlready() }),
        actionButton('Require new password', 'passwords', () => requirePassword(view)),
        actionButton(suspension ? 'Change suspension' : 'Suspend', 'suspensions', () => suspend(view), {
          class: 'danger',
        }),
      ),
    ),
    suspension && suspended(view),
    h(
      'dl',
      { class: 'facts' },
      view.created_at && fact('Created', ago(view.created_at)),
      fact('Last sign-in', view.last_sign_in_at ? ago(view.last_sign_in_at) : 'unknown'),
      fact('Password', view.has_password ? 'set' : 'none'),
      held.two_factor?.enabled &&
        held.recovery_codes !== undefined &&
        fact('Recovery codes', String(held.recovery_codes)),
      fact('Open sessions', String(open.length)),
      fact('Passkeys', String(held.passkeys?.length ?? 0)),
      fact('Access keys', String(held.access_keys?.length ?? 0)),
    ),
    !['act', 'passwords', 'suspensions'].every(can) &&
      h('p', { class: 'note' }, 'Your role cannot use the greyed-out actions. Ask an administrator.'),
  );
}

function suspended(view) {
  const { suspended_at: since, ends_at: end, reason } = view.suspension;
  return h(
    'div',
    { class: 'state bad', role: 'group', 'aria-label': 'Suspension' },
    h(
      'div',
      {},
      h(
        'p',
        {},
        h('strong', {}, 'Suspended '),
        ago(since),
        end ? [', until ', time(end), '.'] : ', until an operator restores it.',
        ' The user cannot sign in, and access keys are refused.',
      ),
      h('q', { class: 'words' }, reason),
    ),
    actionButton('Restore', 'suspensions', () => restore(view), { class: 'primary' }),
  );
}

const restore = (view) =>
  act(view, {
    title: 'Restore the account?',
    text: 'The user can sign in again. Sessions that have ended stay ended.',
    label: 'Restore account',
    ability: 'suspensions',
    path: 'restore',
    danger: false,
    done: 'The account is restored.',
  });

/** A time that the operator types in the own time zone. */
const UNTIL = {
  name: 'until',
  label: 'End (optional)',
  type: 'datetime-local',
  required: false,
  hint: 'In your time zone. Without an end, it lasts until an operator restores the account.',
};

const suspend = (view) =>
  act(view, {
    title: view.suspension ? 'Change the suspension?' : 'Suspend the account?',
    text: 'All sessions end at once, and no new one starts. Access keys are refused while it lasts. The user gets an email.',
    label: view.suspension ? 'Change suspension' : 'Suspend account',
    ability: 'suspensions',
    path: 'suspend',
    fields: [UNTIL],
    bodyOf: ({ reason, until }) => ({ reason, ...(until && { until: new Date(until).toISOString() }) }),
    repeat: 'The suspension may be stored already, and a session may be open for some minutes.',
    done: 'The account is suspended, and its sessions have ended.',
  });

const requirePassword = (view) =>
  act(view, {
    title: 'Require a new password?',
    text: 'The password stops working and all sessions end. The user gets a link by email to choose a new one.',
    label: 'Require new password',
    ability: 'passwords',
    path: 'require-password',
    danger: false,
    done: 'The password no longer works. A link was mailed to the user.',
  });

/** What an ability lets the operator do, in this application. */
const ALLOWS = { 'orders.read': 'See the orders', 'orders.write': 'Order for the user' };

function actAs(view) {
  const { abilities: offered, seconds: most } = config.acting;
  const minutes = Math.floor(most / 60);
  const chosen = (values) => offered.filter((name) => values[name]);
  return act(view, {
    title: 'Act as the user?',
    text: 'You get an access token of the user, which cannot change the account. The user gets an email, and sees the session.',
    label: 'Act as user',
    ability: 'act',
    path: 'act',
    danger: false,
    fields: [
      ...offered.map((name, i) => ({
        name,
        type: 'checkbox',
        label: ALLOWS[name] ?? name,
        hint: name,
        checked: i === 0,
      })),
      minutes > 1 && {
        name: 'minutes',
        label: 'Minutes',
        type: 'number',
        min: 1,
        max: minutes,
        value: Math.min(5, minutes),
        hint: `At most ${minutes}. It also ends when you sign out.`,
      },
    ],
    bodyOf: ({ reason, minutes: given, ...values }) => ({
      reason,
      abilities: chosen(values),
      ...(given && { seconds: Number(given) * 60 }),
    }),
    onDone: (answer, values) => begin(view.user, answer, chosen(values)),
    done: 'You act as the user now. The line at the top shows what you may do.',
  });
}

function sessions(view) {
  const open = view.sessions;
  const acting = actingSession();
  const all = () =>
    act(view, {
      title: 'Sign out all sessions?',
      text: 'The user is signed out everywhere, at once. Passwords, passkeys and keys stay.',
      label: 'Sign out all',
      ability: 'sessions',
      path: 'end-sessions',
      bodyOf: (values) => ({ ...values, all: true }),
      done: 'All sessions are signed out.',
    });
  const end = ({ id }, name) =>
    act(view, {
      title: `Sign out ${name}?`,
      text: 'Its next request is refused, however long its token would have lived.',
      label: 'Sign out',
      ability: 'sessions',
      path: 'end-sessions',
      danger: false,
      bodyOf: (values) => ({ ...values, session: id }),
      done: `Signed out: ${name}.`,
    });
  const names = distinct(open.map(({ label, user_agent: agent }) => label ?? deviceOf(agent)));
  const row = (one, i) => {
    const name = names[i];
    return [
      [h('strong', {}, name), ...(one.id === acting ? [' ', badge('you', 'good')] : [])],
      ago(one.last_used_at),
      ago(one.created_at),
      one.ip ?? '–',
      ago(one.expires_at),
      actionButton('Sign out', 'sessions', () => end(one, name), {
        class: 'small',
        'aria-label': `Sign out ${name}`,
      }),
    ];
  };
  return section(
    'sessions',
    'Sessions',
    { action: actionButton('Sign out all', 'sessions', all, { class: 'small danger' }) },
    table('Sessions', ['Device', 'Last used', 'Signed in', 'IP address', 'Ends', ''], open.map(row)),
  );
}

/** What a limit in a period counts. */
const LIMITS = {
  'account-failures': 'Sign-ins, from all clients',
  '2fa-challenge': 'Codes and passkeys after the password',
};

function protection(view) {
  const { locks, limits } = view;
  const release = () =>
    act(view, {
      title: 'Release locks and limits?',
      text: 'Failed attempts are forgotten, so that the user can try again at once. So can a person who guesses the password.',
      label: 'Release',
      ability: 'locks',
      path: 'release',
      danger: false,
      done: 'Locks and limits are released.',
    });
  return section(
    'protection',
    'Locks and limits',
    { action: actionButton('Release', 'locks', release, { class: 'small second' }) },
    table(
      'Locks and limits',
      ['What', 'State', 'Ends'],
      [
        ...locks.map(({ purpose, seconds }) => [
          PURPOSES[purpose] ?? purpose,
          badge('Locked', 'bad'),
          seconds === null ? 'when it is released' : inTime(seconds),
        ]),
        ...limits.map(({ name, failures, most, seconds }) => [
          LIMITS[name] ?? name,
          [failures >= most && [badge('Closed', 'bad'), ' '], `${failures} of ${most} failures`].flat().filter(Boolean),
          inTime(seconds),
        ]),
      ],
    ),
  );
}
