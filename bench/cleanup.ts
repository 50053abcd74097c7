import { setTimeout as sleep } from 'node:timers/promises';

const STEP_MS = 3000;

/** Stops and removes everything that the benchmark created, however it ends. */
export class Cleanup {
  private readonly steps: (() => unknown)[] = [];
  private aborted = false;

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => void this.abort(`stopped by ${signal}`));
    // The reader of a pipe has closed it. Later output is discarded.
    for (const stream of [process.stdout, process.stderr])
      stream.on('error', () => void (this.aborted || this.abort('its output has no reader')));
  }

  /** Registers a step. The last registered step runs first. */
  add(step: () => unknown): void {
    this.steps.unshift(step);
  }

  /** Ends the benchmark if it exceeds its time limit. */
  deadline(seconds: number): void {
    setTimeout(() => void this.abort(`not finished after ${seconds} s`), seconds * 1000).unref();
  }

  /** Prints an error, except during the abort, which causes further errors. */
  report(error: unknown): void {
    if (!this.aborted) process.stderr.write(`bench: ${(error as Error).stack}\n`);
    process.exitCode = 1;
  }

  /** Runs every step. A failed step, or one that waits for an ended process, does not block the others. */
  async run(): Promise<void> {
    for (const step of this.steps.splice(0)) {
      const done = Promise.resolve().then(step);
      await Promise.race([done, sleep(STEP_MS, undefined, { ref: false })]).catch((error) => this.report(error));
    }
  }

  private async abort(reason: string): Promise<void> {
    this.aborted = true;
    process.stderr.write(`bench: ${reason}\n`);
    await this.run();
    process.exit(1);
  }
}
