import { Logger } from '@nestjs/common';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { deadline } from '../../kit';

/** The largest number of rows that wait in a process, and that one statement writes. */
const [MOST_WAITING, AT_ONCE] = [10_000, 500];

/** Pause in milliseconds before a long outage of PostgreSQL is looked at again. */
const PAUSE_MS = 1000;

/**
 * Rows about what is committed, which are written in their order and in batches. No request waits for them. They are tried again
 * while PostgreSQL is unavailable, until the application closes. A row that cannot be written is lost alone. The log has the
 * number of those that are lost.
 */
export class BackgroundRows<Row> {
  private readonly logger = new Logger('Auth');
  private readonly waiting = new Map<unknown, Row>();
  private writing: Promise<void> | undefined;
  private isClosing = false;
  private lost = 0;

  /** @param insert can be repeated, also for a part of the rows: an attempt without an answer may have inserted them */
  constructor(
    private readonly what: string,
    private readonly work: deadline.BackgroundWork,
    private readonly insert: (rows: readonly Row[]) => Promise<void>,
  ) {}

  /** @param key one row with it waits, the last one */
  add(row: Row, key: unknown = row): void {
    if (this.waiting.size < MOST_WAITING || this.waiting.has(key)) this.waiting.set(key, row);
    else this.lost++;
    if (this.writing) return;
    // A row must not wait for the deadline of its request, nor be a part of a transaction of the host.
    this.writing = deadline.RequestScope.detached(() => this.write());
    this.work.add(this.writing);
  }

  /** Waits for the rows. Never rejects. */
  async written(): Promise<void> {
    await this.writing;
  }

  close(): void {
    this.isClosing = true;
  }

  private async write(): Promise<void> {
    await nextTurn();
    while (this.waiting.size) {
      const batch = [...this.waiting].slice(0, AT_ONCE);
      for (const [key] of batch) this.waiting.delete(key);
      await this.insertAll(batch.map(([, row]) => row));
    }
    this.writing = undefined;
    if (this.lost) this.logger.error(`${this.lost} ${this.what} are lost`);
    this.lost = 0;
  }

  private async insertAll(rows: readonly Row[]): Promise<void> {
    try {
      return await deadline.repeatWhileUnavailable(() => this.insert(rows));
    } catch (error) {
      const isUnavailable = deadline.isInconclusive(error);
      if (isUnavailable && !this.isClosing) {
        await sleep(PAUSE_MS, undefined, { ref: false });
        return this.insertAll(rows);
      }
      if (isUnavailable || rows.length === 1) {
        this.lost += rows.length;
        return this.logger.error(`writing ${this.what} failed: ${(error as Error)?.message}`);
      }
    }
    const half = Math.ceil(rows.length / 2);
    await this.insertAll(rows.slice(0, half));
    await this.insertAll(rows.slice(half));
  }
}
