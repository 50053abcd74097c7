import { Command, CommandRunner, Option } from 'nest-commander';
import { FEATURES } from '../../features';
import { type Pruned, pruneStages } from '../../foundation/realm/feature-data';
import { Pruning, PruningFailed } from '../retention/pruning';
import { Application } from './application';
import { CommandRefused, reported } from './command-error';

interface PruneOptions {
  lockoutDays?: string;
}

/** Deletes expired and obsolete rows, and prints their numbers, also those of a sweep of which a stage fails. */
@Command({ name: 'svc:prune', description: 'Delete rows that are of no more use' })
export class PruneCommand extends CommandRunner {
  constructor(private readonly application: Application) {
    super();
  }

  run(_arguments: string[], { lockoutDays }: PruneOptions = {}): Promise<void> {
    return reported(async () => {
      const days = lockoutDays === undefined ? undefined : wholeDays(lockoutDays);
      try {
        const pruned = await this.application.use((app) => app.get(Pruning, { strict: false }).runUnlessActive(days));
        process.stdout.write(pruned ? numbersOf(pruned) : 'Another process is pruning these tables.\n');
      } catch (error) {
        // The rows of the stages that passed are deleted.
        if (error instanceof PruningFailed) process.stdout.write(numbersOf(error.pruned));
        throw error;
      }
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

const numbersOf = (pruned: Partial<Pruned>): string =>
  pruneStages(FEATURES)
    .filter(([stage]) => stage in pruned)
    .map(([stage, { title }]) => `${title}: ${pruned[stage]}\n`)
    .join('');

function wholeDays(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) > 0) return Number(text);
  throw new CommandRefused(`"${text}" is no number of days. Use a whole number, at least 1.`);
}
