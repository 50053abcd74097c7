import { atMost, machine, spread, table } from '../markdown';
import { median } from '../statistics';

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
}

const NAMES: Record<Variant, string> = {
  without: 'without `AuthModule`',
  default: '`AuthModule`, default features',
  all: '`AuthModule`, all features',
};

const MOST_MB = 25;
const MOST_MS = 300;

/** The run as Markdown. */
export function report(prints: Record<Variant, FootprintSample[]>, requests: number): string {
  const all = (variant: Variant, field: keyof FootprintSample): number[] =>
    prints[variant].map((print) => print[field]);
  const rows = VARIANTS.map((variant) => {
    const memory = (['rss', 'heap', 'rssLater', 'heapLater'] as const).map((field) => spread(all(variant, field), 1));
    return [
      NAMES[variant],
      ...(['startMs', 'cpuMs'] as const).map((field) => spread(all(variant, field), 0)),
      ...memory,
    ];
  });
  const memory = ['RSS', 'heap', `RSS after ${requests} requests`, 'heap after them'].map((name) => `${name}, MB`);
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
    return [NAMES[variant], time, more('cpuMs').toFixed(0), rss('rss'), mb('heap'), rss('rssLater'), mb('heapLater')];
  });
  return `${machine()}, \`NODE_ENV=production\`, Nest on Express, TypeORM and a cache in Redis. The library is packed as published, in plain JavaScript: nothing is compiled at the start. ${prints.without.length} processes of each kind, started alternately; medians with minimum and maximum. Memory is measured after garbage collection, time from the import of the library to the end of \`app.listen\`.

${table(['', 'start ms', 'CPU of the start, ms', ...memory], rows)}

${table(['over the same application without it', 'start ms', 'CPU of the start, ms', ...memory], over)}`;
}
