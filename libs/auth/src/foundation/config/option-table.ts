import type { AuthModuleOptions, FeatureOptions } from './auth-options';
import { merge } from './merge';
import { type Bounds, type Duration, readNumber } from './option-values.policy';

export type { Duration } from './option-values.policy';

/** What the library states about one option, besides its type and its documentation. */
export interface OptionSpec<Value = unknown> {
  /** How the value is read from a variable, and checked. A `value` is an object, a function or a list of the host. */
  readonly kind: 'number' | 'flag' | 'text' | 'list' | 'value';
  /** The value that applies if the host sets none; undefined if it is absent. */
  readonly default?: Value;
  readonly bounds?: Bounds;
  /** The environment variable, without its prefix. */
  readonly env?: string;
  /** A further type, or a further value. */
  readonly or?: 'function' | 'text' | null | false;
  /** `auth.guardConfig()` returns it. An option is private unless this is set. */
  readonly public?: true;
  /** The host must set it if it sets the block. Without the block, the resolved block is undefined. */
  readonly required?: true;
  /** Extra guards inherit this hook. */
  readonly inherited?: true;
  /** The feature is one of the default guard; extra guards do not inherit it. */
  readonly defaultGuardOnly?: true;
  /** Set for a URL that mailed links begin with. */
  readonly mailedUrl?: MailedUrl;
  /** The options of each entry, in an object whose names the host chooses. */
  readonly entries?: OptionTree;
  /**
   * Returns the resolved value, where it is not just the value of the host or the default.
   *
   * @param options all options of the guard or of the module, before defaults are applied
   */
  resolve?(given: Value | undefined, options: AuthModuleOptions): unknown;
}

/** The rules of a URL in mails. */
export interface MailedUrl {
  /** How to correct a wrong URL, for the error message. */
  readonly cure: string;
  /** The application starts without it. */
  readonly optional?: true;
  /** Whether a path is appended to the URL; then it must not have a query or a fragment. */
  readonly bare?: true;
  /** Whether the link has its secret in the fragment; then the URL must not have one. */
  readonly withoutFragment?: true;
}

/**
 * A function of the host in the place of a URL: it returns the whole link. It has no effect, so it can be called at any time, with
 * an example.
 *
 * @param secret the token or the code, which the link contains
 * @param email the recipient
 */
export type MailedLink = (secret: string, email: string, context: { readonly guard: string }) => string;

/** Options by name, in the shape of the options of the host. */
export interface OptionTree {
  readonly [name: string]: OptionSpec | OptionTree;
}

/** The table of a documented interface: it has each option of the interface, and no other. */
export type TableOf<Block> = {
  readonly [Name in keyof Required<Block>]: OptionSpec<NonNullable<Block[Name]>>;
};

/** A value that the library has read: a duration is a number in the unit of its option. */
type Read<Value> = Duration extends Value ? Exclude<Value, string> : Value;

/** A block of options with defaults applied. Those of the second parameter have none. */
export type WithDefaults<Block, Without extends keyof Block = never> = {
  readonly [Name in Exclude<keyof Block, Without>]-?: Read<NonNullable<Block[Name]>>;
} & { readonly [Name in Extract<Without, string>]: Block[Name] };

/** Facts about a guard that several features ask for, and that an option of one feature decides: each is the value of its option. */
export interface GuardFacts {
  /** Whether users can prove their addresses at the guard. */
  readonly provesEmails: boolean;
  /** Minutes for which a mailed link proves an address. */
  readonly proofMinutes: number;
  /** Whether users whose email is not verified get no session. */
  readonly blocksUnverified: boolean;
  /** Whether users can change their emails. */
  readonly changesEmails: boolean;
  /** Whether no answer shows which identifiers have an account. */
  readonly concealsAccounts: boolean;
  /** Whether owners of accounts get links with which they set a password. */
  readonly mailsPasswordLinks: boolean;
  /** Whether the user of a new account is signed in. */
  readonly signsInCreated: boolean;
}

