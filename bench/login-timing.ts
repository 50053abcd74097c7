import type { Load } from './load';
import { quantile, probabilityLarger } from './statistics';
import { ADA } from './stores';

/** The durations of a wrong password in milliseconds, for an existing and for an unknown user. */
export interface LoginTiming {
  known: number[];
  unknown: number[];
}

const WRONG = 'wrong-horse-battery';
const UNTIMED = 5;

/** Sends failing logins one after the other, alternately for a known and an unknown user. */
export function timeLogins({ server, path }: Pick<Load, 'server' | 'path'>, count: number): Promise<LoginTiming> {
  const login = async (email: string): Promise<number> => {
    const { status, milliseconds } = await timedPost(server.url + path, { email, password: WRONG });
    if (status !== 401 && status !== 422) throw new Error(`a wrong password answered ${status}`);
    return milliseconds;
  };
  return timePairs(login, count);
}

/** Times a request for the first user and for unknown ones, alternately. */
export async function timePairs(timed: (email: string) => Promise<number>, count: number): Promise<LoginTiming> {
  const timing: LoginTiming = { known: [], unknown: [] };
  for (let i = -UNTIMED; i < count; i++) {
    // Every unknown address is used once, so that nothing cached for an address has an effect.
    const users = { known: ADA.email, unknown: `nobody-${i + UNTIMED}@example.com` };
    // The order alternates, so that the effect of the previous request is the same for both.
    const order = i % 2 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
    for (const kind of order) {
      const milliseconds = await timed(users[kind]);
      if (i >= 0) timing[kind].push(milliseconds);
    }
  }
  return timing;
}

/** Posts JSON, and returns the answer with its duration. */
export async function timedPost(
  url: string,
  body: object,
): Promise<{ status: number; text: string; milliseconds: number }> {
  const start = performance.now();
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await answer.text();
  return { status: answer.status, text, milliseconds: performance.now() - start };
}

/** Median, 5th and 95th percentile, and how well the duration of one response identifies an unknown user. */
export const summaryOf = ({ known, unknown }: LoginTiming) => ({
  known: [0.5, 0.05, 0.95].map((share) => quantile(known, share)),
  unknown: [0.5, 0.05, 0.95].map((share) => quantile(unknown, share)),
  unknownSlower: probabilityLarger(known, unknown),
});

/**
 * The median by which a request for the known user takes longer than the unknown one of its pair, with its 95 % interval. The
 * interval is that of the sign test, so single requests that another process has delayed do not widen it.
 */
export function differenceOf({ known, unknown }: LoginTiming): { median: number; low: number; high: number } {
  const differences = known.map((milliseconds, i) => milliseconds - unknown[i]!);
  const half = 0.98 / Math.sqrt(differences.length);
  const [low, median, high] = [0.5 - half, 0.5, 0.5 + half].map((share) => quantile(differences, share));
  return { low: low!, median: median!, high: high! };
}
