/** A place where host code of a test stops until the test lets it go on. */
export class Checkpoint {
  private arrive!: () => void;
  private open!: () => void;
  private readonly opened = new Promise<void>((resolve) => (this.open = resolve));
  /** Resolves once something has stopped here. */
  readonly reached = new Promise<void>((resolve) => (this.arrive = resolve));
  arrivals = 0;

  pass(): Promise<void> {
    this.arrivals++;
    this.arrive();
    return this.opened;
  }

  letGo(): void {
    this.open();
  }
}
