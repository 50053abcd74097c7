const [BY_DEFAULT, MOST] = [4, 1024];

/** Threads of libuv's pool, as it reads `UV_THREADPOOL_SIZE` (libuv, thread pool work scheduling). */
export function poolSize(variable: string | undefined): number {
  if (variable === undefined) return BY_DEFAULT;
  // atoi: what is no number is 0, and 0 is one thread.
  const size = Number.parseInt(variable, 10) || 0;
  return size < 0 ? MOST : Math.min(MOST, Math.max(1, size));
}

/** Hashes that may run at once, so that one thread is left to files and name look-ups. */
export const mostAtOnce = (wanted: number, threads: number): number => Math.max(1, Math.min(wanted, threads - 1));
