import { atMost, machine, table } from '../markdown';
import { median, quantile } from '../statistics';
import type { Filled } from './fill';
import type { OpenSample, Pace } from './open-load';
import type { Planned } from './plans';
import type { Revoked } from './revoking';

export const KINDS = ['refresh', 'guarded'] as const;
export const SIDES = ['small', 'large'] as const;
export type Kind = (typeof KINDS)[number];
export type SideName = (typeof SIDES)[number];

/** Everything one run measured. */
export interface Growth {
  pace: Pace;
  connections: number;
  version: string;
  filled: Record<SideName, Filled>;
  samples: Record<Kind, Record<SideName, OpenSample[]>>;
  revoked: Revoked;
  plans: Planned[];
}

const MOST = 1.5;
const NAMES: Record<Kind, string> = { refresh: '`POST /auth/refresh`', guarded: 'guarded GET' };
const number = (value: number): string => value.toLocaleString('en');

/** The run as Markdown. */
export const report = (growth: Growth): string =>
  [heading(growth), latencies(growth), ratios(growth), revocations(growth), plans(growth)].join('\n\n');

function heading({ pace: { rate, seconds }, connections, filled: { small, large }, samples, version }: Growth): string {
  const held = ({ sessions, rows, mib }: Filled): string =>
    `${number(sessions)} sessions, ${number(rows.svc_refresh_tokens!)} refresh tokens, ${number(rows.people!)} users (${number(mib)} MiB)`;
  return `${machine()}, PostgreSQL ${version}, which waits for its disk, and its default 128 MB of shared buffers. Two databases, a server process before each: ${held(small)} and ${held(large)}. ${samples.refresh.small.length} rounds of ${seconds} s, interleaved, all their requests taken together; they arrive at random, ${rate} a second, over ${connections} connections at most, each of another session from anywhere in the tables. At that pace the server is mostly idle: what grows is the work itself, and not the queue before it.`;
}

/** All rounds together: a tail needs more requests than one round has. */
const FIGURES: Record<string, (samples: OpenSample[]) => number> = {
  'p50 ms': (samples) => quantile(latenciesOf(samples), 0.5),
  'p99 ms': (samples) => quantile(latenciesOf(samples), 0.99),
  'server CPU µs/req': (samples) => perRequest(samples, 'cpuMicros'),
  'PostgreSQL CPU µs/req': (samples) => perRequest(samples, 'postgresMicros'),
};
const BARRED = 'p99 ms';

const latenciesOf = (samples: OpenSample[]): number[] => samples.flatMap((sample) => sample.latencies);

function perRequest(samples: OpenSample[], field: 'cpuMicros' | 'postgresMicros'): number {
  const spent = samples.reduce((sum, sample) => sum + sample[field], 0);
  return spent / latenciesOf(samples).length;
}

function latencies({ filled, samples }: Growth): string {
  const rows = KINDS.flatMap((kind) =>
    SIDES.map((side) => [
      NAMES[kind],
      number(filled[side].sessions),
      number(latenciesOf(samples[kind][side]).length),
      ...Object.entries(FIGURES).map(([name, of]) => of(samples[kind][side]).toFixed(name.endsWith('ms') ? 2 : 0)),
    ]),
  );
  return table(['', 'sessions', 'requests', ...Object.keys(FIGURES)], rows);
}

function ratios({ filled: { small, large }, samples }: Growth): string {
  const rows = KINDS.flatMap((kind) =>
    Object.entries(FIGURES).map(([name, of]) => {
      const ratio = of(samples[kind].large) / of(samples[kind].small);
      const every = (rest: number): OpenSample[] => samples[kind].small.filter((_, round) => round % 2 === rest);
      const itself = of(every(0)) / of(every(1));
      const bar = kind === 'refresh' && name === BARRED ? verdict(ratio, itself) : '';
      return [`${NAMES[kind]}, ${name}`, ratio.toFixed(2), itself.toFixed(2), bar];
    }),
  );
  const compared = `${number(large.sessions)} sessions over ${number(small.sessions)}`;
  return table([compared, 'ratio', `${number(small.sessions)}: every other round over the rest`, 'bar'], rows);
}

/** A machine that measures one thing twice and finds more between the two than the bar allows decides nothing. */
const verdict = (ratio: number, itself: number): string =>
  Math.max(itself, 1 / itself) <= MOST ? atMost(MOST, ratio) : `≤ ${MOST}: undecided, the machine is not quiet enough`;

function revocations({ revoked }: Growth): string {
  const one = median(Object.values(revoked)[0] ?? []);
  const rows = Object.entries(revoked).map(([size, times]) => {
    const each = (median(times) / Number(size)) * 1000;
    const ratio = (median(times) / one).toFixed(2);
    return [
      number(Number(size)),
      times.length,
      median(times).toFixed(2),
      quantile(times, 0.95).toFixed(2),
      ratio,
      each.toFixed(0),
    ];
  });
  return `\`DELETE /auth/sessions\` of users in the large database, one after the other, until the tokens of all their sessions are dead:

${table(['sessions of the user', 'users', 'median ms', 'p95 ms', 'over one session', 'µs a session'], rows)}`;
}

function plans({ plans: planned }: Growth): string {
  const rows = planned.map(({ operation, statements, accesses, missed }) => {
    const scans = missed.length ? `**missed**: all of ${missed.join(', ')}` : 'met';
    return [operation, statements, accesses.map((access) => `\`${access}\``).join('<br>') || 'none', scans];
  });
  return `What the large database means to do for each statement, by the plan for its values and by the plan for any; the bar is no sequential scan of a table that grows:

${table(['operation', 'statements', 'access', 'no scan'], rows)}`;
}
