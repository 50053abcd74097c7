import { machine, table } from '../markdown';
import { median, quantile } from '../statistics';
import { STEPS, type Step, type Work, type Worked } from './work';
import { type OnDisk, REQUESTS, WAL_SETTINGS, type Wal, type WalSetting } from './bytes';
import { type Assumptions, decade } from './decades';
import { type Simulated, simulatePrune, simulateRebuild, simulateRevocation } from './simulation';

/** The measurements for one size of the table. */
export interface AtSize {
  sessions: number;
  disk: OnDisk;
  wal: Wal;
  work: Record<Work, Worked>;
  /** Bytes of WAL of one session that is ended with all others. */
  revokedWal: number;
  /** Latencies of guarded requests in milliseconds: without other work, and while sessions of another guard are ended. */
  guarded: { alone: number[]; beside: number[] };
}

/** All measurements of one run. */
export interface Scale {
  version: string;
  sizes: [AtSize, ...AtSize[]];
  tombstone: number;
  redis: Record<string, number>;
  assumed: Assumptions;
}

const TIMEOUT_MS = 800;
/** Milliseconds of a random read: from memory, from a local solid-state disk, from a disk of the network. */
const BLOCK_MS = [0, 0.1, 1];

const count = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : 0 });
const largest = ({ sizes }: Scale): AtSize => sizes.at(-1)!;
const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** The run as Markdown. */
export const report = (scale: Scale): string =>
  [heading(scale), bytes(scale), wal(scale), pages(scale), beside(scale), simulated(scale), decades(scale)].join(
    '\n\n',
  );

const heading = ({ version, sizes }: Scale): string =>
  `${machine()}, PostgreSQL ${version} with its default 128 MB of shared buffers; it waits for its disk. Databases of ${sizes.map(({ sessions }) => count(sessions)).join(', ')} sessions, one after the other.`;

function bytes({ sizes, tombstone, redis }: Scale): string {
  const names = Object.keys(sizes[0].disk);
  const rows = [
    ...names.map((name) => [`\`${name}\``, ...sizes.map(({ disk }) => count(disk[name]!))]),
    ['a session on disk', ...sizes.map((size) => count(sessionBytes(size)))],
  ];
  const columns = ['bytes on disk of one row or entry', ...sizes.map(({ sessions }) => `${count(sessions)} sessions`)];
  const kinds = Object.entries(redis).map(([kind, each]) => [kind, count(each)]);
  return `${table(columns, rows)}

A row of an erased account (tombstone): ${count(tombstone)} bytes on disk with its index entries.

${table(['bytes of memory of one key in Redis', 'bytes'], kinds)}`;
}

/** The table and the three indexes of a live session, as averages over all sessions. */
const sessionBytes = ({ disk, sessions }: AtSize): number => {
  const share = (name: string): number => disk[name] ?? 0;
  const all =
    share('svc_sessions') + share('svc_sessions_pkey') + share('svc_sessions_live') + share('svc_sessions_expiry');
  if (!(all > 0)) throw new Error(`nothing was measured at ${sessions}`);
  return all;
};

function wal({ sizes }: Scale): string {
  const rows = REQUESTS.flatMap((request) =>
    (Object.keys(WAL_SETTINGS) as WalSetting[]).map((setting) => [
      request,
      setting,
      ...sizes.map((size) => count(size.wal[setting][request])),
    ]),
  );
  return table(
    ['bytes of WAL of one request', 'when', ...sizes.map(({ sessions }) => `${count(sessions)} sessions`)],
    rows,
  );
}

const WORKS: Record<Work, string> = {
  prune: 'pruning',
  rebuild: 'rebuild of the denylist',
  revoke: 'end of all sessions of a guard',
};

/** The steps of each work that reach a store. */
const RELEVANT: Record<Work, readonly Step[]> = {
  prune: ['statement'],
  rebuild: ['statement', 'denials', 'lease'],
  revoke: ['statement', 'denials', 'commit'],
};

function pages({ sizes }: Scale): string {
  const rows = (Object.keys(WORKS) as Work[]).flatMap((work) => {
    const perRow = sizes.map((size) => microsPerRow(size.work[work], work));
    return [
      ...RELEVANT[work].map((step) => [
        WORKS[work],
        `${step}, median ms of a page`,
        ...sizes.map((size) => median(size.work[work][step]).toFixed(1)),
      ]),
      [WORKS[work], 'µs a row, without pauses', ...perRow.map((each) => each.toFixed(0))],
      [WORKS[work], 'the same, over the smallest size', ...perRow.map((each) => (each / perRow[0]!).toFixed(2))],
      [
        WORKS[work],
        'last fifth of the pages over the first fifth',
        ...sizes.map((size) => lateOverEarly(size.work[work].statement).toFixed(2)),
      ],
      [WORKS[work], 'resident memory of the process, MiB', ...sizes.map((size) => count(size.work[work].rss))],
      [WORKS[work], 'rows of this run', ...sizes.map((size) => count(size.work[work].rows))],
    ];
  });
  return `A cost that is linear has the same value in each column. A page whose duration depends on the pages before it has a late page that is longer than an early one.

${table(['', '', ...sizes.map(({ sessions }) => `${count(sessions)} sessions`)], rows)}`;
}

