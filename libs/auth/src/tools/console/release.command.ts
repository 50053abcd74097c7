import { Command, CommandRunner, Option } from 'nest-commander';
import { LOCK_PURPOSES, type LockPurpose, type Released } from '../../request/lockout/lockout.store';
import { LockRelease } from '../../request/lockout/lockout';
import { type RealmScope, Realms } from '../../foundation/realm/realm';
import { Application, type OpenApplication } from './application';
import { CommandRefused, reported } from './command-error';

interface ReleaseOptions {
  purpose?: string;
  guard?: string;
}

/** Releases an account that was locked after failed attempts. Exits with 1 if nothing was locked. */
@Command({
  name: 'svc:release',
  arguments: '<subject>',
  description: 'Release a locked account',
  argsDescription: { subject: 'the login identifier; for other purposes the id of the user' },
})
export class ReleaseCommand extends CommandRunner {
  constructor(private readonly application: Application) {
    super();
  }

  run([subject = '']: string[], { purpose = 'login', guard }: ReleaseOptions = {}): Promise<void> {
    return reported(async () => {
      if (!isPurpose(purpose)) {
        throw new CommandRefused(`"${purpose}" is no purpose. Use one of: ${LOCK_PURPOSES.join(', ')}.`);
      }
      const cleared = await this.application.use((app) =>
        scopeOf(app, guard).get(LockRelease).release(purpose, subject),
      );
      process.stdout.write(cleared.map(lineOf).join(''));
      if (cleared.some(isRelease)) return;
      const found = cleared.length ? 'is not locked' : 'has no counter';
      throw new CommandRefused(`Nothing was released: "${subject}" ${found} for ${purpose}.`);
    });
  }

  @Option({ flags: '--purpose <name>', description: `${LOCK_PURPOSES.join(', ')} (default: login)` })
  purpose(name: string): string {
    return name;
  }

  @Option({ flags: '--guard <name>', description: 'the guard of the account (default: the default guard)' })
  guard(name: string): string {
    return name;
  }
}

const isRelease = ({ lockedGuards }: Released): boolean => lockedGuards.length > 0;

function lineOf(cleared: Released): string {
  const { purpose, subject, lockedGuards } = cleared;
  if (!isRelease(cleared)) return `Cleared the failures of ${subject} (${purpose}), which was not locked.\n`;
  return `Released ${subject} (${purpose}, guard${lockedGuards.length > 1 ? 's' : ''} ${lockedGuards.join(', ')}).\n`;
}

const isPurpose = (name: string): name is LockPurpose => LOCK_PURPOSES.some((purpose) => purpose === name);

function scopeOf(app: Pick<OpenApplication, 'get'>, guard: string | undefined): RealmScope {
  const realms = app.get(Realms, { strict: false });
  const scope = guard === undefined ? realms.default : realms.all.find(({ realm }) => realm.guard === guard);
  if (scope) return scope;
  const declared = realms.all.map(({ realm }) => realm.guard).join(', ');
  throw new CommandRefused(`There is no guard "${guard}". Declared: ${declared}.`);
}
