/** A place in the code of a test's host where requests stop until the test lets them go on. */
export class Checkpoint {
  arrivals = 0;
  /** Resolves once a request has stopped here. */
  reached!: Promise<void>;
  private stops = 0;
  private arrive!: () => void;
  private release!: () => void;
  private released!: Promise<void>;

  /** Stops every request from the beginning. */
  constructor() {
    this.stop();
  }

  /** A checkpoint that lets every request pass until {@link stop} is called. */
  static passable(): Checkpoint {
    const checkpoint = new Checkpoint();
    checkpoint.letGo();
    return checkpoint;
  }

  /** Stops the next requests, all of them or so many. */
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

  letGo(): void {
    this.stops = 0;
    this.release();
  }
}

/** Runs `meanwhile` while `request` is stopped at the checkpoint, and resolves to the response. */
export async function whileStopped<T>(
  checkpoint: Checkpoint,
  request: PromiseLike<T>,
  meanwhile: () => PromiseLike<unknown>,
): Promise<T> {
  checkpoint.stop(1);
  // A request is sent when it is awaited.
  const response = Promise.resolve(request);
  await Promise.race([checkpoint.reached, response]);
  try {
    await meanwhile();
  } finally {
    checkpoint.letGo();
  }
  return response;
}
