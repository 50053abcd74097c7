import { atMost, machine, spread, table } from '../markdown';
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
  return `${machine()}, PostgreSQL ${version}, which waits for its disk, and its default 128 MB of shared buffers. Two databases, a server process before each: ${held(small)} and ${held(large)}. ${samples.refresh.small.length} interleaved rounds, ${seconds} s a sample, medians with the least and the most; requests arrive at random, ${rate} a second, over ${connections} connections at most, each of another session from anywhere in the tables. At that pace the server is mostly idle: what grows is the work itself, and not the queue before it.`;
}

const figures = (samples: OpenSample[], field: keyof OpenSample): number[] => samples.map((sample) => sample[field]);

function latencies({ filled, samples }: Growth): string {
  const rows = KINDS.flatMap((kind) =>
    SIDES.map((side) => {
      const of = (field: keyof OpenSample, digits: number): string =>
        spread(figures(samples[kind][side], field), digits);
      const processor = [of('cpuMicros', 0), of('postgresMicros', 0)];
      return [NAMES[kind], number(filled[side].sessions), of('p50', 2), of('p99', 2), ...processor];
    }),
  );
  return table(['', 'sessions', 'p50 ms', 'p99 ms', 'server CPU µs/req', 'PostgreSQL CPU µs/req'], rows);
}

const FIELDS = { p50: 'p50', p99: 'p99', cpuMicros: 'server CPU', postgresMicros: 'PostgreSQL CPU' } as const;

function ratios({ filled: { small, large }, samples }: Growth): string {
  const rows = KINDS.flatMap((kind) =>
    Object.entries(FIELDS).map(([field, name]) => {
      const of = (side: SideName): number[] => figures(samples[kind][side], field as keyof OpenSample);
      const rounds = of('large').map((figure, i) => figure / of('small')[i]!);
      const itself = of('small')
        .slice(1)
        .map((figure, i) => figure / of('small')[i]!);
      const bar = kind === 'refresh' && field === 'p99' ? verdict(rounds, itself) : '';
      return [`${NAMES[kind]}, ${name}`, spread(rounds), itself.length ? spread(itself) : '–', bar];
    }),
  );
  const compared = `${number(large.sessions)} sessions over ${number(small.sessions)}`;
  return table([compared, 'ratio', `${number(small.sessions)} over themselves, a round before`, 'bar'], rows);
}

/** A machine that measures one thing twice and mostly finds more between the two than the bar allows decides nothing. */
function verdict(rounds: number[], itself: number[]): string {
  const isQuiet = itself.length > 0 && median(itself.map((ratio) => Math.max(ratio, 1 / ratio))) <= MOST;
  return isQuiet ? atMost(MOST, median(rounds)) : `≤ ${MOST}: undecided, the machine is not quiet enough`;
}

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
