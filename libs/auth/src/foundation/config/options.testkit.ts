import type { AuthConfig, GuardConfig } from './auth-config';
import type { AuthModuleOptions } from './auth-options';
import * as env from './env';
import * as guards from './guard-isolation.policy';
import * as checks from './option-checks';
import { CORE } from './core-options';
import { type OptionFacets, type OptionSpec, optionsOf } from './option-table';
import * as shown from './public-config';
import * as resolution from './resolve-options';
import { segmentsWithRoutesBelow } from '../../request/gates/library-routes';
import { FEATURES } from '../../features';
import { loadMembers } from '../realm/feature';
import { OPTIONS as ALL } from '../../library-options';

loadMembers(FEATURES, () => true);

export type { LockoutOptions } from '../../request/lockout/lockout.options';
export { authOptionsFromEnv } from '../../library-options';

/** All manifests that state options. */
export const LIBRARY_MANIFESTS: readonly OptionFacets[] = [CORE, ...FEATURES];

/** The functions of this folder, with all options of the library. */
export const resolveOptions = (options: AuthModuleOptions): AuthConfig => resolution.resolveOptions(options, ALL);
export const optionErrors = (options: object): string[] => checks.optionErrors(options, ALL);
export const structureErrors = (options: object): string[] => checks.structureErrors(options, ALL);
export const publicConfig = (config: GuardConfig, manifests: readonly OptionFacets[] = LIBRARY_MANIFESTS) =>
  shown.publicConfig(config, optionsOf(manifests));
export const guardErrors = (
  config: AuthConfig,
  names: readonly string[],
  cookieSuffixes: readonly string[],
): string[] => guards.guardErrors(config, names, cookieSuffixes, FEATURES, segmentsWithRoutesBelow(FEATURES));
export const unknownVariables = (names: readonly string[], variables?: Readonly<Record<string, string | undefined>>) =>
  env.unknownVariables(names, ALL, variables);
export const resolveRateLimits = (rateLimits?: AuthModuleOptions['rateLimits']) =>
  resolveOptions({ rateLimits }).guards[0]!.rateLimits;
export const resolveLockout = (lockout?: AuthModuleOptions['lockout']) =>
  resolveOptions({ lockout }).guards[0]!.lockout;

const named = [...ALL.byName];
const kindOf = (kind: OptionSpec['kind']) => (option: string) => ALL.byName.get(option)?.kind === kind;

export const OPTIONS: readonly string[] = [...ALL.byName.keys()];
export const VARIABLES = named.flatMap(([option, { env: name }]) => (name ? [[name, option] as const] : []));
export const BOUNDS = Object.fromEntries(named.flatMap(([option, { bounds }]) => (bounds ? [[option, bounds]] : [])));
export const isNumber = kindOf('number');
export const isFlag = kindOf('flag');

const { guards: resolvedGuards, hashing, ...ofModule } = resolveOptions({});
export const DEFAULT_FEATURES = resolvedGuards[0]!.features;
const { verifiers: _verifiers, ...numbers } = hashing;
export const DEFAULT_HASHING = numbers;
export const DEFAULTS = { ...ofModule, ...resolvedGuards[0]! };
