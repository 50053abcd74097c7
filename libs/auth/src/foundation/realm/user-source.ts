import type { GuardConfig } from '../config/auth-config';
import type { UsersOptions } from '../config/auth-options';

/** The guards that have the same users. A user is identified by a source and an id, at each of its guards. */
export interface UserSource {
  /** Names the source in keys that count for a user: the name of one of its guards. */
  readonly key: string;
  /** The options of the guards, in the order of their names. */
  readonly guards: readonly GuardConfig[];
  /** The names of the guards, in the same order. */
  readonly names: readonly string[];
}

/** The rows that a guard reads its users from. */
export interface UserRows {
  /** Identifies the table; where it is not known, the entity. */
  readonly table: unknown;
  /** The types of single-table inheritance; null for all rows of the table. */
  readonly types: readonly unknown[] | null;
}

type Entity = NonNullable<UsersOptions['entity']>;

/** Where no data source is known: each entity has a table of its own. */
const byEntity = (entity: Entity): UserRows => ({ table: entity, types: null });

/**
 * Groups guards by their source of users. Pure. Two guards have the same users if their entities read the same rows of one
 * table, or if `users.source` is the same. Without that name, providers are compared: two guards with one class or token
 * have the same users.
 *
 * @param rowsOf the rows of an entity
 * @returns the source of each guard by its name
 */
export function userSources(
  guards: readonly GuardConfig[],
  rowsOf: (entity: Entity) => UserRows = byEntity,
): ReadonlyMap<string, UserSource> {
  const groups: GuardConfig[][] = [];
  const sorted = guards.toSorted((a, b) => (a.guard < b.guard ? -1 : 1));
  for (const guard of sorted) {
    const isSame = (other: GuardConfig): boolean => shareUsers(guard.users, other.users, rowsOf);
    // A guard whose entity reads several types of a table can join two groups.
    const joined = groups.filter((group) => group.some(isSame));
    for (const group of joined) groups.splice(groups.indexOf(group), 1);
    groups.push([...joined.flat(), guard]);
  }
  return new Map(
    groups.flatMap((group) => {
      const ordered = sorted.filter((guard) => group.includes(guard));
      const source = sourceOf(ordered);
      return ordered.map(({ guard }) => [guard, source] as const);
    }),
  );
}

/** @param guards in the order of their names */
export const sourceOf = (guards: readonly GuardConfig[]): UserSource => ({
  key: (guards.find(({ isDefault }) => isDefault) ?? guards[0]!).guard,
  guards,
  names: guards.map(({ guard }) => guard),
});

function shareUsers(a: UsersOptions = {}, b: UsersOptions = {}, rowsOf: (entity: Entity) => UserRows): boolean {
  if (a.source !== undefined && a.source === b.source) return true;
  if (a.entity && b.entity) return overlap(rowsOf(a.entity), rowsOf(b.entity));
  // Two names are two sources, also with one provider: the host says so.
  if (a.source !== undefined && b.source !== undefined) return false;
  return !!a.provider && !!b.provider && providerOf(a.provider) === providerOf(b.provider);
}

const overlap = (a: UserRows, b: UserRows): boolean =>
  a.table === b.table && (a.types === null || b.types === null || a.types.some((type) => b.types!.includes(type)));

/** What identifies a provider. Two guards can name one token with two objects; one factory can make two providers. */
const providerOf = (provider: NonNullable<UsersOptions['provider']>): unknown =>
  'useExisting' in provider ? provider.useExisting : provider;

/** DI token of the result of {@link userSources}. */
export const USER_SOURCES = Symbol('USER_SOURCES');
