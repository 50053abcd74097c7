/** Runs jobs one after the other, in the order in which they come. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();

  run<T>(job: () => Promise<T>): Promise<T> {
    const turn = this.last.then(job);
    this.last = turn.catch(() => undefined);
    return turn;
  }
}
