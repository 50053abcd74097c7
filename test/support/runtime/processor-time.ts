import { readFileSync } from 'node:fs';

/** Clock ticks per second in `/proc`. */
const TICKS = 100;

/**
 * The processor time of this process and of all ended processes that it or one of them has started, in seconds. On Linux
 * only, because Node reports the time of one process.
 */
export function processorTime(): { user: number; system: number } | undefined {
  if (process.platform !== 'linux') return undefined;
  // The name of the program, in parentheses, can contain spaces. After it, utime is the 12th field (proc(5), fields 14 to 17).
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ').map(Number);
  const [user, system, userOfChildren, systemOfChildren] = fields.slice(11, 15) as [number, number, number, number];
  return { user: (user + userOfChildren) / TICKS, system: (system + systemOfChildren) / TICKS };
}
