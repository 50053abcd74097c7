import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../../../../test/docs/blocks';
import { merge } from './merge';
import {
  BOUNDS,
  DEFAULTS,
  DEFAULT_HASHING,
  OPTIONS,
  VARIABLES,
  isFlag,
  isNumber,
  optionErrors,
  resolveOptions,
} from './options.testkit';

/** The rows of the generated page, which has every option of the documented interfaces. */
const PAGE = readFileSync(join(ROOT, 'docs/options.md'), 'utf8');
const ROWS = [...PAGE.matchAll(/^\| `([\w.]+)` \|/gm)].map(([, option]) => option!);

const errors = (options: object): string[] => optionErrors(options);
const set = (option: string, value: unknown): object =>
  option.split('.').reduceRight((inner: unknown, key) => ({ [key]: inner }), value) as object;

describe('the known options', () => {
  it('are exactly the documented ones', () => {
    const isBlock = (option: string): boolean => OPTIONS.some((other) => other.startsWith(`${option}.`));
    expect(OPTIONS.toSorted()).toEqual(ROWS.filter((option) => !isBlock(option)).toSorted());
  });

  it('that are numbers have bounds, and no others have', () => {
    const numeric = [...PAGE.matchAll(/^\| `([\w.]+)` \| `(?:number|Duration)` \|/gm)].map(([, option]) => option!);
    expect(Object.keys(BOUNDS).toSorted()).toEqual(numeric.toSorted());
    expect(OPTIONS.filter(isNumber).toSorted()).toEqual(numeric.toSorted());
  });

  it('that are durations have a unit, and no others have', () => {
    const durations = [...PAGE.matchAll(/^\| `([\w.]+)` \| `Duration` \|/gm)].map(([, option]) => option!);
    const withUnit = Object.entries(BOUNDS).flatMap(([option, { unit }]) => (unit ? option : []));
    expect(withUnit.toSorted()).toEqual(durations.toSorted());
  });

  it('that are booleans are read as booleans', () => {
    const flags = [...PAGE.matchAll(/^\| `([\w.]+)` \| `boolean/gm)].map(([, option]) => option!);
    expect(OPTIONS.filter(isFlag).toSorted()).toEqual(flags.toSorted());
  });

  it.each(Object.entries(BOUNDS).filter(([, { max }]) => max < 2 ** 31 - 1))(
    'name the maximum of %s in the documentation',
    (option, { max }) => {
      const isAbout = (line: string): boolean =>
        line.startsWith(`| \`${option}\``) || line.startsWith(`- \`${option}\``);
      expect(PAGE.split('\n').filter(isAbout).join()).toContain(String(max));
    },
  );
});

describe('the bounds', () => {
  const valueOf = (option: string): unknown =>
    option.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], {
      ...DEFAULTS,
      hashing: DEFAULT_HASHING,
    });

  it.each(Object.entries(BOUNDS))('of %s contain its default, and fit an integer and a timer', (option, bounds) => {
    const { min, max, unit } = bounds;
    expect(min).toBeGreaterThanOrEqual(0);
    const value = option === 'passwords.breached.timeoutMs' ? 1000 : (valueOf(option) as number);
    expect(value).toBeGreaterThanOrEqual(min);
    expect(value).toBeLessThanOrEqual(max);
    // Only milliseconds become timers.
    expect(max).toBeLessThanOrEqual(unit === 1 ? 60_000 : 2 ** 31 - 1);
  });

  it.each(Object.entries(BOUNDS))('of %s are allowed, and the next numbers are refused', (option, { min, max }) => {
    for (const value of [min, max, String(min), ` ${max} `]) expect(errors(set(option, value))).toEqual([]);
    for (const value of [min - 1, max + 1, String(max + 1), NaN, null, 'many', '', max - 0.5]) {
      expect(errors(set(option, value))).toEqual([
        expect.stringMatching(new RegExp(`^${option}.* is .*\\. Use a whole number.* from ${min} to ${max}`)),
      ]);
    }
  });
});

