import type { Retained } from '../apps/counting';
import { atMost, machine, table } from '../markdown';

/** The memory of the server after some part of the day. */
export interface ChurnSample extends Retained {
  /** Sign-ins so far. */
  signIns: number;
  /** Requests so far. */
  requests: number;
}

const MB = 1e6;

/** A list that keeps one small object for each sign-in grows by more: a string of 32 characters in a `Map` takes about 90 bytes. */
const MOST_BYTES = 50;

/** Single rows vary by up to 1.5 MB. With fewer sign-ins, the slope of this noise exceeds the bar several times. */
const LEAST_SIGN_INS = 20_000;

/** The least-squares slope of `values` over the sign-ins, per sign-in. */
export function slope(samples: readonly ChurnSample[], value: (sample: ChurnSample) => number): number {
  const mean = (of: (sample: ChurnSample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [x, y] = [mean(({ signIns }) => signIns), mean(value)];
  return mean((one) => (one.signIns - x) * (value(one) - y)) / mean(({ signIns }) => (signIns - x) ** 2);
}

/** The run as Markdown. */
export function report(samples: readonly ChurnSample[], connections: number): string {
  const rows = samples.map(({ signIns, requests, heapUsed, rss, resources }) => [
    signIns.toLocaleString('en'),
    requests.toLocaleString('en'),
    (heapUsed / MB).toFixed(2),
    (rss / MB).toFixed(1),
    resources,
  ]);
  // The first part also compiles code and fills caches of a fixed size.
  const steady = samples.slice(1);
  const later = slope(samples.slice(samples.length / 2), ({ heapUsed }) => heapUsed);
  const [heap, rss] = [slope(steady, ({ heapUsed }) => heapUsed), slope(steady, (sample) => sample.rss)];
  const isDecided = samples.at(-1)!.signIns >= LEAST_SIGN_INS;
  const verdict = isDecided ? atMost(MOST_BYTES, heap, ' bytes') : `≤ ${MOST_BYTES} bytes: undecided, too few sign-ins`;
  return `${machine()}, \`NODE_ENV=production\`, Nest on Express, ${connections} connections. Memory of the server process after garbage collection.

${table(['sign-ins', 'requests', 'heap, MB', 'RSS, MB', 'timers and connections'], rows)}

From the second to the last row, the heap grows by ${heap.toFixed(1)} bytes per sign-in (${verdict}), the resident memory by ${rss.toFixed(1)} bytes. In the second half, the heap grows by ${later.toFixed(1)} bytes.`;
}
