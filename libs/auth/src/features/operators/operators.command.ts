import { errors, event, type manifest } from '../../kit';
import { type OperatorAct, OperatorActions } from './operator-actions';
import { OperatorView } from './operator-view';

type Answer = Awaited<ReturnType<manifest.ConsoleCommand['run']>>;
type Services = Parameters<manifest.ConsoleCommand['run']>[0];
type Given = Parameters<manifest.ConsoleCommand['run']>[2];

/** Changes an account, and returns what was done. */
type Change = (actions: OperatorActions, act: OperatorAct, given: Given) => Promise<string>;

const CHANGES: Readonly<Record<string, Change>> = {
  'end-sessions': async (actions, act, { id }) => {
    await actions.endSessions(act, id ?? null);
    return id ? `Ended the session ${id}.` : 'Ended all sessions.';
  },
  release: async (actions, act) => {
    await actions.release(act);
    return 'Released the locks and the limits.';
  },
  'remove-factor': async (actions, act, { kind = '', id = '' }) => {
    await actions.removeCredential(act, kind, id);
    return `Removed ${[kind, id].filter(Boolean).join(' ')}.`;
  },
  'require-reset': async (actions, act) => {
    await actions.requirePassword(act);
    return 'The password is unusable. The owner gets a link to choose a new one.';
  },
  suspend: async (actions, act, { until }) => {
    await actions.suspend(act, until ?? null);
    return `Suspended ${until ? `until ${until}` : 'without an end'}.`;
  },
  restore: async (actions, act) => {
    await actions.restore(act);
    return 'The user may sign in again.';
  },
};

const NAMES = ['show', 'sessions', ...Object.keys(CHANGES)];

/** `svc:user <action> <subject>` */
export const USER_COMMAND: manifest.ConsoleCommand = {
  description: 'show and change the account of a user',
  arguments: [
    { name: 'action', description: NAMES.join(', ') },
    { name: 'subject', description: 'the id of the user, or the identifier' },
  ],
  options: {
    '--reason <text>': 'why; every change needs it',
    '--id <id>': 'one session (end-sessions), or a credential (remove-factor)',
    '--kind <name>': 'the kind of the credential, as show prints it (remove-factor)',
    '--until <time>': 'the end of the suspension, as 2027-01-31T12:00:00Z (suspend)',
    '--json': 'print JSON',
    '--yes': 'change without a question',
  },
  question: ([action, subject], { yes }) =>
    yes || !Object.hasOwn(CHANGES, action ?? '') ? null : `${action} of ${subject}: are you sure?`,
  async run(services, [action = '', subject = ''], given): Promise<Answer> {
    if (!NAMES.includes(action)) return { refused: `"${action}" is no action. Use one of: ${NAMES.join(', ')}.` };
    const userId = await idOf(services, subject);
    if (userId === null) return { refused: `There is no user "${subject}".` };
    // Texts of users must not control the terminal.
    if (!Object.hasOwn(CHANGES, action))
      return { done: (await shown(services, action, userId, given)).split('\n').map(event.printable).join('\n') };
    const { reason = '', json } = given;
    if (!reason.trim()) return { refused: 'Say why: --reason "ticket 7".' };
    try {
      const done = await CHANGES[action]!(services.get(OperatorActions), { userId, reason, operator: null }, given);
      return { done: json ? JSON.stringify({ user: userId, done }) : done };
    } catch (error) {
      if (error instanceof errors.AuthException && error.getStatus() < 500) return { refused: error.message };
      throw error;
    }
  },
};

/** The id of the user that a text names: first as an id, then as an identifier. */
async function idOf(services: Services, subject: string): Promise<string | null> {
  const view = services.get(OperatorView);
  const found = (await view.exists(subject)) ? subject : (await view.find(subject))[0]?.id;
  return found === undefined ? null : String(found);
}

async function shown(services: Services, action: string, userId: string, { json }: Given): Promise<string> {
  const account = await services.get(OperatorView).show(userId);
  const chosen = action === 'sessions' ? account.sessions : account;
  if (json) return JSON.stringify(chosen);
  if (action === 'sessions')
    return (
      account.sessions
        .map(({ id, last_used_at: used, ip, user_agent: agent, label }) =>
          [id, used, ip ?? '-', label ?? agent ?? '-'].join('  '),
        )
        .join('\n') || 'The user has no session.'
    );
  const { user, suspension, locks, limits, sessions, credentials } = account;
  return [
    `${user.id}  ${user.identifier ?? '-'}  ${user.email ?? '-'}  ${user.email_verified ? 'verified' : 'not verified'}`,
    `suspended: ${suspension ? `${suspension.reason} (until ${suspension.ends_at ?? 'restored'})` : 'no'}`,
    `locks: ${locks.map(({ purpose, seconds }) => `${purpose} (${seconds ?? 'until released'})`).join(', ') || 'none'}`,
    `limits: ${limits.map(({ name, failures, most, seconds }) => `${name} ${failures} of ${most} (${seconds})`).join(', ') || 'none'}`,
    `sessions: ${sessions.length}`,
    ...Object.entries(credentials).map(([name, part]) => `${name}: ${JSON.stringify(part)}`),
  ].join('\n');
}
