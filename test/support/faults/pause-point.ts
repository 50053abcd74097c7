/** A point in the code of a test host at which requests wait until the test resumes them. */
export class PausePoint {
  arrivals = 0;
  /** Resolves when a request waits here. */
  reached!: Promise<void>;
  private stops = 0;
  private arrive!: () => void;
  private release!: () => void;
  private released!: Promise<void>;

  /** Stops every request from the start. */
  constructor() {
    this.stop();
  }

  /** A pause point that stops no request until {@link stop} is called. */
  static disabled(): PausePoint {
    const pausePoint = new PausePoint();
    pausePoint.resume();
    return pausePoint;
  }

  /** Stops the next requests. */
  stop(requests = Infinity): void {
    this.stops = requests;
    this.reached = new Promise((resolve) => (this.arrive = resolve));
    this.released = new Promise((resolve) => (this.release = resolve));
  }

  async pass(): Promise<void> {
    this.arrivals++;
    if (this.stops === 0) return;
    this.stops--;
    this.arrive();
    await this.released;
  }

  resume(): void {
    this.stops = 0;
    this.release();
  }
}

/** Runs `meanwhile` while `request` waits at the pause point. @returns the response */
export async function whilePaused<T>(
  pausePoint: PausePoint,
  request: PromiseLike<T>,
  meanwhile: () => PromiseLike<unknown>,
): Promise<T> {
  pausePoint.stop(1);
  // A request is sent when it is awaited.
  const response = Promise.resolve(request);
  await Promise.race([pausePoint.reached, response]);
  try {
    await meanwhile();
  } finally {
    pausePoint.resume();
  }
  return response;
}
