import * as fc from 'fast-check';
import {
  type Bounds,
  accepted,
  editDistance,
  isProduction,
  nearest,
  readFlag,
  readNumber,
} from './option-values.policy';

const RUNS = { numRuns: 2000 };
const blanks = fc.constantFrom('', ' ', '\t', '\n ');

describe('the reading of a boolean', () => {
  it.each<[string, boolean | undefined]>([
    ['true', true],
    ['TRUE', true],
    ['1', true],
    ['on', true],
    ['Yes', true],
    ['false', false],
    ['0', false],
    ['OFF', false],
    ['no', false],
    ['', undefined],
    ['  ', undefined],
    [' off\n', false],
    ['banana', undefined],
    ['2', undefined],
    ['01', undefined],
    ['true,', undefined],
    ['o n', undefined],
    ['constructor', undefined],
  ])('"%s" is %p', (text, value) => expect(readFlag(text)).toBe(value));

  it('agrees with a second statement of the rule for every text', () => {
    const naive = (text: string): boolean | undefined => {
      if (/^\s*(true|1|on|yes)\s*$/i.test(text)) return true;
      return /^\s*(false|0|off|no)\s*$/i.test(text) ? false : undefined;
    };
    const words = fc.constantFrom('true', 'false', 'on', 'off', 'yes', 'no', '1', '0', 'y', 'n', 'tru', 'ye', '10', '');
    const cased = fc.tuple(words, fc.boolean()).map(([word, upper]) => (upper ? word.toUpperCase() : word));
    const near = fc.tuple(blanks, cased, blanks).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(near, fc.string()), (text) => expect(readFlag(text)).toBe(naive(text))),
      RUNS,
    );
  });
});

describe('production', () => {
  it.each(['production', 'Production', ' PRODUCTION\n', 'prod', 'Prod '])('is %j', (name) =>
    expect(isProduction(name)).toBe(true),
  );
  it.each([undefined, '', 'test', 'development', 'staging', 'preproduction', 'production2', 'prod-like'])(
    'is not %j',
    (name) => expect(isProduction(name)).toBe(false),
  );

  it('is read from NODE_ENV', () => {
    const replaced = jest.replaceProperty(process.env, 'NODE_ENV', 'Prod');
    expect(isProduction()).toBe(true);
    replaced.restore();
    expect(isProduction()).toBe(false);
  });
});

const SECONDS: Bounds = { min: 1, max: 86_400, unit: 1000 };
const MINUTES: Bounds = { min: 1, max: 10_080, unit: 60_000 };
const COUNT: Bounds = { min: 0, max: 100 };

