import { BOUNDS, boundsOf } from './bounds';
import { VARIABLES, invalidValue, isFlag, isNumber, optionWithVariable } from './env';
import { isPromise, typeFault } from './option-types';
import { nearest, readFlag, readNumber } from './option-values.policy';
import { PER_MODULE } from './resolve-options';

const WITHOUT_VARIABLE =
  'guard guards path presenter routes tokenIds refreshTokenFrom dataSource pool imports users.entity users.provider users.source requestOf ' +
  'hooks.authenticate hooks.tokenClaims hooks.abilities hooks.rateLimitKey hooks.register hooks.registerRules ' +
  'hooks.canSignIn hooks.deleteUser registration.rules keys.public cookie.refreshName rateLimits.limiters passwordReset.brokers ' +
  'passwords.blockList passwords.breached.check passwords.breached.onOutage mail.mailer mail.notices mail.language ' +
  'mail.texts mail.templates mail.accentColor languages messages ' +
  'hashing.verifiers cache stores securityLog.sink';

/** Every option of the library, with the names of its blocks. */
export const OPTIONS: readonly string[] = [
  ...new Set([...VARIABLES.map(([, option]) => option), ...Object.keys(BOUNDS), ...WITHOUT_VARIABLE.split(' ')]),
];

const isBlock = (option: string): boolean => OPTIONS.some((one) => one.startsWith(`${option}.`));

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isLiteral = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;

/**
 * Returns the errors of the names and the values of options: unknown names, each with the nearest known one, values that
 * are not booleans, and numbers out of their bounds. They are refused and not corrected, because the host would not notice
 * that a setting has another value than the one it wrote.
 *
 * @param options the options as the host wrote them, before defaults are applied
 */
export function optionErrors({ guards, ...options }: { guards?: unknown }): string[] {
  const own = errorsOfBlock(options);
  if (guards === undefined) return own;
  if (!isObject(guards)) return [...own, 'guards must be an object: guard names with their options.'];
  const ofGuards = Object.entries(guards).flatMap(([guard, values]) =>
    isObject(values)
      ? errorsOfBlock(values, guard)
      : [`guards.${guard} must be an object with the options of the guard.`],
  );
  return [...own, ...ofGuards];
}

function errorsOfBlock(values: object, guard?: string, block?: string): string[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const option = block ? `${block}.${key}` : key;
    const named = guard === undefined ? option : `guards.${guard}.${option}`;
    if (value === undefined) return [];
    if (guard !== undefined && PER_MODULE.includes(option)) {
      return [`${named} has no effect: all guards share one ${option}. Set it beside guards.`];
    }
    if (isBlock(option)) {
      if (isPromise(value)) return [`${named} is a promise: await it.`];
      return isObject(value) ? errorsOfBlock(value, guard, option) : [notAnObject(option, named)];
    }
    if (option === 'passwordReset.brokers' && isObject(value)) return errorsOfBrokers(value, guard);
    // An object with hooks may have data of its own, and an instance of a class also functions, which its methods use.
    if (block === 'hooks' && !OPTIONS.includes(option) && (typeof value !== 'function' || !isLiteral(values)))
      return [];
    if (block === 'hooks' && OPTIONS.includes(option) && typeof value !== 'function')
      return [`${named} must be a function, and is ${typeof value === 'object' ? 'an' : 'a'} ${typeof value}.`];
    if (!OPTIONS.includes(option)) return [unknownOption(option, named)];
    const fault = NOT_AWAITED.includes(option) ? undefined : typeFault(option, value);
    if (fault) return [`${optionWithVariable(option, guard, named)} ${fault}`];
    return isValid(option, value) ? [] : [invalidValue(option, guard, value, named)];
  });
}

/** Their own checks name what a promise has to resolve to. */
const NOT_AWAITED = ['cache', 'stores', 'keys.jwks'];

/**
 * The errors of the options that the module needs before the other checks run: those with which routes are mounted. All
 * errors of the options, if one of these has a wrong type.
 */
export function structureErrors(structure: { guards?: unknown }): string[] {
  const { guards } = structure;
  const blocks = [structure, ...(isObject(guards) ? Object.values(guards) : [])] as Record<string, unknown>[];
  const isWrong = blocks.some((block) =>
    MOUNTED.some((option) => block?.[option] !== undefined && typeFault(option, block[option])),
  );
  return isWrong ? optionErrors(structure) : [];
}

const MOUNTED = ['guard', 'path', 'domain', 'dataSource'];

/** Checks the entries of `passwordReset.brokers`, whose names the host chooses. */
function errorsOfBrokers(brokers: object, guard?: string): string[] {
  const path = `${guard === undefined ? '' : `guards.${guard}.`}passwordReset.brokers`;
  return Object.entries(brokers).flatMap(([broker, values]) =>
    Object.entries((values ?? {}) as object).flatMap(([key, value]) => {
      const option = `passwordReset.${key}`;
      const named = `${path}.${broker}.${key}`;
      if (value === undefined) return [];
      if (!isNumber(option)) return [unknownOption(option, named)];
      return isValid(option, value) ? [] : [invalidValue(option, guard, value, named)];
    }),
  );
}

/** Flags that a function of the host can decide for each user. */
const MAY_BE_FUNCTIONS: readonly string[] = ['twoFactor.required', 'passkeys.required', 'passkeys.keepLast'];

function isValid(option: string, value: unknown): boolean {
  if (isNumber(option)) return readNumber(value, boundsOf(option)) !== undefined;
  if (!isFlag(option)) return true;
  if (typeof value === 'string') return readFlag(value) !== undefined;
  return typeof value === 'boolean' || (MAY_BE_FUNCTIONS.includes(option) && typeof value === 'function');
}

/** An option of `forRootAsync` only, which `forRoot` does not call. */
const ASYNC_ONLY = ['useFactory', 'inject', 'useClass', 'useExisting'];

function notAnObject(option: string, named: string): string {
  const members = OPTIONS.filter((one) => one.startsWith(`${option}.`)).map((one) => one.slice(option.length + 1));
  return `${named} must be an object. Its options: ${members.slice(0, 5).join(', ')}${members.length > 5 ? ', …' : ''}.`;
}

function unknownOption(option: string, named: string): string {
  if (ASYNC_ONLY.includes(option)) {
    return `${named} is not an option of AuthModule.forRoot. Call AuthModule.forRootAsync({ useFactory, inject }) instead.`;
  }
  const closest = nearest(option, OPTIONS);
  return `${named} is not an option.${closest ? ` The nearest known name is ${closest}.` : ''} All options: docs/options.md.`;
}
