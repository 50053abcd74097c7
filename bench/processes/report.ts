import { availableParallelism } from 'node:os';
import { machine, spread, table } from '../markdown';
import { median } from '../statistics';
import type { CrossProcessResult } from './cross-process';
import type { SpreadSample } from './spread-load';

/** One process, two and four that share their stores, two behind one port, and two that share only the machine. */
export const SETTINGS = ['one', 'two', 'cluster', 'four', 'apart'] as const;
export type Setting = (typeof SETTINGS)[number];

/** The samples of one kind of request. */
export type Scaled = Record<Setting, SpreadSample[]> & { name: string; alone: SpreadSample };

/** All measurements of one run. */
export interface Processes {
  connections: number;
  seconds: number;
  version: string;
  scaled: Scaled[];
  crossed: CrossProcessResult;
}

const NAMES: Record<Setting, string> = {
  one: '1',
  two: '2',
  cluster: '2 in a cluster, behind one port',
  four: '4',
  apart: '2, nothing shared',
};

const LEAST = 1.8;
/** Two servers, PostgreSQL with as much work, Redis and the load generator: with fewer cores they compete. */
const CORES = 6;
const PARTS = ['servers', 'postgres', 'redis', 'generator', 'total'] as const;

/** The run as Markdown. */
export const report = (processes: Processes): string =>
  [heading(processes), costs(processes), calls(processes), ratios(processes), crossing(processes)].join('\n\n');

const heading = ({ connections, seconds, version, scaled }: Processes): string =>
  `${machine()}, PostgreSQL ${version}, which does not wait for its disk. One process is compared with two, two in a cluster and four on one PostgreSQL and one Redis, and with two that have a database and a Redis each and share only the machine; ${connections} connections in total, ${scaled[0]!.one.length} interleaved rounds, ${seconds} s per sample, medians with minimum and maximum. Everything runs on this machine, including the load generator.`;

const figures = (samples: SpreadSample[], field: keyof SpreadSample): number[] =>
  samples.map((sample) => sample[field]);

function costs({ scaled }: Processes): string {
  const rows = scaled.flatMap(({ name, ...settings }) =>
    SETTINGS.map((setting) => {
      const samples = settings[setting];
      const parts = PARTS.map((part) => median(figures(samples, part)).toFixed(0));
      return [name, NAMES[setting], spread(figures(samples, 'perSecond'), 0), ...parts, busy(samples).toFixed(2)];
    }),
  );
  const parts = ['servers', 'PostgreSQL', 'Redis', 'load generator', 'all'].map((part) => `CPU µs/req: ${part}`);
  return table(['', 'processes', 'req/s', ...parts, 'cores busy'], rows);
}

/** The calls of a single request, and those of a request among many. */
function calls({ scaled }: Processes): string {
  const rows = scaled.flatMap(({ name, alone, ...settings }) => [
    [name, '1, one request at a time', ...callsOf([alone])],
    // A worker of a cluster counts its own statements only.
    ...SETTINGS.filter((setting) => setting !== 'cluster').map((setting) => [
      name,
      NAMES[setting],
      ...callsOf(settings[setting]),
    ]),
  ]);
  return `Requests that arrive in the same turn of the event loop of one process share a statement. The same connections over more processes share less:

${table(['', 'processes', 'statements per request', 'Redis round trips per request', 'CPU µs/req: PostgreSQL', 'CPU µs/req: Redis'], rows)}`;
}

const callsOf = (samples: SpreadSample[]): string[] => [
  ...(['statements', 'trips'] as const).map((field) => median(figures(samples, field)).toFixed(2)),
  ...(['postgres', 'redis'] as const).map((field) => median(figures(samples, field)).toFixed(0)),
];

const busy = (samples: SpreadSample[]): number =>
  median(samples.map(({ total, perSecond }) => (total * perSecond) / 1e6));

function ratios({ scaled }: Processes): string {
  const rows = scaled.flatMap(({ name, one, two, cluster, four, apart }) => {
    const pairs = [
      ['2 over 1', two, one],
      ['2 in a cluster over 1', cluster, one],
      ['2 in a cluster over 2', cluster, two],
      ['4 over 1', four, one],
      ['2 over 2 that share nothing', two, apart],
    ] as const;
    return pairs.map(([compared, samples, others]) => {
      const over = (field: keyof SpreadSample): number[] =>
        samples.map((sample, i) => sample[field] / others[i]![field]);
      const bar = samples === two && others === one ? verdict(median(over('perSecond')), two) : '';
      return [name, compared, spread(over('perSecond')), bar, spread(over('total'))];
    });
  });
  return table(['', 'processes', 'req/s', 'bar', 'CPU of all per request'], rows);
}

function verdict(ratio: number, two: SpreadSample[]): string {
  const cores = availableParallelism();
  const bar = `≥ ${LEAST}`;
  if (cores < CORES) return `${bar}: not measurable on ${cores} cores`;
  const generator = median(two.map((sample) => (sample.generator * sample.perSecond) / 1e6));
  if (ratio < LEAST && generator > 0.9) return `${bar}: not measurable, the load generator is saturated`;
  return `${bar}: ${ratio >= LEAST ? 'met' : '**missed**'}`;
}

const crossing = ({ crossed: { refreshes, revocations } }: Processes): string =>
  `In a chain of ${refreshes} refreshes, alternately at both processes, no refresh was refused, and each access token was accepted at the other process. ${revocations} sessions were ended at one process: the first request to the other and the refresh were answered 401 each time.`;
