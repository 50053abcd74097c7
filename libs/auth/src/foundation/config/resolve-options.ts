import { AuthConfigError } from '../platform/errors';
import type { AuthConfig, GuardConfig } from './auth-config';
import type { AuthModuleOptions, AuthStructure } from './auth-options';
import { merge } from './merge';
import { type KnownOptions, resolveTree } from './option-table';
import { readFlag } from './option-values.policy';

const STRUCTURE = [
  'guard',
  'path',
  'routes',
  'verifyOnly',
  'domain',
  'features',
  'users',
  'presenter',
  'dataSource',
  'pool',
];

/**
 * Returns the options with booleans in place of their texts (`'off'`), as a `ConfigService` returns them. A text that is no
 * boolean stays: `optionErrors` refuses it.
 */
export function readFlags<Given extends object>(options: Given, { byName }: KnownOptions): Given {
  const flags = [...byName].filter(([, { kind }]) => kind === 'flag').map(([option]) => option.split('.'));
  const read = (given: object): object => {
    const values = { ...given } as Record<string, unknown>;
    for (const [block = '', name] of flags) {
      const own = name === undefined ? values : { ...(values[block] as Record<string, unknown> | undefined) };
      const text = own[name ?? block];
      const flag = typeof text === 'string' ? readFlag(text) : undefined;
      if (flag !== undefined) values[block] = name === undefined ? flag : { ...own, [name]: flag };
    }
    return values;
  };
  const { guards } = options as AuthModuleOptions;
  if (typeof guards !== 'object' || guards === null) return read(options) as Given;
  return {
    ...read(options),
    guards: Object.fromEntries(Object.entries(guards).map(([guard, own]) => [guard, read(own)])),
  } as Given;
}

/** Applies every default to the host's options. It does not check them: see `optionErrors` and `guardErrors`. */
export function resolveOptions(options: AuthModuleOptions, known: KnownOptions): AuthConfig {
  const { guards: extra = {}, ...top } = readFlags(options, known);
  const inherited = Object.fromEntries(Object.entries(top).filter(([key]) => !Object.hasOwn(known.ofModule, key)));
  const { guard, redis, cache, stores, denylistStore, ...shared } = resolveTree(known.ofModule, top, top);
  return Object.freeze({
    ...shared,
    guards: [
      ...Object.entries(extra).map(([name, own]) =>
        guardConfig(name, false, merge(inheritable(inherited, own, known), own), own, known),
      ),
      guardConfig(guard as string, true, merge(inherited), top, known),
    ],
    redis: Object.freeze({ ...top.redis, url: top.redis?.url || undefined }),
    store: storeOf(top),
  }) as unknown as AuthConfig;
}

/** Combines the declared structure with the values of the factory. A factory cannot change the structure. */
export function combine(structure: AuthStructure, values: unknown): AuthModuleOptions {
  if (typeof values !== 'object' || values === null) {
    throw new AuthConfigError(
      `useFactory of AuthModule.forRootAsync returned ${String(values)}. Return an object with the options.`,
    );
  }
  const { guards = {}, ...own } = values as AuthModuleOptions;
  const undeclared = Object.keys(guards).filter((name) => !structure.guards?.[name]);
  const misplaced = [
    ...Object.keys(own).filter((key) => STRUCTURE.includes(key)),
    ...Object.entries(guards).flatMap(([name, ofGuard]) =>
      Object.keys(ofGuard).flatMap((key) => (STRUCTURE.includes(key) ? [`guards.${name}.${key}`] : [])),
    ),
    ...undeclared.map((name) => `guards.${name}`),
  ].at(0);
  if (misplaced) {
    throw new AuthConfigError(
      `useFactory returned "${misplaced}", which shapes the module and must be known before the factory runs. ` +
        `Pass it to forRootAsync beside useFactory.`,
    );
  }
  return { ...structure, ...own, guards: merge(structure.guards, guards) as AuthModuleOptions['guards'] };
}

function guardConfig(
  guard: string,
  isDefault: boolean,
  options: AuthModuleOptions,
  own: AuthModuleOptions,
  { ofGuard, facts }: KnownOptions,
): GuardConfig {
  const resolved = resolveTree(ofGuard, options, options) as unknown as GuardConfig;
  const valueOf = (option: string): unknown => option.split('.').reduce<unknown>(memberOf, resolved);
  const suffix = isDefault || own.cookie?.refreshName ? '' : `-${guard}`;
  return Object.freeze({
    ...resolved,
    guard,
    isDefault,
    nameOf: (option: string) =>
      isDefault || !Object.hasOwn(own, blockOf(option)) ? option : `guards.${guard}.${option}`,
    facts: Object.fromEntries(
      Object.entries(facts).map(([fact, option]) => [fact, valueOf(option)]),
    ) as unknown as GuardConfig['facts'],
    decidedBy: facts as GuardConfig['decidedBy'],
    users: own.users,
    // An instance of a class stays one: its methods use it.
    hooks: options.hooks ?? {},
    cookie: Object.freeze({ ...resolved.cookie, refreshName: cookieName(resolved.cookie) + suffix }),
  });
}

/**
 * The options that an extra guard inherits from the top level: all but the users and the hooks that concern them, and,
 * if it sets keys of its own, the keys.
 *
 * A user that the default guard's `authenticate` returns would be signed in as the user with the same id in the other
 * guard's table. Inherited former secrets and public keys would verify tokens of this guard although it has its own
 * keys.
 */
function inheritable(top: AuthModuleOptions, own: AuthModuleOptions, { ofGuard }: KnownOptions): AuthModuleOptions {
  const { users: _users, hooks = {}, previousSecrets, keys, ...rest } = top;
  const inherited = Object.entries(ofGuard.hooks!).filter(([, hook]) => hook.inherited);
  return {
    ...rest,
    hooks: Object.fromEntries(inherited.map(([name]) => [name, hooks[name as keyof typeof hooks]?.bind(hooks)])),
    previousSecrets: own.secret === undefined ? previousSecrets : undefined,
    keys: hasOwnKeys(own) ? undefined : keys,
  };
}

const hasOwnKeys = ({ algorithm, keys = {} }: AuthModuleOptions): boolean =>
  algorithm === 'HS256' || [keys.private, keys.public, keys.jwks].some((key) => key !== undefined);

// Browsers refuse the prefixes without Secure (RFC 6265bis §4.1.3).
const cookieName = ({ refreshName, secure }: { refreshName: string; secure: boolean }): string =>
  secure ? refreshName : refreshName.replace(/^__(Host|Secure)-/i, '');

const memberOf = (block: unknown, name: string): unknown => (block as Record<string, unknown>)[name];

const blockOf = (option: string): string => option.split('.')[0]!;

function storeOf({ redis, cache, stores = {}, denylistStore }: AuthModuleOptions): unknown {
  if (redis?.url && (cache || denylistStore)) {
    throw new AuthConfigError(
      `redis.url (SVC_REDIS_URL) and ${cache ? 'cache' : 'denylistStore (SVC_DENYLIST_STORE)'} are both set, but there is ` +
        'one store. Remove one of them.',
    );
  }
  if (!denylistStore) return cache;
  if (denylistStore in stores) return stores[denylistStore];
  throw new AuthConfigError(
    `denylistStore names "${denylistStore}", but stores has ${Object.keys(stores).join(', ') || 'no entries'}. ` +
      `Add it to stores, or unset denylistStore (SVC_DENYLIST_STORE) to use cache.`,
  );
}