/** The members of a manifest that concern options. */
export interface OptionFacets {
  /** Options that enable the feature; one of them is enough. Absent for a feature that is always enabled. */
  readonly flags?: readonly (keyof FeatureOptions)[];
  /** The options of each guard. */
  readonly options?: OptionTree;
  /** The options that the module has once, for all guards together. */
  readonly moduleOptions?: OptionTree;
  /** The facts of a guard that options of the feature decide: the full names of these options, by fact. */
  readonly facts?: Readonly<Partial<Record<keyof GuardFacts, string>>>;
  /** The feature sends mails, so it needs `mail.mailer`, and users with an email. */
  readonly needsMailer?: true;
  /** Why the feature needs `encryption.key`, for the error message. */
  readonly needsEncryptionKey?: string;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The largest `integer` of PostgreSQL, and the longest timer of Node in milliseconds: a longer one fires at once. */
export const LARGEST = 2_147_483_647;

/** Maximum window of a rate limit in seconds: one year. */
export const LONGEST_WINDOW = 365 * DAY;

/** Maximum life of a session, and maximum time of a lock, in seconds: ten years. */
export const TEN_YEARS = 10 * LONGEST_WINDOW;

/** Maximum number of days: an interval that PostgreSQL can still subtract from the current date. */
export const MOST_DAYS = 99_999;

/** The parts of a specification that its author states; the kind is that of the function. */
type Stated<Value> = Omit<OptionSpec<Value>, 'kind' | 'bounds'>;

type NumberSpec = OptionSpec<number> & { readonly default: number; readonly bounds: Bounds };

/** @param unit milliseconds of one unit of a duration; absent for a number that is not a duration */
const numbers =
  (unit?: number) =>
  (min: number, max: number, stated: Stated<number> & { readonly default: number }): NumberSpec => ({
    kind: 'number',
    bounds: unit === undefined ? { min, max } : { min, max, unit },
    ...stated,
  });

export const count = numbers();
export const milliseconds = numbers(1);
export const seconds = numbers(1000);
export const minutes = numbers(60_000);
export const days = numbers(86_400_000);

export const flag = (stated: Stated<boolean>): OptionSpec<boolean> => ({ kind: 'flag', ...stated });
export const list = (stated: Stated<string[]>): OptionSpec<string[]> => ({ kind: 'list', ...stated });
export const text = <Text extends string>(stated: Stated<Text>): OptionSpec<Text> => ({ kind: 'text', ...stated });
export const value = <Value>(stated: Stated<Value> = {}): OptionSpec<Value> => ({ kind: 'value', ...stated });

/** A flag of `features`. */
export const feature = (stated: Stated<boolean> & { readonly default: boolean }): OptionSpec<boolean> => ({
  kind: 'flag',
  public: true,
  ...stated,
});

/** A rate limit. No number may become 0, which would refuse every request. */
export const rateLimit = (variable: string, limit: { maxAttempts: number; decaySeconds: number }) =>
  publicBlock({
    maxAttempts: count(1, LARGEST, { default: limit.maxAttempts, env: `${variable}_MAX_ATTEMPTS` }),
    decaySeconds: seconds(1, LONGEST_WINDOW, { default: limit.decaySeconds, env: `${variable}_DECAY` }),
  });

/** A block of options that `auth.guardConfig()` returns. */
export const publicBlock = <Tree extends OptionTree>(tree: Tree): Tree =>
  Object.fromEntries(
    Object.entries(tree).map(([name, node]) => [name, isSpec(node) ? { ...node, public: true } : publicBlock(node)]),
  ) as unknown as Tree;

export const isSpec = (node: OptionSpec | OptionTree): node is OptionSpec => typeof node.kind === 'string';

/** All options of the library. */
export interface KnownOptions {
  readonly ofGuard: OptionTree;
  readonly ofModule: OptionTree;
  /** Both, by the full name: `rateLimits.login.maxAttempts`. */
  readonly byName: ReadonlyMap<string, OptionSpec>;
  /** The options that decide the facts of a guard, by fact. */
  readonly facts: NonNullable<OptionFacets['facts']>;
}

/** Collects the options of manifests. */
export function optionsOf(manifests: readonly OptionFacets[]): KnownOptions {
  const ofGuard = merge(...manifests.map(({ options }) => options)) as OptionTree;
  const ofModule = merge(...manifests.map(({ moduleOptions }) => moduleOptions)) as OptionTree;
  const facts = Object.assign({}, ...manifests.map((manifest) => manifest.facts)) as KnownOptions['facts'];
  return { ofGuard, ofModule, facts, byName: new Map([...namedIn(ofGuard), ...namedIn(ofModule)]) };
}

/** The options of a tree with their full names. */
export const namedIn = (tree: OptionTree, prefix = ''): [option: string, spec: OptionSpec][] =>
  Object.entries(tree).flatMap(([name, node]) =>
    isSpec(node) ? [[prefix + name, node] as [string, OptionSpec]] : namedIn(node, `${prefix}${name}.`),
  );

type Values = Readonly<Record<string, unknown>>;

/** Applies the defaults of a tree to the values of the host. The result is frozen. */
export function resolveTree(tree: OptionTree, given: unknown, options: AuthModuleOptions): Values {
  const values = (given ?? {}) as Values;
  const resolved = Object.entries(tree).map(([name, node]) => {
    if (isSpec(node)) return [name, valueOf(node, values[name], options)];
    const isAbsent = values[name] === undefined && Object.values(node).some(({ required }) => required === true);
    return [name, isAbsent ? undefined : resolveTree(node, values[name], options)];
  });
  return Object.freeze(Object.fromEntries(resolved) as Values);
}

/**
 * `optionErrors` refuses a number that cannot be read. Without that check the default applies, never 0: a limit of 0 would
 * refuse every request.
 */
function valueOf(spec: OptionSpec, given: unknown, options: AuthModuleOptions): unknown {
  if (spec.resolve) return spec.resolve(given, options);
  if (spec.bounds) return readNumber(given, spec.bounds) ?? spec.default;
  const resolved = given ?? spec.default;
  return spec.kind === 'list' ? Object.freeze([...(resolved as string[])]) : resolved;
}
