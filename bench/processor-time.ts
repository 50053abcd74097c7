import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';

const hasProc = process.platform === 'linux' && existsSync('/proc/self/stat');
const MICROS_A_TICK = hasProc ? 1e6 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) : NaN;

/** Fields of `/proc/{pid}/stat` (proc(5)) behind the name, which may hold anything: from the third one on. */
function statOf(pid: string | number): number[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
  } catch {
    // It has ended since it was listed, and its parent has its time.
    return undefined;
  }
}

/**
 * Processor time of a process, its children, and those of its children that have ended, in microseconds.
 * Undefined where the system does not say.
 */
export function familyMicros(parent: number): number | undefined {
  if (!hasProc) return undefined;
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const ticks = children.map((pid) => {
    const fields = statOf(pid);
    if (!fields) return 0;
    const [, parentOf] = fields;
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    if (Number(pid) === parent) return user + system + endedUser + endedSystem;
    return parentOf === parent ? user + system : 0;
  });
  return ticks.reduce((sum, one) => sum + one, 0) * MICROS_A_TICK;
}
