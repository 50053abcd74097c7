/** What has to be stopped and removed, however the benchmark ends. */
export class Cleanup {
  private steps: (() => unknown)[] = [];

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => void this.abort(`stopped by ${signal}`));
  }

  add(step: () => unknown): void {
    this.steps.unshift(step);
  }

  /** Ends the benchmark if it takes longer than it ever should. */
  deadline(seconds: number): void {
    setTimeout(() => void this.abort(`not finished after ${seconds} s`), seconds * 1000).unref();
  }

  /** Runs every step, the last one added first. A failing one keeps none of the others from running. */
  async run(): Promise<void> {
    const steps = this.steps.splice(0);
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        process.stderr.write(`${(error as Error).message}\n`);
      }
    }
  }

  private async abort(reason: string): Promise<void> {
    process.stderr.write(`bench: ${reason}\n`);
    await this.run();
    process.exit(1);
  }
}
