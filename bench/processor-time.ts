import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';

const hasProc = process.platform === 'linux' && existsSync('/proc/self/stat');
const MICROS_A_TICK = hasProc ? 1e6 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) : NaN;

/** A file below `/proc/{pid}`, from its third field on where a name comes before; undefined when the process has ended. */
function fieldsOf(pid: string, file: 'stat' | 'schedstat'): number[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/${file}`, 'utf8');
    // A name may hold anything, brackets and spaces among it.
    return text
      .slice(text.lastIndexOf(')') + 1)
      .trim()
      .split(' ')
      .map(Number);
  } catch {
    return undefined;
  }
}

/** Processor time of a process that lives: in nanoseconds where the kernel keeps them, in ticks where not. */
function ownMicros(pid: string, [user = 0, system = 0]: number[]): number {
  const nanoseconds = fieldsOf(pid, 'schedstat')?.[0];
  return nanoseconds ? nanoseconds / 1000 : (user + system) * MICROS_A_TICK;
}

/**
 * Processor time of a process, its children, and those of its children that have ended (proc(5)), in microseconds.
 * Undefined where the system does not say.
 */
export function processTreeMicros(parent: number): number | undefined {
  if (!hasProc) return undefined;
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const times = processes.map((pid) => {
    // One that has ended since it was listed: its parent has its time.
    const fields = fieldsOf(pid, 'stat') ?? [];
    const [own, ended] = [fields.slice(11, 13), fields.slice(13, 15)];
    if (Number(pid) === parent) return ownMicros(pid, own) + (ended[0]! + ended[1]!) * MICROS_A_TICK;
    return fields[1] === parent ? ownMicros(pid, own) : 0;
  });
  return times.reduce((sum, one) => sum + one, 0);
}
