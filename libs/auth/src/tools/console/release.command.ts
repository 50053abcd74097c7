import { Command, CommandRunner, Option } from 'nest-commander';
import { LOCK_PURPOSES, type LockPurpose } from '../../request/lockout/lockout.store';
import { LockRelease } from '../../request/lockout/lock-release';
import { type RealmScope, Realms } from '../../foundation/realm/realm';
import { Application, type OpenApplication } from './application';
import { CommandRefused, reported } from './command-error';

interface ReleaseOptions {
  purpose?: string;
  guard?: string;
}

/** Releases an account that was locked after failed attempts. */
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
      const released = await this.application.use(async (app) => {
        const scope = scopeOf(app, guard);
        const keys = await scope.get(LockRelease).release(purpose, subject);
        return keys.map((key) => `Released ${key.subject} (${key.purpose}, guard ${scope.realm.guard}).\n`);
      });
      if (!released.length)
        throw new CommandRefused(`Nothing was released: "${subject}" has no counter for ${purpose}.`);
      process.stdout.write(released.join(''));
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

const isPurpose = (name: string): name is LockPurpose => LOCK_PURPOSES.some((purpose) => purpose === name);

function scopeOf(app: Pick<OpenApplication, 'get'>, guard: string | undefined): RealmScope {
  const realms = app.get(Realms, { strict: false });
  const scope = guard === undefined ? realms.default : realms.all.find(({ realm }) => realm.guard === guard);
  if (scope) return scope;
  const declared = realms.all.map(({ realm }) => realm.guard).join(', ');
  throw new CommandRefused(`There is no guard "${guard}". Declared: ${declared}.`);
}
