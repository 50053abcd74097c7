import { availableParallelism, cpus } from 'node:os';
import type { Sample } from './load';
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

/** A table of guarded requests: medians of the samples of each kind. */
export function guardedRequests(kinds: readonly (readonly [title: string, samples: readonly Sample[]])[]): string {
  const row = ([title, samples]: (typeof kinds)[number]): string[] => {
    const of = (figure: 'perSecond' | 'cpuMicros' | 'p99' | 'statements' | 'commands', digits: number): string =>
      median(samples.map((one) => one[figure] ?? 0)).toFixed(digits);
    return [title, of('perSecond', 0), of('cpuMicros', 0), of('p99', 1), of('statements', 2), of('commands', 2)];
  };
  const figures = ['requests/s', 'µs of processor time', 'p99 in ms', 'statements', 'Redis commands'];
  return table(['guarded request with', ...figures], kinds.map(row));
}