describe('the check of options', () => {
  it('names the option, its variable, the value and the range', () => {
    expect(errors({ accessTtl: -5 })).toEqual([
      'accessTtl (SVC_ACCESS_TTL) is -5. Use a whole number of seconds from 1 to 86400, or a duration with a unit: ms, s, m, h, d.',
    ]);
    expect(errors({ passwords: { breached: { check: {}, timeoutMs: 0 } } })[0]).toMatch(
      /^passwords\.breached\.timeoutMs is 0\. Use a whole number of milliseconds from 1 to 60000/,
    );
  });

  it.each(['15m', '1h', '90s', '86400', 900])('accepts the duration %p', (accessTtl) => {
    expect(errors({ accessTtl })).toEqual([]);
  });

  it.each(['', ' ', 'offf', 0, null, 'banana', {}])('refuses %p for a boolean', (value) => {
    expect(errors({ cookieMode: value })).toEqual([
      expect.stringMatching(/^cookieMode \(SVC_COOKIE_MODE\) is .*\. Use true or false\.$/),
    ]);
    expect(errors({ features: { lockout: value } })[0]).toMatch(/^features\.lockout \(SVC_FEATURE_LOCKOUT\) is /);
    expect(errors({ routes: value })[0]).toMatch(/^routes is /);
  });

  it.each(
    VARIABLES.map(([, option]) => option)
      .filter(isFlag)
      .map((option) => [option]),
  )('accepts both booleans for %s, also as a text of a ConfigService', (option) => {
    const valueIn = (config: object): unknown =>
      option.split('.').reduce((value: unknown, key) => (value as Record<string, unknown>)[key], config);
    for (const [value, expected] of [
      [true, true],
      [false, false],
      ['true', true],
      [' ON ', true],
      ['1', true],
      ['false', false],
      ['Off', false],
      ['0', false],
    ]) {
      const given = merge({ features: { registration: true } }, set(option, value));
      expect(errors(given)).toEqual([]);
      const isOfModule = option.startsWith('securityLog.') || option === 'preparedStatements';
      const { guards, ...module } = resolveOptions({ ...given, guards: { admin: set(option, value) } });
      const resolved = isOfModule ? [module] : guards;
      expect(resolved.map(valueIn)).toEqual(resolved.map(() => expected));
    }
  });

  it('accepts a text for routes', () => {
    expect(errors({ routes: 'false' })).toEqual([]);
    expect(resolveOptions({ routes: 'off' as never }).routes).toBe(false);
  });

  it('accepts a function for passkeys.required, and for no other boolean', () => {
    expect(errors({ passkeys: { required: () => true } })).toEqual([]);
    expect(errors({ registration: { login: () => true } })).toEqual([expect.stringContaining('is a function')]);
  });

  it.each<[string, object, string]>([
    ['a mistyped option', { accesTtl: 60 }, 'accesTtl is not an option. The nearest known name is accessTtl.'],
    [
      'a mistyped feature',
      { features: { passkey: true } },
      'features.passkey is not an option. The nearest known name is features.passkeys.',
    ],
    [
      'an option in the wrong place',
      { secure: true },
      'secure is not an option. The nearest known name is cookie.secure.',
    ],
    ['a mistyped limit', { rateLimits: { logn: {} } }, 'rateLimits.logn is not an option.'],
    [
      'a mistyped number of a limit',
      { rateLimits: { login: { maxAttemps: 1 } } },
      'The nearest known name is rateLimits.login.maxAttempts.',
    ],
    ['a mistyped hook', { hooks: { canSignin: () => true } }, 'The nearest known name is hooks.canSignIn.'],
    [
      'a mistyped option of a guard',
      { guards: { admin: { audiense: 'a' } } },
      'guards.admin.audiense is not an option. The nearest known name is audience.',
    ],
    [
      'a mistyped value of a broker',
      { passwordReset: { brokers: { staff: { expire: 1 } } } },
      'passwordReset.brokers.staff.expire is not an option.',
    ],
    ['a name of Object.prototype', { constructor: 1 }, 'constructor is not an option.'],
  ])('refuses %s, and names the nearest known one', (_, options, message) => {
    expect(errors(options)).toEqual([expect.stringContaining(message)]);
  });

  it('ignores functions of an instance of a class of hooks, which its hooks use', () => {
    class Hooks {
      readonly load = async () => [];
      abilities = () => this.load();
      canSignIn(): boolean {
        return true;
      }
    }
    expect(errors({ hooks: new Hooks(), guards: { admin: { hooks: new Hooks() } } })).toEqual([]);
    expect(errors({ hooks: { ...new Hooks() } })).toEqual([expect.stringMatching(/^hooks\.load is not an option\./)]);
  });

  it('checks the options of each guard, with the names of its variables', () => {
    expect(errors({ guards: { 'back-office': { graceSeconds: -1, features: { lockout: 1 } }, admin: {} } })).toEqual([
      expect.stringMatching(/^guards\.back-office\.graceSeconds \(SVC_BACK_OFFICE_GRACE\) is -1\./),
      expect.stringMatching(/^guards\.back-office\.features\.lockout \(SVC_BACK_OFFICE_FEATURE_LOCKOUT\) is 1\./),
    ]);
  });

  it('refuses an option of the module in a guard, where it would have no effect', () => {
    expect(errors({ guards: { admin: { hashing: { timeCost: 3 } } } })).toEqual([
      'guards.admin.hashing has no effect: all guards share one hashing. Set it beside guards.',
    ]);
  });

  it.each([[null], ['x'], [[]], [7]])('refuses %p instead of a block', (value) => {
    expect(errors({ cookie: value, guards: value })).toEqual(
      expect.arrayContaining([
        'cookie must be an object. Its options: secure, origins, refreshName.',
        expect.stringMatching(/^guards must be an object/),
      ]),
    );
    expect(errors({ guards: { admin: value } })).toEqual([expect.stringMatching(/^guards\.admin must be an object/)]);
  });

  it('does not show a text that may be a secret', () => {
    const secret = '3f1c0a9be77d42d6a5c8e0b1f2934d60';
    expect(errors({ accessTtl: secret, features: { lockout: secret } })).toEqual([
      expect.stringMatching(/^accessTtl \(SVC_ACCESS_TTL\) is a text of 32 characters\. Use a whole number/),
      'features.lockout (SVC_FEATURE_LOCKOUT) is a text of 32 characters. Use true or false.',
    ]);
  });

  it('names all errors at once', () => {
    expect(errors({ accessTtl: 0, leeway: 'x', cookieMod: true, guards: { admin: { refreshTtl: 0 } } })).toHaveLength(
      4,
    );
  });

  it('does not concern undefined values, names that the host chooses, and data beside hooks', () => {
    const options = {
      accessTtl: undefined,
      unknown: undefined,
      keys: { public: { k1: 'pem' } },
      rateLimits: { limiters: { own: () => [] } },
      stores: { own: {} },
      messages: { 'auth.wrong_password': 'x' },
      passwordReset: { brokers: { staff: { expireMinutes: '1h' }, kiosk: null } },
      hooks: { prefix: 'x', abilities: () => [] },
      guards: { own: {} },
    };
    expect(errors(options)).toEqual([]);
  });
});
