import { atMost, machine, table } from '../markdown';
import { median, quantile } from '../statistics';
import type { Filled } from './fill';
import type { OpenSample, Pace } from './open-load';
import type { Planned } from './plans';
import type { Revoked } from './revoking';
import type { Writes } from './writes';

export const KINDS = ['refresh', 'guarded', 'login'] as const;
export type Kind = (typeof KINDS)[number];

/** The requests of each kind for each request of the given rate. A hash occupies a core for some milliseconds. */
export const RATES: Readonly<Record<Kind, number>> = { refresh: 1, guarded: 1, login: 0.2 };

/** The measurements for one size of the table. */
export interface Size {
  filled: Filled;
  samples: Record<Kind, OpenSample[]>;
  writes: Writes;
  revoked: Revoked;
}

/** All measurements of one run. */
export interface Growth {
  pace: Pace;
  connections: number;
  version: string;
  small: Size;
  /** In ascending order. */
  large: [Size, ...Size[]];
  /** Of the largest size. */
  plans: Planned[];
}

const MOST = 1.2;
const LEAST_HOT = 0.95;
const NAMES: Record<Kind, string> = {
  refresh: '`POST /auth/refresh`',
  guarded: 'guarded GET',
  login: '`POST /auth/login`',
};
const number = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 0 });

/** The run as Markdown. */
export const report = (growth: Growth): string =>
  [heading(growth), latencies(growth), ratios(growth), writes(growth), revocations(growth), plans(growth)].join('\n\n');

const all = ({ small, large }: Growth): Size[] => [small, ...large];

function heading(growth: Growth): string {
  const { pace, connections, small, version } = growth;
  const held = all(growth).map(
    ({ filled: { sessions, users, mib } }) =>
      `${number(sessions)} sessions of ${number(users)} users (${number(mib)} MiB)`,
  );
  return `${machine()}, PostgreSQL ${version} with its default 128 MB of shared buffers; it waits for its disk. ${held.length} databases, each with a server process and a Redis: ${held.join('; ')}. ${small.samples.refresh.length} interleaved rounds of ${pace.seconds} s; the requests of all rounds are evaluated together. Requests arrive at random, ${pace.rate} refreshes, ${pace.rate} guarded requests or ${RATES.login * pace.rate} logins a second over at most ${connections} connections, each for another session or user from anywhere in the table. At this rate the server is mostly idle: an increase is an increase of the work and not of a queue.`;
}

/** The figures of all rounds together: a tail needs more requests than one round has. */
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

function latencies(growth: Growth): string {
  const rows = KINDS.flatMap((kind) =>
    all(growth).map(({ filled, samples }) => [
      NAMES[kind],
      number(filled.sessions),
      number(latenciesOf(samples[kind]).length),
      ...Object.entries(FIGURES).map(([name, of]) => of(samples[kind]).toFixed(name.endsWith('ms') ? 2 : 0)),
    ]),
  );
  return table(['', 'sessions', 'requests', ...Object.keys(FIGURES)], rows);
}

function ratios({ small, large }: Growth): string {
  const few = number(small.filled.sessions);
  const rows = KINDS.flatMap((kind) =>
    Object.entries(FIGURES).flatMap(([name, of]) => {
      const every = (rest: number): OpenSample[] => small.samples[kind].filter((_, round) => round % 2 === rest);
      const itself = of(every(0)) / of(every(1));
      return large.map(({ filled, samples }) => {
        const ratio = of(samples[kind]) / of(small.samples[kind]);
        const bar = kind === 'refresh' && name === BARRED ? verdict(ratio, itself) : '';
        return [`${NAMES[kind]}, ${name}`, number(filled.sessions), ratio.toFixed(2), itself.toFixed(2), bar];
      });
    }),
  );
  const columns = ['', 'sessions', `over ${few} sessions`, `${few}: every other round over the rest`, 'bar'];
  return table(columns, rows);
}

