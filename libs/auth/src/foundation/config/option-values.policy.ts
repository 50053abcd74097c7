/** The bounds of a number. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Milliseconds of one unit of a duration; absent for a number that is not a duration. */
  readonly unit?: number;
}

const TRUE: readonly unknown[] = ['true', '1', 'on', 'yes'];
const FALSE: readonly unknown[] = ['false', '0', 'off', 'no'];

/** Reads a boolean from a text; undefined for any other text, also for a blank one. */
export function readFlag(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  return TRUE.includes(word) ? true : FALSE.includes(word) ? false : undefined;
}

/** Whether the value of `NODE_ENV` names production: `production` or `prod`, in any case and with spaces around it. */
export const isProduction = (environment: string | undefined = process.env.NODE_ENV): boolean =>
  ['production', 'prod'].includes(environment?.trim().toLowerCase() ?? '');

/** The units that the text of a duration can have. */
type DurationUnit = 'ms' | 's' | 'm' | 'h' | 'd';

/**
 * A duration: a whole number in the unit of its option, also as text, or a whole number with a unit: `'90s'`, `'15m'`, `'12h'`,
 * `'7d'`.
 */
export type Duration = number | `${number}` | `${number}${DurationUnit}`;

const MILLISECONDS: Readonly<Record<DurationUnit, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Reads a whole number within bounds, from a number or a text. A duration may have a unit (`15m`), if it is a whole
 * number in the unit of its option. Undefined for any other value: a number is never changed to fit its bounds.
 */
export function readNumber(value: unknown, { min, max, unit }: Bounds): number | undefined {
  const number = typeof value === 'string' ? numberIn(value.trim(), unit) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max ? number : undefined;
}

function numberIn(text: string, unit?: number): number | undefined {
  const [, digits, suffix] = /^([+-]?\d+)(ms|s|m|h|d)?$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  if (suffix === undefined) return Number(digits);
  return unit && (Number(digits) * MILLISECONDS[suffix as DurationUnit]) / unit;
}

const UNITS: Readonly<Record<number, string>> = {
  1: 'milliseconds',
  1000: 'seconds',
  60_000: 'minutes',
  86_400_000: 'days',
};

/** Describes the values that {@link readNumber} accepts. */
export function accepted({ min, max, unit }: Bounds): string {
  const range = `from ${min} to ${max}`;
  return unit
    ? `a whole number of ${UNITS[unit]} ${range}, or a duration with a unit: ms, s, m, h, d`
    : `a whole number ${range}`;
}

/** The number of characters to insert, remove or replace that turns one text into the other (Levenshtein). */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}

/**
 * The known name that is most like an unknown one, without regard to case; undefined if more than half of the characters
 * differ. The last part of a dotted name counts, and a name in the same block is preferred.
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const [block, leaf] = split(name);
  let found: string | undefined;
  let least = Math.max(2, Math.ceil(leaf.length / 2)) + 1;
  for (const candidate of known) {
    const [otherBlock, otherLeaf] = split(candidate);
    const distance = editDistance(leaf.toLowerCase(), otherLeaf.toLowerCase()) + (block === otherBlock ? 0 : 1);
    if (distance < least) [found, least] = [candidate, distance];
  }
  return found;
}

const split = (name: string): [block: string, leaf: string] => {
  const end = name.lastIndexOf('.');
  return [name.slice(0, Math.max(0, end)), name.slice(end + 1)];
};
