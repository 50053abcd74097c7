import type { AuthConfig } from './foundation/config/auth-config';
import type { AuthModuleOptions } from './foundation/config/auth-options';
import { CORE } from './foundation/config/core-options';
import { optionsFromEnv, withUnreadVariables } from './foundation/config/env';
import { guardErrors } from './foundation/config/guard-isolation.policy';
import { optionErrors, structureErrors } from './foundation/config/option-checks';
import { optionsOf } from './foundation/config/option-table';
import { isProduction } from './foundation/config/option-values.policy';
import { readFlags, resolveOptions } from './foundation/config/resolve-options';
import { unsafeValueErrors } from './foundation/config/unsafe-values';
import { mailErrors, redisErrors, scheduleErrors } from './foundation/config/url-checks';
import { Clock } from './foundation/platform/clock';
import { AuthConfigError } from './foundation/platform/errors';
import { keyringOf } from './identity/tokens/tokens.feature';
import { FEATURES } from './features';
import type { Type } from '@nestjs/common';
import { loadMembers } from './foundation/realm/feature';
import { type StoredEntity, dataOf } from './foundation/realm/feature-data';
import { needErrors } from './foundation/realm/manifest.policy';
import { type UserSource, userSources } from './foundation/realm/user-source';
import { segmentsWithRoutesBelow } from './request/gates/library-routes';

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

/** What is known of the options of a host without its application. */
export interface CheckedOptions {
  /** Undefined if options have a wrong name or type. */
  readonly config?: AuthConfig;
  /** Why the application must not start, each text with the correction. */
  readonly errors: readonly string[];
}

/**
 * Completes options with defaults, and checks them.
 *
 * @param errorsOf {@link valueErrors} for options that are not all of the application
 * @throws AuthConfigError for two stores, or a store that is not named
 */
export function checkedOptions(given: AuthModuleOptions, errorsOf = configErrors): CheckedOptions {
  const options = readFlags(given, OPTIONS);
  const invalid = [structureErrors(options, OPTIONS), optionErrors(given, OPTIONS)].find(({ length }) => length);
  if (invalid) return { errors: invalid };
  const config = resolveOptions(given, OPTIONS);
  loadMembers(FEATURES, (flag) => config.guards.some(({ features }) => features[flag]));
  return { config, errors: errorsOf(config, isProduction()) };
}

/** Why an application must not start with a configuration, each text with the correction. */
export function configErrors(config: AuthConfig, production: boolean): string[] {
  const suffixes = FEATURES.flatMap(({ cookies = [] }) => cookies.map(({ suffix }) => suffix));
  const names = config.guards.map(({ guard }) => guard);
  const errors = [
    ...guardErrors(config, names, suffixes, FEATURES, segmentsWithRoutesBelow(FEATURES)),
    ...featureErrors(config, userSources(config.guards), production),
    ...mailErrorsOfDefault(config, production),
    ...scheduleErrors(config),
  ];
  return [...withUnreadVariables(errors, config, OPTIONS), ...valueErrors(config, production)];
}

/** The part of {@link configErrors} that is about values which variables can have. */
export const valueErrors = (config: AuthConfig, production: boolean): string[] =>
  withUnreadVariables([...redisErrors(config), ...unsafeValueErrors(config, production)], config, OPTIONS);

/** The beginning of an error because of which there is no key to read. */
const OF_KEYS = /^(guards\.[^.]+\.)?(secret|previousSecrets|keys|algorithm)\b/;

/**
 * Why the keys of the guards can neither sign nor verify, each text with the correction. Reads their files.
 *
 * @param others the errors of the same configuration
 */
export function keyErrors(config: AuthConfig, others: readonly string[] = []): string[] {
  if (others.some((text) => OF_KEYS.test(text))) return [];
  const texts = config.guards.flatMap((guard) => {
    try {
      keyringOf(guard, config, new Clock());
      return [];
    } catch (error) {
      if (error instanceof AuthConfigError) return error.message;
      throw error;
    }
  });
  // Guards inherit keys.
  return [...new Set(withUnreadVariables(texts, config, OPTIONS))];
}

/** The mails of an extra guard are checked at their first call. */
const mailErrorsOfDefault = ({ guards, verifyOnly, encryption }: AuthConfig, production: boolean): string[] =>
  guards.flatMap((guard) =>
    guard.isDefault && !verifyOnly ? mailErrors(guard, encryption, production, FEATURES) : [],
  );

/** @param sources the source of users of each guard */
export const featureErrors = (
  config: AuthConfig,
  sources: ReadonlyMap<string, UserSource>,
  production: boolean,
): string[] => [
  ...needErrors(FEATURES, config),
  ...FEATURES.flatMap((feature) => feature.configErrors?.(config, production, sources, FEATURES) ?? []),
];

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
