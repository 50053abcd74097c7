import type { Provider, Type } from '@nestjs/common';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { quoted, quotedPath } from '../platform/database';
import { AuthConfigError } from '../platform/errors';

export { Column, Entity, Index, PrimaryColumn } from '../platform/entity';

/** The services of one guard, for the functions of manifests. Not those that all guards share. */
export interface GuardServices {
  get<T>(token: Type<T> | (abstract new (...args: never[]) => T)): T;
}

/**
 * A migration that creates a table. The first of its statements creates the table, the others its indexes. It creates them
 * where the data source finds them: in its `schema`, and with its `entityPrefix`. Without both, in the first schema of the
 * search path.
 */
export abstract class CreatesTable implements MigrationInterface {
  readonly name = this.constructor.name;
  protected abstract readonly statements: readonly string[];

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of this.statements) await runner.query(placed(statement, this.table, runner));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(placed(`DROP TABLE ${this.table}`, this.table, runner));
  }

  private get table(): string {
    return /CREATE TABLE (\S+)/.exec(this.statements[0]!)![1]!;
  }
}

/** A statement with the path of the table, and with the prefix also of its indexes, which are in the schema of the table. */
function placed(statement: string, table: string, { connection }: QueryRunner): string {
  const { schema, entityPrefix = '' } = (connection?.options ?? {}) as { schema?: string; entityPrefix?: string };
  if (!schema && !entityPrefix) return statement;
  const path = quotedPath([...(schema ? [schema] : []), entityPrefix + table].join('.'));
  return statement.replaceAll(new RegExp(`\\b${table}(_\\w+)?\\b`, 'g'), (name, suffix?: string) =>
    suffix ? quoted(entityPrefix + name) : path,
  );
}

/** A table of a feature. */
export interface StoredEntity {
  readonly entity: Type<object>;
  /** Creates the table. */
  readonly migration: new () => MigrationInterface & { name: string };
}

/** An account that is deleted. */
export interface DeletedAccount {
  readonly userId: string;
  readonly identifier: string | null;
  /**
   * The identifier as the look-up of each guard compares it; empty if its counter stays. Code of the host may compute it, so it is
   * known before any lock is held.
   */
  readonly spellings: readonly string[];
  readonly email: string | null;
}

/** The rows of an account in a table: those of the guards of its source whose `column` has one of the values. */
export interface AccountRows {
  readonly entity: Type<object>;
  readonly column: string;
  readonly values: (account: DeletedAccount) => string | readonly string[];
}

/** The rows with the id of the user. */
export const rowsOfUser = (entity: Type<object>): AccountRows => ({
  entity,
  column: 'user_id',
  values: ({ userId }) => userId,
});

/** The data of an account in the library. Each feature adds its own, by merging into this interface. */
export interface ExportedData {}

/** Numbers of deleted rows. Each feature adds its own, by merging into this interface. */
export interface Pruned {}

/** A stage of the pruning. */
export interface PruneStage {
  /** What the rows are, for the console. */
  readonly title: string;
  /** Whether one call prunes the rows of all guards. */
  readonly ofAllGuards?: true;
  /**
   * Resolves to the number of deleted rows.
   *
   * @param lockoutDays age of the last failure after which an unlocked counter is deleted
   */
  readonly run: (services: GuardServices, lockoutDays: number) => Promise<number>;
}

/**
 * The data of a feature. It outlives the feature: while the feature is off, its rows are still exported, erased and pruned. Its
 * functions use the `stores`, which every guard has, and no other service of the feature.
 */
export interface FeatureData {
  readonly entities: readonly StoredEntity[];
  /** When data without entities were added, as in the name of a migration. */
  readonly addedAt?: number;
  /** Providers of every guard, with or without the feature. */
  readonly stores?: readonly Provider[];
  /** The parts of the export of an account at one guard. Undefined for a part that it does not have, as `ifUsed` returns it. */
  readonly export?: {
    readonly [Part in keyof ExportedData]?: (services: GuardServices, userId: string) => Promise<ExportedData[Part]>;
  };
  /** What is erased with an account. Required where there are entities; empty if something else erases their rows. */
  readonly erase?: readonly AccountRows[];
  readonly prune?: { readonly [Stage in keyof Pruned]?: PruneStage };
}

/** The rows of an export; undefined for none while the feature is off, so that the export does not name it. */
export const ifUsed = <Row>(rows: readonly Row[], isOn: boolean): Row[] | undefined =>
  isOn || rows.length > 0 ? [...rows] : undefined;

/** The data of all features, in the order in which their tables were added to the library. */
export const dataOf = (features: readonly { readonly data?: FeatureData }[]): readonly FeatureData[] =>
  features.flatMap(({ data }) => data ?? []).toSorted((a, b) => timeOf(a) - timeOf(b));

/** @throws AuthConfigError in a bundle without the names of classes, which migrations, events and errors are known by */
function timeOf({ entities: [first], addedAt = 0 }: FeatureData): number {
  if (!first) return addedAt;
  const [time] = /\d{13}$/.exec(first.migration.name) ?? [];
  if (time === undefined) {
    throw new AuthConfigError(
      'A minifier has changed the names of the classes of @svc/auth, which it needs. Set the option that keeps names, such as ' +
        'keepNames of esbuild or keep_classnames of terser, or do not minify.',
    );
  }
  return Number(time);
}

/** The parts of the export of an account at one guard, of all features. */
export async function exportOf(
  features: readonly { readonly data?: FeatureData }[],
  services: GuardServices,
  userId: string,
): Promise<ExportedData> {
  const content: Record<string, unknown> = {};
  for (const { export: parts = {} } of dataOf(features))
    for (const [part, read] of Object.entries(parts)) {
      const found: unknown = await read(services, userId);
      if (found !== undefined) content[part] = found;
    }
  return content as unknown as ExportedData;
}

/** The stages of the pruning. */
export const pruneStages = (features: readonly { readonly data?: FeatureData }[]): [keyof Pruned, PruneStage][] =>
  dataOf(features).flatMap(({ prune = {} }) => Object.entries(prune) as [keyof Pruned, PruneStage][]);