/** The result is undecided if two measurements of the same table differ by more than the bar allows. */
const verdict = (ratio: number, itself: number): string =>
  Math.max(itself, 1 / itself) <= MOST ? atMost(MOST, ratio) : `≤ ${MOST}: undecided, the machine is too busy`;

function writes(growth: Growth): string {
  const sizes = all(growth);
  const row = (name: string, of: (size: Size) => string, isMet?: (size: Size) => boolean, bar = ''): string[] => {
    const verdicts = isMet ? [`${bar}: ${sizes.every(isMet) ? 'met' : '**missed**'}`] : [''];
    return [name, ...sizes.map(of), ...verdicts];
  };
  const each = ({ filled: { bytes, sessions } }: Size, part: (sizes: Filled['bytes']) => number): string =>
    number(part(bytes) / sessions);
  const rows = [
    row('one session on disk: bytes of the table', (size) => each(size, ({ table: own }) => own)),
    row('one session on disk: bytes of all indexes', (size) => each(size, ({ indexes }) => indexes)),
    row('one refresh: bytes of WAL, the first of its session after a checkpoint', (size) =>
      number(size.writes.wal.first),
    ),
    row('one refresh: bytes of WAL, the next one of the same session', (size) => number(size.writes.wal.next)),
    row('all refreshes of this run', ({ writes: { refreshes } }) => number(refreshes)),
    row(
      'rows that they inserted',
      ({ writes: { inserted } }) => number(inserted),
      ({ writes: { inserted } }) => inserted === 0,
      '0',
    ),
    row(
      'updates that wrote no index entry (HOT)',
      ({ writes: { hot } }) => `${(100 * hot).toFixed(1)} %`,
      ({ writes: { hot } }) => hot >= LEAST_HOT,
      `≥ ${100 * LEAST_HOT} %`,
    ),
    row('bytes by which the table and its indexes grew', ({ writes: { grown } }) => number(grown)),
  ];
  const counts = [...new Set(sizes.map(({ writes: { sessions } }) => number(sessions)))].join(' or ');
  const columns = ['bytes and WAL', ...sizes.map(({ filled: { sessions } }) => `${number(sessions)} sessions`), 'bar'];
  return `The size of \`svc_sessions\` on disk, and what refreshes write. WAL is measured over ${counts} random sessions, one after the other and each refreshed twice: after a checkpoint, PostgreSQL writes every page in full at its first change (\`full_page_writes\`), and afterwards only the change. Every refresh updates one row; otherwise the run ends with an error:

${table(columns, rows)}`;
}

function revocations(growth: Growth): string {
  const rows = all(growth).flatMap(({ filled: { sessions }, revoked }) => {
    const one = median(Object.values(revoked)[0] ?? []);
    return Object.entries(revoked).map(([size, times]) => [
      number(sessions),
      number(Number(size)),
      times.length,
      median(times).toFixed(2),
      quantile(times, 0.95).toFixed(2),
      (median(times) / one).toFixed(2),
      ((median(times) / Number(size)) * 1000).toFixed(0),
    ]);
  });
  const columns = ['sessions', 'of the user', 'users', 'median ms', 'p95 ms', 'over one session', 'µs a session'];
  return `\`DELETE /auth/sessions\` by users, one after the other, until the tokens of all their sessions are refused:

${table(columns, rows)}`;
}

function plans({ plans: planned }: Growth): string {
  const rows = planned.map(({ operation, statements, accesses, missed }) => {
    const scans = missed.length ? `**missed**: all of ${missed.join(', ')}` : 'met';
    return [operation, statements, accesses.map((access) => `\`${access}\``).join('<br>') || 'none', scans];
  });
  return `PostgreSQL's plans for each statement in the largest database, custom and generic; the bar is no sequential scan of a growing table:

${table(['operation', 'statements', 'access', 'no scan'], rows)}`;
}
