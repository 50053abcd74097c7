import type { TwoNodes } from './nodes';

/** What all customers share while masters are killed. */
export class Load {
  /** Answers that a correct deployment does not give. */
  readonly wrong: string[] = [];
  readonly counts = { answers: 0, unavailable: 0, refreshes: 0, ends: 0, checks: 0 };
  /** Increases before and after each kill: it is odd during a kill. */
  epoch = 0;
  /** Whether the next kill may lose commits that are acknowledged now. */
  isLossy = false;
  /** Whether customers begin no operation. */
  isPaused = false;
  isOver = false;

  constructor(readonly nodes: TwoNodes) {}

  report(what: string): void {
    const when = this.epoch % 2 ? 'during' : 'before';
    this.wrong.push(`${when} kill ${Math.floor(this.epoch / 2) + 1}: ${what}`);
  }
}
