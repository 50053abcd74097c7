import { printable } from '../../foundation/observability/security-log';
import type { ConsoleCommand } from '../../foundation/realm/feature';
import { LockRelease } from './lockout';

/** `svc:locks` */
export const LOCKS_COMMAND: ConsoleCommand = {
  description: 'list the accounts that are locked after failed attempts, at all guards',
  arguments: [],
  options: { '--json': 'print JSON' },
  async run(services, _given, { json }) {
    const locks = (await services.get(LockRelease).held()).map(({ guard, purpose, subject, seconds }) => ({
      guard,
      purpose,
      subject,
      seconds: Number.isFinite(seconds) ? seconds : null,
    }));
    if (json) return { done: JSON.stringify(locks) };
    const lines = locks.map(({ guard, purpose, subject, seconds }) =>
      // Anyone can type an identifier: it must not control the terminal.
      printable([guard, purpose, subject, seconds === null ? 'until released' : `${seconds} s`].join('  ')),
    );
    return { done: lines.join('\n') || 'No account is locked.' };
  },
};
