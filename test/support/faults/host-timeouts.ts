/** Milliseconds that the library waits for code of the host. */
const LIMIT_MS = 30_000;

/** Whether a time limit is that of code of the host, also in a request that has waited for stores before. */
const isLimit = (ms: number | undefined): boolean => ms !== undefined && ms > LIMIT_MS - 10_000 && ms <= LIMIT_MS;

type StartTimer = (call: () => void, ms?: number, ...args: unknown[]) => NodeJS.Timeout;

/**
 * Holds back the time limit of code of the host until a test ends it. Other timers run. Jest restores the timers after the
 * test.
 */
export class HostTimeouts {
  private readonly held: (() => void)[] = [];

  constructor() {
    const start = globalThis.setTimeout as StartTimer;
    const startHeld: StartTimer = (call, ms, ...args) => {
      if (!isLimit(ms)) return start(call, ms, ...args);
      this.held.push(call);
      return start(call, ms).unref();
    };
    jest.spyOn(globalThis, 'setTimeout').mockImplementation(startHeld as never);
  }

  /** Ends the time limit of all code that runs. */
  expire(): void {
    for (const call of this.held.splice(0)) call();
  }
}
