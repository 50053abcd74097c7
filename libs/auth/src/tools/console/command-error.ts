import { createInterface } from 'node:readline';

/** A command that does not do what it was asked. The message names the cure. */
export class CommandRefused extends Error {
  override readonly name = 'Refused';
}

/** Runs a command's work. A refusal becomes one line on stderr; it and every other failure exit with 1. */
export async function reported(work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // Set here for unexpected errors too: nest-commander only prints what it catches and would exit with 0.
    process.exitCode = 1;
    if (!(error instanceof CommandRefused)) throw error;
    process.stderr.write(`${error.message}\n`);
  }
}

/** Asks a question that only `y` or `yes` affirms. Where nobody can be asked, the answer is no. */
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
