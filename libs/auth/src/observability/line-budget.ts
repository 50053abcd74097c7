interface Window {
  ends: number;
  written: number;
  suppressed: number;
}

const WINDOW_MS = 60_000;

/**
 * Bounds how many lines of one kind are written in a minute, and counts the others. A flood must not fill the disk,
 * nor a line about something else be lost in it.
 */
export class LineBudget {
  private readonly windows = new Map<string, Window>();

  /**
   * @param perMinute lines of one kind
   * @param now milliseconds
   */
  constructor(
    private readonly perMinute: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** How many lines of the kind were left out in the window before, where this one may be written; else null. */
  admit(kind: string): number | null {
    const now = this.now();
    const window = this.windows.get(kind);
    if (!window || window.ends <= now) {
      this.windows.set(kind, { ends: now + WINDOW_MS, written: 1, suppressed: 0 });
      return window?.suppressed ?? 0;
    }
    if (window.written < this.perMinute) {
      window.written++;
      return 0;
    }
    window.suppressed++;
    return null;
  }

  /** Takes what was left out in windows that end by then, by kind. */
  settle(until = this.now()): [kind: string, suppressed: number][] {
    const over = [...this.windows].filter(([, { ends }]) => ends <= until);
    for (const [kind] of over) this.windows.delete(kind);
    return over.flatMap(([kind, { suppressed }]) => (suppressed ? [[kind, suppressed] as [string, number]] : []));
  }
}
