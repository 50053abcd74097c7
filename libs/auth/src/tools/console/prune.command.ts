import { Command, CommandRunner, Option } from 'nest-commander';
import { Pruning } from '../retention/pruning';
import { Application } from './application';
import { CommandRefused, reported } from './command-error';

interface PruneOptions {
  lockoutDays?: string;
}

/** Deletes expired and obsolete rows, and prints their numbers. */
@Command({ name: 'svc:prune', description: 'Delete rows that are of no more use' })
export class PruneCommand extends CommandRunner {
  constructor(private readonly application: Application) {
    super();
  }

  run(_arguments: string[], { lockoutDays }: PruneOptions = {}): Promise<void> {
    return reported(async () => {
      const days = lockoutDays === undefined ? undefined : wholeDays(lockoutDays);
      const pruned = await this.application.use((app) => app.get(Pruning, { strict: false }).runUnlessActive(days));
      if (!pruned) process.stdout.write('Another process is pruning these tables.\n');
      else
        process.stdout.write(
          `sessions: ${pruned.sessions}\nlockout counters: ${pruned.lockoutCounters}\npasskeys: ${pruned.passkeys}\nreset tokens: ${pruned.resetTokens}\nchanges of email: ${pruned.emailChanges}\nknown devices: ${pruned.knownDevices}\n` +
            `trusted devices: ${pruned.trustedDevices}\nopened links: ${pruned.emailDeliveries}\n`,
        );
    });
  }

  @Option({
    flags: '--lockout-days <days>',
    description: 'keep unlocked counters for so many days after their last failure (default: retention.lockoutDays)',
  })
  lockoutDays(days: string): string {
    return days;
  }
}

function wholeDays(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) > 0) return Number(text);
  throw new CommandRefused(`"${text}" is no number of days. Use a whole number, at least 1.`);
}
