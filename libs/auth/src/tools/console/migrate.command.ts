import { Command, CommandRunner, Option } from 'nest-commander';
import { POSTGRES_POOL, type PostgresPool } from '../../foundation/platform/postgres-pool';
import { migrateAuth, tablesAsSql } from '../migrations/migrate';
import { Application } from './application';
import { CommandRefused, reported } from './command-error';

/** Creates the tables of the library on the option `pool`, or prints their statements. */
@Command({ name: 'svc:migrate', description: 'Create or change the tables of the library on the option pool' })
export class MigrateCommand extends CommandRunner {
  constructor(private readonly application: Application) {
    super();
  }

  run(_arguments: string[], { sql }: { sql?: boolean } = {}): Promise<void> {
    return reported(async () => {
      if (sql) {
        process.stdout.write(await tablesAsSql());
        return;
      }
      const names = await this.application.use(async (app) => {
        const pool = app.get<PostgresPool | null>(POSTGRES_POOL, { strict: false });
        if (!pool) {
          throw new CommandRefused(
            'The tables are on the TypeORM data source of your application: add ...authMigrations to its migrations, and ' +
              'run: typeorm migration:run. This command is for the option pool.',
          );
        }
        return migrateAuth(pool);
      });
      process.stdout.write(names.map((name) => `${name}\n`).join('') || 'The tables are up to date.\n');
    });
  }

  @Option({ flags: '--sql', description: 'print the statements of all tables, and run none' })
  sql(): boolean {
    return true;
  }
}
