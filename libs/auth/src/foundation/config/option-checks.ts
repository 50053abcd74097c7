import { types } from 'node:util';
import { pageUrl } from '../platform/errors';
import { invalidValue, optionWithVariable } from './env';
import { type OptionSpec, type OptionTree, type KnownOptions, isSpec, namedIn } from './option-table';
import { nearest, readFlag, readNumber } from './option-values.policy';

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isLiteral = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;

/**
 * Returns the errors of the names and the values of options: unknown names, each with the nearest known one, values that
 * are not booleans, and numbers out of their bounds. They are refused and not corrected, because the host would not notice
 * that a setting has another value than the one it wrote.
 *
 * @param options the options as the host wrote them, before defaults are applied
 * @param known all options of the library
 */
export function optionErrors({ guards, ...options }: { guards?: unknown }, known: KnownOptions): string[] {
  const own = errorsOfBlock(options, { ...known.ofGuard, ...known.ofModule }, { known });
  if (guards === undefined) return own;
  if (!isObject(guards)) return [...own, 'guards must be an object: guard names with their options.'];
  const ofGuards = Object.entries(guards).flatMap(([guard, values]) =>
    isObject(values)
      ? errorsOfBlock(values, known.ofGuard, { known, guard })
      : [`guards.${guard} must be an object with the options of the guard.`],
  );
  return [...own, ...ofGuards];
}

/** The place of a block among the options. */
interface Place {
  readonly known: KnownOptions;
  readonly guard?: string;
  readonly block?: string;
  /** The name of the block in error messages, if it is not that of the option. */
  readonly named?: string;
}

function errorsOfBlock(values: object, tree: OptionTree, place: Place): string[] {
  const { known, guard, block } = place;
  const prefix = place.named ?? [guard === undefined ? [] : ['guards', guard], block ?? []].flat().join('.');
  return Object.entries(values).flatMap(([key, value]: [string, unknown]) => {
    const option = block ? `${block}.${key}` : key;
    const named = prefix ? `${prefix}.${key}` : key;
    const node = Object.hasOwn(tree, key) ? tree[key] : undefined;
    if (value === undefined) return [];
    if (guard !== undefined && !block && Object.hasOwn(known.ofModule, key))
      return [`${named} has no effect: all guards share one ${option}. Set it beside guards.`];
    // An object with hooks may have data of its own, and an instance of a class also functions, which its methods use.
    if (block === 'hooks' && !node && (typeof value !== 'function' || !isLiteral(values))) return [];
    if (!node) return [unknownOption(option, named, known)];
    if (!isSpec(node)) {
      if (isPromise(value)) return [`${named} is a promise: await it.`];
      return isObject(value) ? errorsOfBlock(value, node, { known, guard, block: option }) : [notAnObject(node, named)];
    }
    const { entries } = node;
    if (entries && isObject(value)) {
      return Object.entries(value).flatMap(([name, entry]: [string, unknown]) =>
        errorsOfBlock(entry ?? {}, entries, { known, guard, block, named: `${named}.${name}` }),
      );
    }
    if (block === 'hooks' && typeof value !== 'function')
      return [`${named} must be a function, and is ${typeof value === 'object' ? 'an' : 'a'} ${typeof value}.`];
    const fault = NOT_AWAITED.includes(option) ? undefined : typeFault(node, value);
    if (fault) return [`${optionWithVariable(named, node, guard)} ${fault}`];
    return isValid(node, value) ? [] : [invalidValue(named, node, guard, value)];
  });
}

/** Their own checks name what a promise has to resolve to. */
const NOT_AWAITED = ['cache', 'stores', 'keys.jwks'];

/**
 * The errors of the options that the module needs before the other checks run: those with which routes are mounted. All
 * errors of the options, if one of these has a wrong type.
 */
