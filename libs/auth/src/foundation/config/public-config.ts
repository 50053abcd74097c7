import type { GuardConfig, PublicOptions, RateLimits } from './auth-config';
import { type OptionTree, type KnownOptions, isSpec } from './option-table';

/** A value as it is returned: read-only, with null for a function. */
export type Shown<T> = T extends (...parameters: never[]) => unknown
  ? null
  : T extends object
    ? { readonly [Name in keyof T]: Shown<T[Name]> }
    : T;

/**
 * The configuration of one guard with all defaults applied, for code of the host: to show lifetimes and limits, or to
 * configure a client. It has the names of the options (`docs/options.md`), and no secret, key, hook, mailer or other
 * function: a flag such as `twoFactor.required` is null if a function decides for each user. Frozen.
 *
 * @publicApi
 */
export interface PublicGuardConfig extends Shown<PublicOptions> {
  /** The limits of the library's own routes. `limiters` are functions, so they are not listed. */
  readonly rateLimits: Shown<Omit<RateLimits, 'limiters'>>;
}

/** Returns the public part of a guard's configuration. An option that is added to the library is private until marked. */
export function publicConfig(config: GuardConfig, { ofGuard }: KnownOptions): PublicGuardConfig {
  const { guard, isDefault } = config;
  return Object.freeze({ guard, isDefault, ...publicPart(ofGuard, config) }) as PublicGuardConfig;
}

function publicPart(tree: OptionTree, values: object): object {
  const parts = Object.entries(tree).flatMap(([name, node]) => {
    const value: unknown = (values as Record<string, unknown>)[name];
    if (isSpec(node)) return node.public ? [[name, shown(value)] as const] : [];
    const block = publicPart(node, (value ?? {}) as object);
    return Object.keys(block).length ? [[name, block] as const] : [];
  });
  return Object.freeze(Object.fromEntries(parts));
}

/** A frozen copy of a value; null for a function, which decides for each user. */
function shown(value: unknown): unknown {
  if (typeof value === 'function') return null;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(shown));
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shown(item)])));
}
