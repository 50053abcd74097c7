import type { INestApplication } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../runtime/eventually';
import { send } from '../hosts/processes';

/** Sends a request with an access token. @returns its status */
export type StatusCheck = (accessToken: string) => Promise<number>;

/** A check that sends requests to a guarded route of an application. They share connections, as supertest's do not. */
export async function statusCheck(app: INestApplication): Promise<StatusCheck> {
  const url = `${await app.getUrl()}/private`;
  return async (token) => (await send(url, 'GET', undefined, token)).status;
}

/** The statuses that one check returned. */
export interface PolledStatuses {
  live: Set<number>;
  ended: Set<number>;
}

/** Sends requests with the tokens of live and of ended sessions repeatedly while a store fails. */
export class TokenPolling {
  private readonly seen: PolledStatuses[];
  private readonly done: number[];
  private readonly running: Promise<unknown>;
  private isOver = false;

  private constructor(
    private readonly asked: { checks: readonly StatusCheck[]; live: readonly string[]; ended: readonly string[] },
  ) {
    this.seen = asked.checks.map(() => ({ live: new Set(), ended: new Set() }));
    this.done = asked.checks.map(() => 0);
    this.running = Promise.all(asked.checks.map((check, i) => this.run(check, i)));
    // `stop` awaits it.
    this.running.catch(() => undefined);
  }

  static start(asked: {
    checks: readonly StatusCheck[];
    live: readonly string[];
    ended: readonly string[];
  }): TokenPolling {
    return new TokenPolling(asked);
  }

  /** Waits until each check has run `count` more times with every token. */
  async rounds(count: number): Promise<void> {
    // The current round began before this call.
    const until = this.done.map((done) => done + count + 1);
    await eventually(async () => this.done.every((done, i) => done >= until[i]!));
  }

  /** @returns the statuses of each check */
  async stop(): Promise<PolledStatuses[]> {
    this.isOver = true;
    await this.running;
    return this.seen;
  }

  private async run(check: StatusCheck, i: number): Promise<void> {
    const { live, ended } = this.asked;
    const { live: seenLive, ended: seenEnded } = this.seen[i]!;
    const tokens = [
      ...ended.map((token) => ({ token, into: seenEnded })),
      ...live.map((token) => ({ token, into: seenLive })),
    ];
    while (!this.isOver) {
      for (let from = 0; from < tokens.length && !this.isOver; from += AT_ONCE) {
        const some = tokens.slice(from, from + AT_ONCE);
        await Promise.all(some.map(async ({ token, into }) => into.add(await check(token))));
      }
      this.done[i]!++;
      // Leaves most of the processor to the nodes under test.
      await sleep(REST_MS);
    }
  }
}

const AT_ONCE = 20;
const REST_MS = 100;
