import { createInterface } from 'node:readline';

/** The options and the arguments that a command got. An option without a value is true. */
export type Given = Readonly<Partial<Record<string, string | boolean>>>;

/** A command of `npx svc-auth`, of the console, or of both. Those of the console can use the `Application`. */
export interface CommandDeclaration<Uses extends readonly unknown[] = []> {
  readonly description: string;
  readonly arguments?: readonly { readonly name: string; readonly description: string }[];
  /** What each option does, by its flags: `-f, --force`, or `--env <path>` for one with a value. */
  readonly options?: Readonly<Record<string, string>>;
  /** @throws CommandRefused */
  run(given: Given, ...uses: Uses): Promise<unknown>;
}

/** Writes to the output of a command. */
export const print = (text: string): void => void process.stdout.write(text);

/** Refusal of a command. The message contains the correction. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused';
}

/** Runs a command. Prints a refusal as one line on stderr. A refusal or any other error sets the exit code 1. */
export async function reported(work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // Also set for unexpected errors: nest-commander only prints them and exits with 0.
    process.exitCode = 1;
    if (!(error instanceof CommandRefused)) throw error;
    process.stderr.write(`${error.message}\n`);
  }
}

/** Prints an error that ends a command, and sets the exit code 1. */
export function printFailure({ message }: Error): void {
  process.exitCode = 1;
  process.stderr.write(`${message}\n`);
}

const ignoreClosedPipe = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE') throw error;
};

/** The reader of the output may close its pipe, as `head` does. The exit code stays that of the command. */
export function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (!stream.listeners('error').includes(ignoreClosedPipe)) stream.on('error', ignoreClosedPipe);
  }
}

/** Ends the process with its exit code, when its output is written. What the application left open does not delay it. */
export async function endProcess(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise((written) => void stream.write('', written));
  }
  process.exit();
}

/** Asks a question. Only `y` or `yes` confirms. Without a terminal the answer is no. */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  // On stderr, so that stdout carries results only.
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await new Promise<string>((resolve) => {
    prompt.question(`${question} [y/N] `, resolve);
    // Ctrl-D and Ctrl-C close the prompt without an answer; waiting on would end the process with exit code 0.
    prompt.once('close', () => resolve(''));
  });
  prompt.close();
  return /^y(es)?$/i.test(answer.trim());
}
