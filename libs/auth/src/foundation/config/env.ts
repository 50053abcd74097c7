import { AuthConfigError, unreadVariable } from '../platform/errors';
import type { AuthConfig } from './auth-config';
import type { AuthModuleOptions } from './auth-options';
import type { OptionSpec, KnownOptions } from './option-table';
import { accepted, nearest, readFlag, readNumber } from './option-values.policy';

type Env = Readonly<Record<string, string | undefined>>;

/** Converts the text of a variable, which is not blank; undefined if the text has no such value. */
function parsed({ kind, bounds, or }: OptionSpec, text: string): unknown {
  if (bounds) return readNumber(text, bounds);
  if (kind === 'flag') return readFlag(text);
  if (kind === 'list') return text.split(',').flatMap((item) => item.trim() || []);
  if (or === false) return !['0', 'false', 'off', 'no'].includes(text.trim().toLowerCase()) && text.trim();
  return text;
}

/**
 * Reads options from the variables of a guard, or of the default guard: see `authOptionsFromEnv`.
 *
 * @throws AuthConfigError naming every variable whose text is not a boolean, not a number, or out of its range
 */
export function optionsFromEnv({ byName }: KnownOptions, env: Env, guard?: string): AuthModuleOptions {
  const prefix = prefixOf(guard);
  const options = {};
  const errors: string[] = [];
  for (const [option, spec] of byName) {
    const text = spec.env && env[prefix + spec.env];
    // A blank line of an env file, such as `SVC_FEATURE_DENYLIST=${DENYLIST}` without the outer variable, must not switch
    // a protection off.
    if (!text?.trim()) continue;
    const value = parsed(spec, text);
    if (value === undefined) errors.push(invalidValue(option, spec, guard, text));
    else assign(options, option.split('.'), value);
  }
  if (errors.length) throw new AuthConfigError(errors.join('\n'));
  if (env === process.env) isProcessRead = true;
  const publicKey = env[`${prefix}PUBLIC_KEY`];
  const kid = env[`${prefix}ACTIVE_KID`];
  if (publicKey?.trim()) assign(options, ['keys', 'public'], { [kid?.trim() ? kid : 'default']: publicKey });
  const { retention } = options as AuthModuleOptions;
  if (retention) retentionsFromEnv.add(retention);
  return options;
}

const retentionsFromEnv = new WeakSet<object>();

/** Whether {@link optionsFromEnv} has made this `retention` block. The variables may be those of another service. */
export const isRetentionFromEnv = (retention: object): boolean => retentionsFromEnv.has(retention);

/** Whether {@link optionsFromEnv} has read the environment of the process. Otherwise its variables are the host's. */
let isProcessRead = false;

const READ_ELSEWHERE = ['PUBLIC_KEY', 'ALLOW_TESTING'];

/**
 * Describes the `SVC_*` variables of the process that the library does not know, each with the known one that is most
 * like it. They are not refused: orchestrators and other software set variables with this prefix, too.
 */
export function unknownVariables(
  guards: readonly string[],
  { byName }: KnownOptions,
  env: Env = isProcessRead ? process.env : {},
): string[] {
  const names = [...[...byName.values()].flatMap((spec) => spec.env ?? []), ...READ_ELSEWHERE];
  const known = [undefined, ...guards].flatMap((guard) => names.map((name) => prefixOf(guard) + name));
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .map((name) => {
      const closest = nearest(name, known);
      return `${name} is not a variable of @svc/auth, and has no effect.${closest ? ` The nearest known name is ${closest}.` : ''}`;
    });
}

/** An option of the default guard with its variable, in an error: `issuer (SVC_ISSUER)`. */
const NAMED = /(?<![\w.])([a-zA-Z.]+) \((SVC_\w+)\)/g;

/**
 * Returns errors of a configuration, with a remark in each that names a variable which is set, while its option has another
 * value: setting the variable is not the correction.
 */
export function withUnreadVariables(
  errors: readonly string[],
  config: AuthConfig,
  { byName }: KnownOptions,
  env: Env = process.env,
): string[] {
  const values: unknown = { ...config, ...config.guards.at(-1) };
  const isUnread = (option = '', variable = ''): boolean => {
    const [spec, text = ''] = [byName.get(option), env[variable]];
    const value = option
      .split('.')
      .reduce((block, key) => (block as Record<string, unknown> | undefined)?.[key], values);
    // The variable has one entry of the map.
    const isRead =
      option === 'keys.public'
        ? Object.values(Object(value) as object).includes(text)
        : spec && JSON.stringify(parsed(spec, text)) === JSON.stringify(value);
    return spec !== undefined && text.trim() !== '' && !isRead;
  };
  return errors.map((error) => {
    const named = [...error.matchAll(NAMED)].filter(([, option, variable]) => isUnread(option, variable));
    const variables = new Set(named.map(([, , variable = '']) => variable));
    return [error, ...[...variables].map((variable) => `${unreadVariable(variable)}.`)].join(' ');
  });
}

/** The error of a boolean or a number. `named` is the full name of the option. */
export function invalidValue(named: string, spec: OptionSpec, guard: string | undefined, value: unknown): string {
  const wanted = spec.bounds ? accepted(spec.bounds) : 'true or false';
  return `${optionWithVariable(named, spec, guard)} is ${shown(value)}. Use ${wanted}.`;
}

/** An option with its variable: `accessTtl (SVC_ACCESS_TTL)`. */
export const optionWithVariable = (named: string, { env }: OptionSpec, guard?: string): string =>
  env === undefined ? named : `${named} (${prefixOf(guard)}${env})`;

/** Only a short text that looks like a number or a word: the value may be a secret that is in the wrong line. */
const HARMLESS = /^[\w.+-]{1,12}$/;

const shown = (value: unknown): string => {
  if (typeof value === 'string') return HARMLESS.test(value) ? `"${value}"` : `a text of ${value.length} characters`;
  return value === null || ['number', 'bigint', 'boolean'].includes(typeof value) ? String(value) : `a ${typeof value}`;
};

const PREFIX = 'SVC_';

const prefixOf = (guard?: string): string => (guard ? `${PREFIX}${envName(guard)}_` : PREFIX);

/** A guard's name as part of an environment variable. */
export const envName = (guard: string): string => guard.toUpperCase().replace(/-/g, '_');

function assign(target: Record<string, unknown>, [key = '', ...rest]: string[], value: unknown): void {
  if (rest.length) assign((target[key] ??= {}) as Record<string, unknown>, rest, value);
  else target[key] = value;
}
