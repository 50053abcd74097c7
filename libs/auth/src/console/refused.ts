/** A command that does not do what it was asked. The message names the cure. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** Runs a command's work. A refusal becomes one line on stderr; it and every other failure exit with 1. */
export async function reported(work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // Set here for unexpected errors too: nest-commander only prints what it catches and would exit with 0.
    process.exitCode = 1;
    if (!(error instanceof Refused)) throw error;
    process.stderr.write(`${error.message}\n`);
  }
}
