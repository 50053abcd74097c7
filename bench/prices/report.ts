import { machine, table } from '../markdown';
import { median } from '../statistics';
import { ITEMS, type Item } from './profile';

/** The runs of one route on one adapter. */
export interface Priced {
  name: string;
  runs: { cpuMicros: number; shares: Record<Item, number> }[];
}

/** The price lists as Markdown. */
export function report(priced: readonly Priced[], connections: number): string {
  const micros = ({ runs }: Priced, item: Item): number =>
    median(runs.map(({ cpuMicros, shares }) => cpuMicros * shares[item]));
  const rows = ITEMS.map((item) => [item, ...priced.map((one) => micros(one, item).toFixed(1))]);
  const all = priced.map(({ runs }) => median(runs.map(({ cpuMicros }) => cpuMicros)).toFixed(0));
  return `${machine()}, ${connections} connections, medians of ${priced[0]?.runs.length} runs of ${priced.length} routes in processes of their own.
Microseconds of processor time of the server for one request: the share of the samples of its profile, of the time that the
system reports without the profiler.

${table(['', ...priced.map(({ name }) => name)], [...rows, ['all', ...all]])}`;
}
