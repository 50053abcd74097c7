import { availableParallelism, cpus } from 'node:os';
import { median } from './statistics';

/** The machine of the figures. */
export const machine = (): string =>
  `Node ${process.version.slice(1)}, ${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'})`;

const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

const FIGURE = /^(–$|\d[\d,]*(\.\d+)?( [(t%]|$))/;

/** A table with right-aligned columns of figures. */
export function table(columns: readonly string[], rows: readonly (string | number)[][]): string {
  const isFigure = (_: string, i: number): boolean => rows.every((cells) => FIGURE.test(String(cells[i])));
  const rule = columns.map((column, i) => (isFigure(column, i) ? '---:' : '---'));
  return [line(columns), line(rule), ...rows.map(line)].join('\n');
}

/** `1.23 (1.10 to 1.41)`: the median, followed by minimum and maximum. */
export function spread(values: readonly number[], digits = 2): string {
  const [least, most] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(digits));
  return `${median(values).toFixed(digits)} (${least} to ${most})`;
}

/** `≤ 1.5: met` */
export const atMost = (bar: number, value: number, unit = ''): string =>
  `≤ ${bar}${unit}: ${value <= bar ? 'met' : '**missed**'}`;
