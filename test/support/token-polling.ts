import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventually } from './eventually';

/** Answers what a request with an access token is answered. */
export type Door = (accessToken: string) => Promise<number>;

/** What one door answered. */
export interface Seen {
  live: Set<number>;
  ended: Set<number>;
}

/** Asks at doors with tokens of live and of ended sessions, again and again, while something happens to the stores. */
export class Watch {
  private readonly seen: Seen[];
  private readonly done: number[];
  private readonly running: Promise<unknown>;
  private isOver = false;

  private constructor(
    private readonly asked: { doors: readonly Door[]; live: readonly string[]; ended: readonly string[] },
  ) {
    this.seen = asked.doors.map(() => ({ live: new Set(), ended: new Set() }));
    this.done = asked.doors.map(() => 0);
    this.running = Promise.all(asked.doors.map((door, i) => this.run(door, i)));
    // Looked at by `stop`.
    this.running.catch(() => undefined);
  }

  static start(asked: { doors: readonly Door[]; live: readonly string[]; ended: readonly string[] }): Watch {
    return new Watch(asked);
  }

  /** Waits until each door was asked with every token so many times more. */
  async rounds(count: number): Promise<void> {
    // The round that runs has begun before.
    const until = this.done.map((done) => done + count + 1);
    await eventually(async () => this.done.every((done, i) => done >= until[i]!), 120);
  }

  /** @returns what each door has answered */
  async stop(): Promise<Seen[]> {
    this.isOver = true;
    await this.running;
    return this.seen;
  }

  private async run(door: Door, i: number): Promise<void> {
    const { live, ended } = this.asked;
    const { live: seenLive, ended: seenEnded } = this.seen[i]!;
    const tokens = [
      ...ended.map((token) => ({ token, into: seenEnded })),
      ...live.map((token) => ({ token, into: seenLive })),
    ];
    while (!this.isOver) {
      for (let from = 0; from < tokens.length && !this.isOver; from += AT_ONCE) {
        const some = tokens.slice(from, from + AT_ONCE);
        await Promise.all(some.map(async ({ token, into }) => into.add(await door(token))));
      }
      this.done[i]!++;
      await nextTurn();
    }
  }
}

const AT_ONCE = 20;
