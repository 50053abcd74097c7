import type { AuthModuleOptions } from './foundation/config/auth-options';
import { CORE } from './foundation/config/core-options';
import { optionsFromEnv } from './foundation/config/env';
import { optionsOf } from './foundation/config/option-table';
import { FEATURES } from './features';
import type { Type } from '@nestjs/common';
import { type StoredEntity, dataOf } from './foundation/realm/feature-data';

/** All options of the library, with those of all features. */
export const OPTIONS = optionsOf([CORE, ...FEATURES]);

/**
 * Reads options from `SVC_*` environment variables. Options without a variable stay unset.
 *
 * A blank text leaves the option unset, so its default applies. Booleans are `true`, `1`, `on`, `yes`, `false`, `0`, `off`,
 * `no` in any case. Durations are whole numbers in the unit of their option, or have a unit: `90s`, `15m`, `12h`, `7d`.
 *
 * @param env the environment; `process.env` by default
 * @param guard name of an extra guard: then the variables `SVC_{GUARD}_*` are read, with the name in upper case and `_`
 * for `-`
 * @throws AuthConfigError naming every variable whose text is not a boolean, not a number, or out of its range
 *
 * @example AuthModule.forRoot({ ...authOptionsFromEnv(), users: { entity: User } })
 * @publicApi
 */
export function authOptionsFromEnv(
  env: Readonly<Record<string, string | undefined>> = process.env,
  guard?: string,
): AuthModuleOptions {
  return optionsFromEnv(OPTIONS, env, guard);
}

/** The tables of the library. */
export const TABLES: readonly StoredEntity[] = dataOf(FEATURES).flatMap(({ entities }) => entities);

/**
 * All entities of the library, for the `entities` of the host's data source.
 *
 * @publicApi
 */
export const authEntities: Type<object>[] = TABLES.map(({ entity }) => entity);

/**
 * Every migration of the library's tables, for the `migrations` of the host's data source.
 *
 * @publicApi
 */
export const authMigrations: StoredEntity['migration'][] = TABLES.map(({ migration }) => migration);
