import { ConsoleLogger, Logger } from '@nestjs/common';
import { PassThrough, Writable } from 'node:stream';
import { savedVariables } from '../support/runtime/variables';

const LOG_LEVELS = ['verbose', 'debug', 'log', 'warn', 'error', 'fatal'] as const;

/** The result of a command. */
export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface ProcessInput {
  /** The working directory. The default is that of the tests. */
  directory?: string;
  /** The input at the terminal. Without it stdin is not a terminal. */
  typed?: string;
}

/** Runs a program's `main` in this process, with its own arguments, streams, environment and exit code. */
export async function runInProcess(
  main: () => Promise<unknown>,
  args: readonly string[],
  { directory = process.cwd(), typed }: ProcessInput = {},
): Promise<Ended> {
  const printed = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof printed): Writable =>
    new Writable({
      decodeStrings: false,
      write(text, _, done) {
        printed[name] += text;
        done();
      },
    });
  let ended: Ended | undefined;
  const end = (status: number): Ended => (ended ??= { status, ...printed });

  const restore = saveProcessState();
  try {
    process.chdir(directory);
    replace({
      argv: [process.execPath, 'console', ...args],
      stdin: Object.assign(new PassThrough().end(typed ?? ''), { isTTY: typed !== undefined }),
      stdout: stream('stdout'),
      stderr: stream('stderr'),
      // The first call sets the exit code. Later output is discarded.
      exit: (status = Number(process.exitCode ?? 0)) => {
        end(status);
        throw new Error('the process has ended');
      },
    });
    Logger.overrideLogger(new ConsoleLogger());
    await main().catch((error) => {
      if (!ended) throw error;
    });
    return end(Number(process.exitCode ?? 0));
  } finally {
    restore();
  }
}

function replace(members: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(process, name, { value, configurable: true, writable: true });
}

/** @returns a function that restores everything that a program may change in this process */
function saveProcessState(): () => void {
  const directory = process.cwd();
  const restoreVariables = savedVariables();
  const names = ['argv', 'stdin', 'stdout', 'stderr', 'exit'];
  const members = names.map((name) => [name, Object.getOwnPropertyDescriptor(process, name)!] as const);
  return () => {
    for (const [name, descriptor] of members) Object.defineProperty(process, name, descriptor);
    restoreVariables();
    // Silences the logger again, as the test applications do.
    Logger.overrideLogger([...LOG_LEVELS]);
    Logger.overrideLogger(false);
    process.exitCode = undefined;
    process.chdir(directory);
  };
}
