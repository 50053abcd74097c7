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
export async function timeLogins({ server, path }: Pick<Load, 'server' | 'path'>, count: number): Promise<LoginTiming> {
  const timed = async (email: string): Promise<number> => {
    const start = performance.now();
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: WRONG }),
      signal: AbortSignal.timeout(10_000),
    });
    await answer.arrayBuffer();
    const milliseconds = performance.now() - start;
    if (answer.status !== 401 && answer.status !== 422) throw new Error(`a wrong password answered ${answer.status}`);
    return milliseconds;
  };
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

/** Median, 5th and 95th percentile, and how well the duration of one response identifies an unknown user. */
export const summaryOf = ({ known, unknown }: LoginTiming) => ({
  known: [0.5, 0.05, 0.95].map((share) => quantile(known, share)),
  unknown: [0.5, 0.05, 0.95].map((share) => quantile(unknown, share)),
  unknownSlower: probabilityLarger(known, unknown),
});
