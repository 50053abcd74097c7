import { setTimeout as sleep } from 'node:timers/promises';

/** The text of anything that was thrown. */
export const messageOf = (error: unknown): string => (error as Error | null)?.message ?? String(error);

/** An error that no code of the host handles. Where the host runs by itself, Node ends the process. */
export class Crash extends Error {
  constructor(cause: unknown) {
    super(`An error that nothing handles ends the application: ${messageOf(cause)}`);
  }
}

/** Seconds for which the start of the host may last. */
const START_SECONDS = 30;

let report: (error: unknown) => void = () => undefined;
const onCrash = (error: unknown): void => report(error);

/**
 * Watches code of the host, which may never settle, crash, or end the process. Without it, Node would exit with a code of its
 * own, and print an error with the secrets in it.
 */
export class HostWatch {
  /** Errors that nothing handled. */
  readonly crashes: Crash[] = [];
  private stopWaiting: (crash: Crash) => void = () => undefined;

  /** @param onExit runs if the process ends before {@link end}, because the host called `process.exit` */
  constructor(private readonly onExit: () => void) {
    report = (error) => this.add(new Crash(error));
    process.on('exit', onExit);
    // They stay, because the application may still run while the output is written: its errors change nothing then.
    for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
      if (!process.listeners(event as 'uncaughtException').includes(onCrash)) process.on(event, onCrash);
    }
  }

  /**
   * Waits for the start of the host. The timer keeps the process running, because a start without an end may not.
   *
   * @param what the sentence of the error without its end: `The application did not start`
   * @throws Crash, or an error after {@link START_SECONDS}
   */
  async start<T>(what: string, work: Promise<T>): Promise<T> {
    const waiting = new AbortController();
    const late = sleep(START_SECONDS * 1000, undefined, { signal: waiting.signal }).then(() => {
      throw new Error(`${what} within ${START_SECONDS} seconds.`);
    });
    const crash = new Promise<never>((_, reject) => (this.stopWaiting = reject));
    try {
      return await Promise.race([work, late, crash]);
    } finally {
      waiting.abort();
    }
  }

  /** The result is known: from now on, an end of the process is the end of the command. */
  end(): void {
    process.off('exit', this.onExit);
  }

  private add(crash: Crash): void {
    this.crashes.push(crash);
    this.stopWaiting(crash);
  }
}
