import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';

const hasProc = process.platform === 'linux' && existsSync('/proc/self/stat');
const MICROS_A_TICK = hasProc ? 1e6 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) : NaN;

/** A file below `/proc/{pid}`, from its third field if it contains a name. Undefined if the process has ended. */
function fieldsOf(pid: string, file: 'stat' | 'schedstat'): number[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/${file}`, 'utf8');
    // A name can contain any characters, including brackets and spaces.
    return text
      .slice(text.lastIndexOf(')') + 1)
      .trim()
      .split(' ')
      .map(Number);
  } catch {
    return undefined;
  }
}

/** Processor time of a running process: in nanoseconds if the kernel provides them, otherwise in ticks. */
function ownMicros(pid: string, [user = 0, system = 0]: number[]): number {
  const nanoseconds = fieldsOf(pid, 'schedstat')?.[0];
  return nanoseconds ? nanoseconds / 1000 : (user + system) * MICROS_A_TICK;
}

/**
 * Processor time of a process, its children, and those of its children that have ended (proc(5)), in microseconds.
 * Undefined if the system does not report it.
 */
export function processTreeMicros(parent: number): number | undefined {
  if (!hasProc) return undefined;
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const times = processes.map((pid) => {
    // If a child has ended since the listing, its parent has its time.
    const fields = fieldsOf(pid, 'stat') ?? [];
    const [own, ended] = [fields.slice(11, 13), fields.slice(13, 15)];
    if (Number(pid) === parent) return ownMicros(pid, own) + (ended[0]! + ended[1]!) * MICROS_A_TICK;
    return fields[1] === parent ? ownMicros(pid, own) : 0;
  });
  return times.reduce((sum, one) => sum + one, 0);
}
