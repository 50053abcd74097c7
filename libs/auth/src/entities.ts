import type { Type } from '@nestjs/common';
import { FEATURES } from './features';
import { type StoredEntity, dataOf } from './foundation/realm/feature-data';

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