export function structureErrors(
  structure: { guards?: unknown; routes?: boolean; verifyOnly?: boolean; pool?: unknown; dataSource?: unknown },
  known: KnownOptions,
): string[] {
  const { guards, routes, verifyOnly, pool, dataSource } = structure;
  if (routes === true && verifyOnly === true)
    return [
      'routes and verifyOnly are both true, but a service that only verifies mounts no routes. Remove one of them.',
    ];
  if (pool && dataSource !== undefined)
    return ['The options pool and dataSource name two places for the tables. Set one of them.'];
  const blocks = [structure, ...(isObject(guards) ? Object.values(guards) : [])] as Record<string, unknown>[];
  const isWrong = blocks.some((block) =>
    MOUNTED.some((option) => block?.[option] !== undefined && typeFault(known.byName.get(option)!, block[option])),
  );
  return isWrong ? optionErrors(structure, known) : [];
}

const MOUNTED = ['guard', 'path', 'domain', 'dataSource'];

function isValid({ kind, bounds, or }: OptionSpec, value: unknown): boolean {
  if (bounds) return readNumber(value, bounds) !== undefined;
  if (kind !== 'flag') return true;
  if (typeof value === 'string') return readFlag(value) !== undefined;
  return typeof value === 'boolean' || (or === 'function' && typeof value === 'function');
}

/** An option of `forRootAsync` only, which `forRoot` does not call. */
const ASYNC_ONLY = ['useFactory', 'inject', 'useClass', 'useExisting'];

function notAnObject(block: OptionTree, named: string): string {
  const members = namedIn(block).map(([name]) => name);
  return `${named} must be an object. Its options: ${members.slice(0, 5).join(', ')}${members.length > 5 ? ', …' : ''}.`;
}

function unknownOption(option: string, named: string, { byName }: KnownOptions): string {
  if (ASYNC_ONLY.includes(option)) {
    return `${named} is not an option of AuthModule.forRoot. Call AuthModule.forRootAsync({ useFactory, inject }) instead.`;
  }
  const closest = nearest(option, [...byName.keys()]);
  return `${named} is not an option.${closest ? ` The nearest known name is ${closest}.` : ''} All options: ${pageUrl('options.md')}`;
}

const NAMES: readonly (readonly [is: (value: object) => boolean, name: string])[] = [
  [(value) => typeof (value as { then?: unknown }).then === 'function', 'a promise'],
  [(value) => Array.isArray(value), 'an array'],
  [(value) => value instanceof Uint8Array, 'a Buffer'],
  [(value) => value instanceof URL, 'a URL object'],
  [(value) => types.isKeyObject(value), 'a KeyObject'],
];

/** The kind of a value, without the value, which may be a secret: `a promise`. */
function typeNameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'object') return NAMES.find(([is]) => is(value))?.[1] ?? 'an object';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}

const CURES: Readonly<Record<string, string>> = {
  'a Buffer': "such as buffer.toString('hex')",
  'a URL object': 'such as url.href',
  'a KeyObject': "such as key.export({ type: 'pkcs8', format: 'pem' })",
};

/** Whether an option is a promise, which nothing awaits. */
const isPromise = (value: unknown): boolean => typeNameOf(value) === 'a promise';

/** What is wrong with the type of a text or of a list of texts, with the cure; undefined for any other option. */
function typeFault({ kind, or }: OptionSpec, value: unknown): string | undefined {
  if (isPromise(value)) return 'is a promise: await it.';
  if (or === 'text' && typeof value === 'string') return undefined;
  if (kind === 'list') return listFault(value);
  if (kind !== 'text' || typeof value === 'string') return undefined;
  if (or === 'function' && typeof value === 'function') return undefined;
  const hasOther = or === null || or === false;
  if (hasOther && value === or) return undefined;
  return `is ${typeNameOf(value)}. Use a text${hasOther ? ` or ${String(or)}` : ''}${cureOf(value)}.`;
}

function listFault(value: unknown): string | undefined {
  if (!Array.isArray(value)) return `is ${typeNameOf(value)}. Use a list of texts: ['…'].`;
  const others: unknown[] = value.filter((one) => typeof one !== 'string');
  if (!others.length) return undefined;
  return `has an entry that is ${typeNameOf(others[0])}. Use a list of texts${cureOf(others[0])}.`;
}

function cureOf(value: unknown): string {
  const cure = CURES[typeNameOf(value)];
  return cure ? `, ${cure}` : '';
}
