/** The duration and number of measurements, from `BENCH_*`. */
export interface Settings {
  /** Rounds; every scenario of a group runs once in each. */
  rounds: number;
  /** Seconds of one sample. */
  seconds: number;
  /** Connections that keep one request each in flight. */
  connections: number;
  /** Failed logins of each kind in the timing comparison. */
  logins: number;
  /** The groups to measure. Empty means all. */
  only: string[];
}

/** Reads the settings. @throws for a value that is not a number above zero */
export function readSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  const positive = (name: string, fallback: number): number => positiveNumber(name, env[name] || String(fallback));
  return {
    rounds: positive('BENCH_ROUNDS', 5),
    seconds: positive('BENCH_SECONDS', 2),
    connections: positive('BENCH_CONNECTIONS', 50),
    logins: positive('BENCH_LOGINS', 200),
    only: (env.BENCH_ONLY ?? '').split(',').filter(Boolean),
  };
}

/** The sizes of the session table from `BENCH_SESSIONS`, in ascending order. @throws as {@link readSettings} does */
export const readSizes = (fallback: number, env: NodeJS.ProcessEnv = process.env): [number, ...number[]] =>
  (env.BENCH_SESSIONS || String(fallback))
    .split(',')
    .map((size) => positiveNumber('BENCH_SESSIONS', size))
    .toSorted((a, b) => a - b) as [number, ...number[]];

function positiveNumber(name: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  throw new Error(`${name} must be a number above zero`);
}
