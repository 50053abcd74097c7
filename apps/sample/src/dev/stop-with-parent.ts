const INTERVAL_MS = 500;

/**
 * Calls `stop` when the parent process ends. A signal to `npm start` ends npm and its shell, but npm does not pass the
 * signal on to this process.
 */
export function stopWithParent(stop: () => Promise<void>): void {
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && void stop(), INTERVAL_MS).unref();
}