const microsPerRow = (worked: Worked, work: Work): number =>
  (sumOf(STEPS.filter((step) => RELEVANT[work].includes(step)).map((step) => sumOf(worked[step]))) / worked.rows) *
  1000;

function lateOverEarly(values: readonly number[]): number {
  const fifth = Math.max(1, Math.floor(values.length / 5));
  return median(values.slice(-fifth)) / median(values.slice(0, fifth));
}

function beside({ sizes }: Scale): string {
  const rows = sizes.map(({ sessions, guarded: { alone, beside: during } }) => [
    count(sessions),
    ...[alone, during].flatMap((all) => [quantile(all, 0.5).toFixed(2), quantile(all, 0.99).toFixed(2)]),
    (quantile(during, 0.99) / quantile(alone, 0.99)).toFixed(2),
  ]);
  const ends = sizes.map(({ sessions, revokedWal, work: { revoke } }) => [
    count(sessions),
    count(revoke.rows / revoke.seconds),
    count(revokedWal),
  ]);
  return `${table(['sessions', 'ended a second, one guard of several', 'bytes of WAL for each'], ends)}

Guarded requests, 100 a second, while all sessions of another guard are ended in the same table:

${table(['sessions', 'p50 ms before', 'p99 ms before', 'p50 ms during', 'p99 ms during', 'p99 over before'], rows)}`;
}

function simulated(scale: Scale): string {
  const { work } = largest(scale);
  const around = (blockMs: number) => ({ blockMs, timeoutMs: TIMEOUT_MS });
  const rowOf = (
    what: string,
    rows: number,
    blockMs: number,
    { seconds, pages: all, longestMs, isOverTimeout }: Simulated,
  ) => [
    what,
    count(rows),
    `${blockMs} ms`,
    count(all),
    `${duration(seconds)}${isOverTimeout ? `; a page needs ${count(longestMs)} ms and is tried again` : ''}`,
  ];
  const pruned = [1e6, 1e7, 1e9 / 30].flatMap((rows) =>
    BLOCK_MS.map((ms) => rowOf('a day of pruning', rows, ms, simulatePrune(rows, work.prune, around(ms)))),
  );
  const revoked = [1e6, 1e7, 1e8].flatMap((rows) =>
    BLOCK_MS.map((ms) => rowOf('end of all sessions', rows, ms, simulateRevocation(rows, work.revoke, around(ms)))),
  );
  const rebuilt = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8].map((ended) => {
    const steady = simulateRebuild(ended, ended / LIFE, work.rebuild, around(0));
    return [count(ended), count(ended / LIFE), duration(steady.seconds), steady.losesLease ? '**yes**' : 'no'];
  });
  return `Simulated with the durations of the largest size, \`storeTimeoutMs\` of ${TIMEOUT_MS} ms, and blocks that are read from memory (0 ms), from a local disk and from a disk of the network:

${table(['', 'sessions', 'a random read', 'pages', 'duration'], [...pruned, ...revoked])}

${table(['sessions that ended within the life of an access token', 'ends a second', '503 at services that only verify, after a loss of Redis', 'lease too short'], rebuilt)}`;
}

/** Seconds, with the default \`accessTtl\`. */
const LIFE = 965;

function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return 'never: more sessions end than are written';
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  return seconds < 7200 ? `${(seconds / 60).toFixed(0)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function decades(scale: Scale): string {
  const size = largest(scale);
  const measured = {
    sessionBytes: sessionBytes(size),
    // The next read of the page removes the former version of the row, in a page that the refresh has just changed.
    refreshWal: {
      later: size.wal.later.refresh + size.wal.later['first guarded after a refresh'],
      first: size.wal['first after a checkpoint'].refresh + size.wal.later['first guarded after a refresh'],
    },
    loginWal: { later: size.wal.later.login, first: size.wal['first after a checkpoint'].login },
    denialBytes: scale.redis.denial!,
  };
  const rows = [3, 4, 5, 6, 7, 8, 9].map((power) => {
    const at = decade(10 ** power, scale.assumed, measured);
    const [least, most] = at.walMb;
    const figures = [at.diskGb, at.guarded, at.refreshes, at.logins].map(count);
    return [
      count(at.sessions),
      ...figures,
      `${count(least)} to ${count(most)}`,
      ...[at.denials, at.redisMb, at.pruned].map(count),
    ];
  });
  const assumed = Object.entries(scale.assumed).map(([name, value]) => `\`${name}\` ${value}`);
  const columns = [
    'sessions',
    'disk GB',
    'guarded/s',
    'refreshes/s',
    'logins/s',
    'WAL MB/s',
    'denials',
    'Redis MB',
    'pruned a day',
  ];
  return `Calculated, with ${assumed.join(', ')}:

${table(columns, rows)}`;
}
