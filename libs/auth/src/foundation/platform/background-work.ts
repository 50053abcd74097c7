import { Injectable } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Work that requests have started and do not wait for: mails, listeners of events, lines of the security log, and what completes
 * or undoes a change after the response. A process that is frozen or ends loses it.
 */
@Injectable()
export class BackgroundWork {
  /** Work of the library that belongs to no application of the process: see `bestEffort`. */
  static readonly ofProcess = new BackgroundWork();

  private readonly running = new Set<Promise<unknown>>();

  /** Counts work until it has ended. The caller handles its errors. */
  add(work: Promise<unknown>): void {
    const ended: Promise<unknown> = work
      .catch(() => undefined)
      .then(() => {
        this.running.delete(ended);
      });
    this.running.add(ended);
  }

  /**
   * Waits until no work is left, also none that the work has started. Never rejects.
   *
   * @param ms longest wait in milliseconds
   * @returns whether no work is left
   */
  async settled(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, ms, true)));
    try {
      for (;;) {
        // What follows a response in the same turn starts first.
        await nextTurn();
        const left = [...this.running, ...BackgroundWork.ofProcess.running];
        if (left.length === 0) return true;
        if (await Promise.race([timeout, Promise.all(left).then(() => false)])) return false;
      }
    } finally {
      clearTimeout(timer);
    }
  }
}
