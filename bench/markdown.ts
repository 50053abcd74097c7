import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { median } from './statistics';

const PAGE = join(__dirname, '../docs/performance.md');

/** Where the figures are from. */
export const machine = (): string =>
  `Node ${process.version.slice(1)}, ${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'})`;

const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

/** A table whose first column holds names and whose others hold figures. */
export const table = (columns: readonly string[], rows: readonly (string | number)[][]): string =>
  [line(columns), line(columns.map((_, i) => (i ? '---:' : '---'))), ...rows.map(line)].join('\n');

/** `1.23 (1.10 to 1.41)`: the median, and in brackets the least and the most. */
export function spread(values: readonly number[], digits = 2): string {
  const [least, most] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(digits));
  return `${median(values).toFixed(digits)} (${least} to ${most})`;
}

/** `≤ 1.5: met` */
export const atMost = (bar: number, value: number, unit = ''): string =>
  `≤ ${bar}${unit}: ${value <= bar ? 'met' : '**missed**'}`;

/** Prints a report, and puts it between `<!-- name -->` and `<!-- /name -->` of `docs/performance.md`, if there. */
export async function publish(name: string, report: string): Promise<void> {
  process.stdout.write(`${report}\n`);
  const page = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
  const [opening, closing] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(opening), page.indexOf(closing)];
  if (from < 0 || to < from) return;
  const text = `${page.slice(0, from)}${opening}\n\n${report}\n\n${page.slice(to)}`;
  writeFileSync(PAGE, await format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' }));
}