describe('the reading of a number', () => {
  it.each<[unknown, Bounds, number | undefined]>([
    [60, SECONDS, 60],
    ['60', SECONDS, 60],
    [' 60 ', SECONDS, 60],
    [1, SECONDS, 1],
    [0, SECONDS, undefined],
    [86_400, SECONDS, 86_400],
    [86_401, SECONDS, undefined],
    [-5, SECONDS, undefined],
    ['-5', SECONDS, undefined],
    ['15m', SECONDS, 900],
    ['1h', SECONDS, 3600],
    ['1d', SECONDS, 86_400],
    ['2d', SECONDS, undefined],
    ['1500ms', SECONDS, undefined],
    ['90s', MINUTES, undefined],
    ['120s', MINUTES, 2],
    ['7d', MINUTES, 10_080],
    ['2', MINUTES, 2],
    ['15m', COUNT, undefined],
    ['0', COUNT, 0],
    [60.9, SECONDS, undefined],
    ['60.9', SECONDS, undefined],
    ['1e3', SECONDS, undefined],
    [NaN, SECONDS, undefined],
    [Infinity, SECONDS, undefined],
    ['', COUNT, undefined],
    [null, COUNT, undefined],
    [undefined, COUNT, undefined],
    [true, COUNT, undefined],
    [[60], SECONDS, undefined],
    [60n, SECONDS, undefined],
    [{}, COUNT, undefined],
  ])('%p with the bounds %p is %p', (value, bounds, number) => expect(readNumber(value, bounds)).toBe(number));

  it('agrees with a second statement of the rule for every text', () => {
    /** Tries each unit in turn, and calculates with integers of any size. */
    const naive = (text: string, { min, max, unit }: Bounds): number | undefined => {
      const units: [string, bigint][] = [
        ['ms', 1n],
        ['s', 1000n],
        ['m', 60_000n],
        ['h', 3_600_000n],
        ['d', 86_400_000n],
      ];
      const isInteger = (part: string): boolean => /^[+-]?[0-9]+$/.test(part);
      const word = text.trim();
      let amount: bigint | undefined = isInteger(word) ? BigInt(word.replace('+', '')) : undefined;
      for (const [suffix, size] of unit ? units : []) {
        const digits = word.slice(0, -suffix.length);
        if (!word.endsWith(suffix) || !isInteger(digits)) continue;
        const total = BigInt(digits.replace('+', '')) * size;
        amount = total % BigInt(unit!) === 0n ? total / BigInt(unit!) : undefined;
      }
      return amount !== undefined && amount >= BigInt(min) && amount <= BigInt(max) ? Number(amount) : undefined;
    };
    const digits = fc.oneof(
      fc.nat(100_000).map(String),
      fc.bigInt().map(String),
      fc.constantFrom('', '0', '007', '1.5'),
    );
    const signs = fc.constantFrom('', '', '', '+', '-');
    const suffixes = fc.constantFrom('', 'ms', 's', 'm', 'h', 'd', 'M', 'w', ' s', 'sm', 'e3');
    const near = fc.tuple(blanks, signs, digits, suffixes, blanks).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(near, fc.string()), fc.constantFrom(SECONDS, MINUTES, COUNT), (text, bounds) => {
        const expected = naive(text, bounds);
        const read = readNumber(text, bounds);
        expect(read === undefined ? undefined : read + 0).toBe(expected);
      }),
      RUNS,
    );
  });

  it('accepts a number, and no other value than a text, only within the bounds', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const read = readNumber(value, SECONDS);
        const isAccepted = Number.isInteger(read) && read! >= 1 && read! <= 86_400;
        const isPossible = typeof value === 'string' || typeof value === 'number';
        expect(read === undefined || (isAccepted && isPossible)).toBe(true);
      }),
      RUNS,
    );
  });

  it('is described with its unit and its bounds', () => {
    expect(accepted(COUNT)).toBe('a whole number from 0 to 100');
    expect(accepted(MINUTES)).toBe(
      'a whole number of minutes from 1 to 10080, or a duration with a unit: ms, s, m, h, d',
    );
  });
});

describe('the nearest known name', () => {
  const KNOWN = [
    'accessTtl',
    'refreshTtl',
    'cookie.secure',
    'cookie.refreshName',
    'features.passkeys',
    'passkeys.rpId',
  ];

  it.each([
    ['accesTtl', 'accessTtl'],
    ['accessTTL', 'accessTtl'],
    ['features.passkey', 'features.passkeys'],
    ['cookie.secur', 'cookie.secure'],
    ['secure', 'cookie.secure'],
    ['refreshName', 'cookie.refreshName'],
    ['passkeys.rpid', 'passkeys.rpId'],
    ['completelyDifferent', undefined],
  ])('of %s is %p', (name, known) => expect(nearest(name, KNOWN)).toBe(known));

  it('is found by the distance between two texts: a metric that is 0 for equal texts only', () => {
    const word = fc.string({ maxLength: 8, unit: fc.constantFrom('a', 'b', 'c') });
    fc.assert(
      fc.property(word, word, word, (a, b, c) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(editDistance(a, b) === 0).toBe(a === b);
        expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c));
        expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length));
      }),
    );
    expect(editDistance('kitten', 'sitting')).toBe(3);
  });
});
