import { errors, event, type manifest } from '../../kit';
import { type OperatorAct, OperatorActions } from './operator-actions';
import { OperatorView } from './operator-view';

type Run = manifest.ConsoleCommand['run'];
type Given = Parameters<Run>[2];

/** What changes an account, by the name on the console. */
const CHANGES: Readonly<Record<string, (actions: OperatorActions, act: OperatorAct, given: Given) => Promise<void>>> = {
  'end-sessions': (actions, act, { id }) => actions.endSessions(act, id ?? null),
  release: (actions, act) => actions.release(act),
  'remove-factor': (actions, act, { kind = '', id = '' }) => actions.removeCredential(act, kind, id),
  'require-reset': (actions, act) => actions.requirePassword(act),
  suspend: (actions, act, { until }) => actions.suspend(act, until ?? null),
  restore: (actions, act) => actions.restore(act),
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
  async run(services, [action = '', subject = ''], given) {
    if (!NAMES.includes(action)) return { refused: `"${action}" is no action. Use one of: ${NAMES.join(', ')}.` };
    const view = services.get(OperatorView);
    const found = (await view.exists(subject)) ? [subject] : (await view.find(subject)).map(({ id }) => String(id));
    const [userId, ...others] = found;
    if (userId === undefined) return { refused: `There is no user "${subject}".` };
    if (others.length) return { refused: `These users have it: ${found.join(', ')}. Name one by its id.` };
    const change = Object.hasOwn(CHANGES, action) && CHANGES[action];
    if (!change) return { done: await shown(view, action, userId, given) };
    const { reason = '', json } = given;
    if (!reason.trim()) return { refused: 'Say why: --reason "ticket 7".' };
    if (action === 'remove-factor' && !given.kind) return { refused: 'Say which: --kind, as "show" prints it.' };
    try {
      await change(services.get(OperatorActions), { userId, reason, operator: null }, given);
      return { done: json ? JSON.stringify({ user: userId, done: action }) : `Done: ${action} of ${userId}.` };
    } catch (error) {
      if (error instanceof errors.AuthException && error.getStatus() < 500) return { refused: error.message };
      throw error;
    }
  },
};

async function shown(view: OperatorView, action: string, userId: string, { json }: Given): Promise<string> {
  const { sessions, credentials, ...account } = await view.show(userId);
  if (json) return JSON.stringify(action === 'sessions' ? sessions : { ...account, sessions, credentials });
  const lines =
    action === 'sessions'
      ? sessions.map(({ id, last_used_at: used, ip, user_agent: agent, label }) =>
          [id, used, ip ?? '-', label ?? agent ?? '-'].join('  '),
        )
      : Object.entries({ ...account, sessions: sessions.length, ...credentials }).map(
          ([name, part]) => `${name}: ${JSON.stringify(part)}`,
        );
  // Texts of users must not control the terminal.
  return lines.map(event.printable).join('\n') || 'The user has no session.';
}
