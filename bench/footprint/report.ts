import { atMost, machine, spread, table } from '../markdown';
import { median } from '../statistics';
import type { Built } from './build';

export const VARIANTS = ['without', 'default', 'all'] as const;
export type Variant = (typeof VARIANTS)[number];

/** One start of a process. Memory in MB, time in milliseconds. */
export interface FootprintSample {
  startMs: number;
  cpuMs: number;
  rss: number;
  heap: number;
  /** Values after the requests. */
  rssLater: number;
  heapLater: number;
  /** From the start of the process to its first answer to a guarded request. */
  coldMs: number;
}

const kB = (bytes: number): string => Math.round(bytes / 1000).toLocaleString('en');

const NAMES: Record<Variant, string> = {
  without: 'without `AuthModule`',
  default: '`AuthModule`, default features',
  all: '`AuthModule`, all features',
};

const MOST_MB = 15;
const MOST_MS = 200;

/** The run as Markdown. */
export function report(
  prints: Record<Variant, FootprintSample[]>,
  requests: number,
  { packed, installed }: Built,
): string {
  const all = (variant: Variant, field: keyof FootprintSample): number[] =>
    prints[variant].map((print) => print[field]);
  const rows = VARIANTS.map((variant) => {
    const memory = (['rss', 'heap', 'rssLater', 'heapLater'] as const).map((field) => spread(all(variant, field), 1));
    return [
      NAMES[variant],
      ...(['startMs', 'cpuMs', 'coldMs'] as const).map((field) => spread(all(variant, field), 0)),
      ...memory,
    ];
  });
  const memory = ['RSS', 'heap', `RSS after ${requests} requests`, 'heap after them'].map((name) => `${name}, MB`);
  const times = ['start ms', 'CPU of the start, ms', 'cold start ms'];
  const over = (['default', 'all'] as const).map((variant) => {
    const more = (field: keyof FootprintSample): number => median(all(variant, field)) - median(all('without', field));
    const mb = (field: keyof FootprintSample): string => more(field).toFixed(1);
    const verdict = (field: keyof FootprintSample, most: number, unit: string): string => {
      const alone = all('without', field);
      // If the variation without the library exceeds the bar, the result for the library is undecided.
      if (Math.max(...alone) - Math.min(...alone) > most) return `≤ ${most} ${unit}: undecided, the machine is busy`;
      return atMost(most, more(field), ` ${unit}`);
    };
    const rss = (field: 'rss' | 'rssLater'): string => `${mb(field)} (${verdict(field, MOST_MB, 'MB')})`;
    const time = `${more('startMs').toFixed(0)} (${verdict('startMs', MOST_MS, 'ms')})`;
    const [cpu, cold] = [more('cpuMs').toFixed(0), more('coldMs').toFixed(0)];
    return [NAMES[variant], time, cpu, cold, rss('rss'), mb('heap'), rss('rssLater'), mb('heapLater')];
  });
  return `${machine()}, \`NODE_ENV=production\`, Nest on Express, TypeORM and a cache in Redis. The library is packed as published, in plain JavaScript: nothing is compiled at the start. ${prints.without.length} processes of each kind, started alternately; medians with minimum and maximum. Memory is measured after garbage collection, time from the import of the library to the end of \`app.listen\`. A cold start is the time from the start of a process to its first answer to a guarded request, as of a serverless function. The package has ${kB(packed)} kB, and ${kB(installed)} kB when it is installed, without its dependencies.

${table(['', ...times, ...memory], rows)}

${table(['over the same application without it', ...times, ...memory], over)}`;
}
