import { FEATURES } from '../../features';
import { ValidationFailed } from '../../foundation/platform/errors';
import { POSTGRES_POOL, type PostgresPool } from '../../foundation/platform/postgres-pool';
import type { ConsoleCommand, Feature } from '../../foundation/realm/feature';
import { type Pruned, pruneStages } from '../../foundation/realm/feature-data';
import { type RealmScope, Realms } from '../../foundation/realm/realm';
import { LockRelease } from '../../request/lockout/lockout';
import { LOCK_PURPOSES, type Released } from '../../request/lockout/lockout.store';
import { migrateAuth, tablesAsSql } from '../migrations/migrate';
import { Pruning, PruningFailed } from '../retention/pruning';
import type { Application, OpenApplication } from './application';
import { type CommandDeclaration, CommandRefused, confirm, print } from './command';

type DataCommand = CommandDeclaration<[Application]>;

/** Creates the tables of the library on the option `pool`, or prints their statements. */
const migrate: DataCommand = {
  description: 'create or change the tables of the library on the option pool',
  options: { '--sql': 'print the statements of all tables, and run none' },
  run: async ({ sql }, application) => {
    if (sql) return print(await tablesAsSql());
    const names = await application.use(async (app) => {
      const pool = app.get<PostgresPool | null>(POSTGRES_POOL, { strict: false });
      if (pool) return migrateAuth(pool);
      throw new CommandRefused(
        'The tables are on the TypeORM data source of your application: add ...authMigrations to its migrations, and ' +
          'run: typeorm migration:run. This command is for the option pool.',
      );
    });
    print(names.map((name) => `${name}\n`).join('') || 'The tables are up to date.\n');
  },
};

const numbersOf = (pruned: Partial<Pruned>): string =>
  pruneStages(FEATURES)
    .filter(([stage]) => stage in pruned)
    .map(([stage, { title }]) => `${title}: ${pruned[stage]}\n`)
    .join('');

/** Deletes expired and obsolete rows, and prints their numbers, also those of a sweep of which a stage fails. */
const prune: DataCommand = {
  description: 'delete rows that are of no more use',
  options: {
    '--lockout-days <days>':
      'keep unlocked counters for so many days after their last failure (default: retention.lockoutDays)',
  },
  run: async ({ lockoutDays: days }, application) => {
    if (days !== undefined && !(/^\d{1,5}$/.test(String(days)) && Number(days) > 0))
      throw new CommandRefused(`"${days}" is no number of days. Use a whole number, at least 1.`);
    const keep = days === undefined ? undefined : Number(days);
    try {
      const pruned = await application.use((app) => app.get(Pruning, { strict: false }).runUnlessActive(keep));
      print(pruned ? numbersOf(pruned) : 'Another process is pruning these tables.\n');
    } catch (error) {
      // The rows of the stages that passed are deleted.
      if (error instanceof PruningFailed) print(numbersOf(error.pruned));
      throw error;
    }
  },
};

const GUARD = { '--guard <name>': 'the guard of the account (default: the default guard)' };

/** The services of the guard that a person has named. @throws CommandRefused */
function scopeOf(app: Pick<OpenApplication, 'get'>, guard: unknown): RealmScope {
  const realms = app.get(Realms, { strict: false });
  const scope = guard === undefined ? realms.default : realms.all.find(({ realm }) => realm.guard === guard);
  if (scope) return scope;
  const declared = realms.all.map(({ realm }) => realm.guard).join(', ');
  throw new CommandRefused(`There is no guard "${String(guard)}". Declared: ${declared}.`);
}

const isRelease = ({ lockedGuards }: Released): boolean => lockedGuards.length > 0;

function lineOf(cleared: Released): string {
  const { purpose, subject, lockedGuards } = cleared;
  if (!isRelease(cleared)) return `Cleared the failures of ${subject} (${purpose}), which was not locked.\n`;
  return `Released ${subject} (${purpose}, guard${lockedGuards.length > 1 ? 's' : ''} ${lockedGuards.join(', ')}).\n`;
}

/** Releases an account that was locked after failed attempts. Exits with 1 if nothing was locked. */
const release: DataCommand = {
  description: 'release a locked account',
  arguments: [{ name: 'subject', description: 'the login identifier; for other purposes the id of the user' }],
  options: {
    '--purpose <name>': `${LOCK_PURPOSES.join(', ')} (default: login)`,
    ...GUARD,
  },
  run: async ({ subject = '', purpose = 'login', guard }, application) => {
    const known = LOCK_PURPOSES.find((one) => one === purpose);
    if (!known) throw new CommandRefused(`"${purpose}" is no purpose. Use one of: ${LOCK_PURPOSES.join(', ')}.`);
    const cleared = await application.use(async (app) =>
      scopeOf(app, guard).get(LockRelease).release(known, String(subject)),
    );
    print(cleared.map(lineOf).join(''));
    if (cleared.some(isRelease)) return;
    const found = cleared.length ? 'is not locked' : 'has no counter';
    throw new CommandRefused(`Nothing was released: "${subject}" ${found} for ${purpose}.`);
  },
};

/** The faults of what a person has typed. */
function refusalOf(error: unknown): { refused: string } {
  if (!(error instanceof ValidationFailed)) throw error;
  return {
    refused: Object.values(error.getResponse().errors ?? {})
      .flat()
      .join(' '),
  };
}

/** The command of a feature, at one guard. */
const ofFeature = (feature: Feature, command: ConsoleCommand): DataCommand => ({
  ...command,
  options: { ...command.options, ...(command.arguments.length && GUARD) },
  run: async (given, application) => {
    const passed = command.arguments.map(({ name }) => String(given[name] ?? ''));
    const options = given as Partial<Record<string, string>>;
    const question = command.question?.(passed, options);
    const result = await application.use(async (app) => {
      const scope = scopeOf(app, options.guard);
      if (!scope.isOn(feature))
        return { refused: `features.${feature.flags![0]} is off at the guard "${scope.realm.guard}".` };
      if (question && !(await confirm(question)))
        return { refused: 'Nothing was changed. Without a terminal, use --yes.' };
      return command.run(scope, passed, options).catch(refusalOf);
    });
    if ('refused' in result) throw new CommandRefused(result.refused);
    print(`${result.done}\n`);
  },
});

const ofFeatures = FEATURES.flatMap((feature) =>
  Object.entries(feature.commands ?? {}).map(([name, command]) => [name, ofFeature(feature, command)] as const),
);

/** The commands on the data of the application, by their names after `svc:`. */
export const DATA_COMMANDS: Readonly<Record<string, DataCommand>> = {
  migrate,
  prune,
  release,
  ...Object.fromEntries(ofFeatures),
};
