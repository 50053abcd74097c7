import { setTimeout as sleep } from 'node:timers/promises';

const STEP_MS = 3000;

/** What has to be stopped and removed, however the benchmark ends. */
export class Cleanup {
  private readonly steps: (() => unknown)[] = [];
  private aborted = false;

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => void this.abort(`stopped by ${signal}`));
    // The other end of a pipe has gone; what is written from now on goes nowhere.
    for (const stream of [process.stdout, process.stderr])
      stream.on('error', () => void (this.aborted || this.abort('nobody reads what it writes')));
  }

  /** Registers a step; the last one added runs first. */
  add(step: () => unknown): void {
    this.steps.unshift(step);
  }

  /** Ends the benchmark if it takes longer than it ever should. */
  deadline(seconds: number): void {
    setTimeout(() => void this.abort(`not finished after ${seconds} s`), seconds * 1000).unref();
  }

  /** Says what went wrong. Once the benchmark is being stopped, everything does, and nothing of it is news. */
  report(error: unknown): void {
    if (!this.aborted) process.stderr.write(`bench: ${(error as Error).stack}\n`);
    process.exitCode = 1;
  }

  /** Runs every step. One that fails, or that waits for a process the same signal ended, holds up no other. */
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
