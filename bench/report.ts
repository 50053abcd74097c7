import { totalmem } from 'node:os';
import { TARGETS, type Target, roundsOf, verdictOf } from './targets';
import type { Group, Scenario } from './groups/group';
import { GROUPS } from './groups';
import type { Sample } from './load';
import { type LoginTiming, summaryOf } from './login-timing';
import { machine, spread, table } from './markdown';
import type { Settings } from './settings';
import { chanceDeviation, median } from './statistics';
import type { StoreCalls } from './store-calls';

/** The measurements of one group, by the keys of the scenarios. */
export interface Measured {
  scenarios: Record<string, Scenario>;
  samples: Record<string, Sample[]>;
  calls: Record<string, StoreCalls>;
}

/** All measurements of one run. */
export interface Results {
  settings: Settings;
  /** `PostgreSQL 18.4, Redis 7.0.15`. */
  stores: string;
  groups: Record<string, Measured>;
  /** By the name of the application. */
  timings: Record<string, LoginTiming>;
}

/** The run as Markdown. */
export function report(results: Results): string {
  const { groups, timings } = results;
  return [
    heading(results),
    `### Bars\n\n${barTable(results, (bar) => bar.least !== undefined || bar.most !== undefined)}`,
    ...Object.entries(groups).map(([group, measured]) => groupTables(GROUPS[group]!, measured)),
    `### Further ratios\n\n${barTable(results, (bar) => bar.least === undefined && bar.most === undefined)}`,
    ...(Object.keys(timings).length ? [timingTable(results)] : []),
  ].join('\n\n');
}

const FEW_ROUNDS = 3;

function heading({ settings: { rounds, seconds, connections }, stores }: Results): string {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const date = new Date().toISOString().slice(0, 10);
  return `${date}: ${machine()}, ${memory}, ${process.platform}, ${stores}, \`NODE_ENV=production\`.
${rounds} rounds, interleaved, ${seconds} s per sample, ${connections} connections. Medians of the rounds, with the range.
${rounds < FEW_ROUNDS ? '\n**This run is too short for figures. It only shows that everything can be measured.**' : ''}`.trimEnd();
}

const range = (values: number[], digits: number): string =>
  `${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)}`;

function groupTables({ title, note }: Group, { scenarios, samples, calls }: Measured): string {
  const rows = Object.entries(scenarios).map(([key, { name }]) => {
    const all = (field: keyof Sample): number[] => samples[key]!.map((sample) => sample[field] ?? NaN);
    const middle = (field: keyof Sample, digits: number): string => shown(median(all(field)), digits);
    const spreadOf = (field: keyof Sample, digits: number): string =>
      Number.isNaN(all(field)[0]) ? '–' : spread(all(field), digits);
    const processor = (['cpuMicros', 'postgresMicros', 'redisMicros'] as const).map((field) => middle(field, 0));
    const times = [spreadOf('perSecond', 0), spreadOf('p50', 1), spreadOf('p99', 1)];
    return [name, ...times, ...processor, middle('loopP99', 1), middle('rss', 0)];
  });
  const processor = ['server', 'PostgreSQL', 'Redis'].map((name) => `CPU µs/req: ${name}`);
  const columns = ['', 'req/s', 'p50 ms', 'p99 ms', ...processor, 'event loop p99 ms', 'RSS MiB'];
  const counted = Object.entries(calls).map(([key, { sql, redis }]) => {
    const loadedWith = (field: 'statements' | 'commands'): string =>
      shown(median(samples[key]!.map((sample) => sample[field]!)), 2);
    const commands = Object.entries(redis).map(([name, count]) => `${count} ${name.toUpperCase()}`);
    const cells = [listed(sql), loadedWith('statements'), listed(commands), loadedWith('commands')];
    return [scenarios[key]!.name, ...cells];
  });
  const countedColumns = ['store calls of one request', 'SQL', 'under load', 'Redis', 'under load'];
  return [`### ${title}`, table(columns, rows), table(countedColumns, counted), ...(note ? [note] : [])].join('\n\n');
}

const shown = (value: number, digits: number): string => (Number.isNaN(value) ? '–' : value.toFixed(digits));
const listed = (names: string[]): string => names.join(', ') || 'none';

const FIELDS: Partial<Record<keyof Sample, string>> = {
  perSecond: 'req/s',
  p50: 'p50',
  cpuMicros: 'processor time of the server',
  loopP99: 'event loop p99, ms',
  hashMs: 'ms of one hash',
  hashing: 'share of the time in which hashes were computed',
};

function barTable({ groups }: Results, which: (bar: Target) => boolean): string {
  const rows = TARGETS.filter(which).flatMap((bar) => {
    const measured = groups[bar.group];
    if (!measured) return [];
    const rounds = roundsOf(bar, measured.samples);
    const hasBar = bar.least !== undefined || bar.most !== undefined;
    if (!rounds && !hasBar) return [];
    const name = (key: string): string => measured.scenarios[key]?.name ?? key;
    const compared = bar.to === undefined ? name(bar.of) : `${name(bar.of)} / ${name(bar.to)}`;
    const figures = rounds ? [median(rounds).toFixed(2), range(rounds, 2)] : ['–', '–'];
    return [
      [GROUPS[bar.group]!.title, compared, FIELDS[bar.field]!, ...figures, ...(hasBar ? [verdictOf(bar, rounds)] : [])],
    ];
  });
  const columns = ['', 'compared', 'by', 'median', 'rounds', 'bar'];
  return table(columns.slice(0, rows[0]?.length ?? 6), rows);
}

const triple = ([middle, low, high]: number[]): string =>
  `${middle?.toFixed(2)} (${low?.toFixed(2)} to ${high?.toFixed(2)})`;

function timingTable({ timings, settings: { logins } }: Results): string {
  const rows = Object.entries(timings).map(([name, timing]) => {
    const { known, unknown, unknownSlower } = summaryOf(timing);
    return [name, triple(known), triple(unknown), unknownSlower.toFixed(3)];
  });
  const columns = ['', ...['known', 'unknown'].map((user) => `${user}: median ms (p5 to p95)`), 'P(unknown is slower)'];
  return `### Wrong password: known against unknown user

${table(columns, rows)}

${logins} sequential logins each. 0.5 means indistinguishable; random variation alone is 0.5 ± ${chanceDeviation(logins).toFixed(3)}.`;
}
