import type { Load } from './load';
import { quantile, probabilityLarger } from './statistics';
import { ADA } from './stores';

/** How long a wrong password takes, in milliseconds, for a user there is and for one there is not. */
export interface LoginTiming {
  known: number[];
  unknown: number[];
}

const WRONG = 'wrong-horse-battery';
const UNTIMED = 5;

/** Sends failing logins one after the other, a known and an unknown user in turns. */
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
    // An address that never comes twice: whatever the server might remember of one is of no use.
    const users = { known: ADA.email, unknown: `nobody-${i + UNTIMED}@example.com` };
    // Who comes first changes, so that what the previous request leaves behind falls on both.
    const order = i % 2 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
    for (const kind of order) {
      const milliseconds = await timed(users[kind]);
      if (i >= 0) timing[kind].push(milliseconds);
    }
  }
  return timing;
}

/** Median, 5th and 95th percentile, and how well one answer's time gives the unknown user away. */
export const summaryOf = ({ known, unknown }: LoginTiming) => ({
  known: [0.5, 0.05, 0.95].map((share) => quantile(known, share)),
  unknown: [0.5, 0.05, 0.95].map((share) => quantile(unknown, share)),
  unknownSlower: probabilityLarger(known, unknown),
});
