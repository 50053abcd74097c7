import { createInterface } from 'node:readline';

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
