import { deviceOf, distinct } from '../device-name.js';
import { ago, h } from '../dom.js';
import { capital } from '../event-name.js';
import { act, actionButton } from './actions.js';
import { section, table } from './table.js';

const when = (at) => (at ? ago(at) : 'never');

/** Times of passkeys are unix seconds. */
const whenUnix = (at) => (at === null ? 'never' : ago(at * 1000));

const two = ({ two_factor: factor }) => (factor?.enabled ? [{ ...factor, id: undefined }] : []);

/**
 * The parts of the account by their members of `credentials`: heading, columns, the name of a row and what else is in it, and what
 * a removal means. A part without a `text` about it can only be seen. Its `verbs` are those of the button and of the toast.
 */
const PARTS = [
  {
    id: 'factors',
    title: 'Second factor',
    member: 'two_factor',
    rows: two,
    columns: ['Factor', 'Since'],
    name: () => 'Authenticator app',
    row: ({ confirmed_at: at }) => [when(at)],
    of: () => 'the authenticator app',
    text: 'The recovery codes go with it. The user signs in with the password alone, until a new factor is set up. Be sure who asks.',
    empty: 'no authenticator app',
  },
  {
    id: 'passkeys',
    title: 'Passkeys',
    member: 'passkeys',
    rows: ({ passkeys = [] }) => passkeys.map((one) => ({ ...one, id: one.credential_id })),
    columns: ['Passkey', 'Last used'],
    name: ({ name }) => name ?? 'Without a name',
    row: ({ last_used_at: at }) => [whenUnix(at)],
    of: (name) => `the passkey ${name}`,
    verbs: ['Delete', 'Deleted'],
    text: 'It no longer signs in, and the sessions that it has started end.',
    empty: 'no passkey',
  },
  {
    id: 'identities',
    title: 'Linked accounts',
    member: 'identities',
    rows: ({ identities = [] }) => identities,
    columns: ['Provider', 'Email there', 'Linked', 'Last used'],
    name: ({ provider }) => provider,
    row: ({ email, linked_at: since, last_used_at: at }) => [email ?? '–', when(since), when(at)],
    of: (name) => `the account at ${name}`,
    text: 'The user can no longer sign in with it, and the sessions that it has started end.',
    empty: 'no linked account',
  },
  {
    id: 'access-keys',
    title: 'Access keys',
    member: 'access_keys',
    rows: ({ access_keys: keys = [] }) => keys,
    columns: ['Key', 'Scopes', 'Created', 'Last used', 'Expires'],
    name: ({ label }) => label,
    row: ({ abilities, created_at: since, last_used_at: at, expires_at: end }) => [
      h(
        'span',
        { class: 'names' },
        abilities.map((name) => h('code', {}, name)),
      ),
      when(since),
      when(at),
      end ? ago(end) : 'never',
    ],
    of: (name) => `the access key ${name}`,
    verbs: ['Revoke', 'Revoked'],
    text: 'Scripts that use it are refused at once.',
    empty: 'no access key',
  },
  {
    id: 'trusted',
    title: 'Trusted devices',
    member: 'trusted_devices',
    rows: ({ trusted_devices: devices = [] }) => devices,
    columns: ['Device', 'Trusted', 'Ends'],
    name: ({ user_agent: agent }) => deviceOf(agent),
    row: ({ created_at: since, expires_at: end }) => [when(since), when(end)],
    of: (name) => `the trust in ${name}`,
    danger: false,
    text: 'The next sign-in on it needs the second factor again.',
    empty: 'no trusted device',
  },
  {
    id: 'devices',
    title: 'Known devices',
    member: 'known_devices',
    rows: ({ known_devices: devices = [] }) => devices,
    columns: ['Device', 'Last sign-in', 'First sign-in'],
    name: ({ user_agent: agent }) => deviceOf(agent),
    row: ({ last_seen_at: last, first_seen_at: first }) => [when(last), when(first)],
    empty: 'no known device',
  },
];

const partsOf = ({ credentials: all }) =>
  PARTS.filter(({ member }) => all[member] !== undefined).map((part) => ({ ...part, held: part.rows(all) }));

/** What the account has beside sessions. */
export const credentials = (view) =>
  partsOf(view)
    .filter(({ held }) => held.length)
    .map((part) => shown(view, part));

/** What it does not have, in one sentence. What the server does not have is not named. */
export function missing(view) {
  const names = partsOf(view)
    .filter(({ held }) => !held.length)
    .map(({ empty }) => empty);
  const text = [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' and ');
  return text && `${capital(text)}.`;
}

function shown(view, part) {
  const { id, title, name, columns, held, text } = part;
  const names = distinct(held.map(name));
  return section(
    id,
    title,
    {},
    table(
      title,
      text ? [...columns, ''] : columns,
      held.map((one, i) => [
        h('strong', {}, names[i]),
        ...part.row(one),
        ...(text ? [remover(view, part, one, part.of(names[i]))] : []),
      ]),
    ),
  );
}

function remover(view, part, one, named) {
  const { member: kind, text, danger = true, verbs: [verb, past] = ['Remove', 'Removed'] } = part;
  const remove = () =>
    act(view, {
      title: `${verb} ${named}?`,
      text,
      label: verb,
      danger,
      ability: 'credentials',
      path: 'remove-credential',
      bodyOf: (values) => ({ ...values, kind, ...(one.id && { credential: one.id }) }),
      done: `${past}: ${named}.`,
    });
  return actionButton(verb, 'credentials', remove, {
    class: danger ? 'small danger' : 'small',
    'aria-label': `${verb} ${named}`,
  });
}
