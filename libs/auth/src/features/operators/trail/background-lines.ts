import { Injectable, Logger } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deadline, identity, pg } from '../../../kit';
import { type AccountKey, AuditKeys } from './audit-keys';
import { type AuditEntry, AuditStore, type NewLine } from './audit.store';

/** The largest number of lines that wait, and that one statement writes. */
const [MOST_WAITING, AT_ONCE] = [10_000, 500];

interface WaitingLine {
  readonly entry: AuditEntry;
  /** As `performance.now()` returned it. */
  readonly since: number;
}

/**
 * Writes lines after the commit of what they are about. No request waits for them. While PostgreSQL is unavailable, they are
 * tried again for half a minute; then they are lost, and the log says how many.
 */
@Injectable()
export class BackgroundLines {
  private readonly logger = new Logger('Auth');
  private readonly waiting = new Map<string, WaitingLine>();
  private isWriting = false;
  private lost = 0;

  constructor(
    private readonly store: AuditStore,
    private readonly keys: AuditKeys,
    private readonly database: pg.Database,
    private readonly users: identity.TimedUserProvider,
    private readonly work: deadline.BackgroundWork,
  ) {}

  /** Refusals that are the same are one line, while it waits: anyone can cause them. */
  add(entry: AuditEntry): void {
    const since = performance.now();
    const { userId, operation, reason, ip } = entry;
    const key = entry.outcome === 'failed' ? [userId, operation, reason, ip] : [since, this.waiting.size, operation];
    if (this.waiting.size >= MOST_WAITING) this.lost++;
    else this.waiting.set(JSON.stringify(key), { entry, since });
    if (this.isWriting) return;
    this.isWriting = true;
    // A line must not wait for the deadline of its request, nor be a part of a transaction of the host.
    this.work.add(deadline.RequestScope.detached(() => this.write()));
  }

  /** Never rejects. */
  private async write(): Promise<void> {
    await nextTurn();
    while (this.waiting.size) {
      const batch = [...this.waiting].slice(0, AT_ONCE);
      for (const [key] of batch) this.waiting.delete(key);
      await this.insert(batch.map(([, line]) => line)).catch((error: unknown) => {
        this.lost += batch.length;
        this.logger.error(`writing the history failed: ${(error as Error)?.message}`);
      });
    }
    this.isWriting = false;
    if (this.lost) this.logger.error(`${this.lost} lines of histories are lost`);
    this.lost = 0;
  }

  private async insert(batch: readonly WaitingLine[]): Promise<void> {
    // Computed once: an attempt without an answer may have inserted the lines.
    let lines: NewLine[] | undefined;
    await deadline.repeatWhileUnavailable(async () => {
      lines ??= await this.linesOf(batch);
      await this.store.insert(this.database.query, lines);
    });
  }

  private async linesOf(batch: readonly WaitingLine[]): Promise<NewLine[]> {
    const [now, read] = [await this.store.now(), performance.now()];
    const lines: NewLine[] = [];
    for (const { entry, since } of batch) {
      const key = entry.ip ? await this.keyOf(entry.userId) : null;
      lines.push(this.store.line(entry, key, now - (read - since) / 1000));
    }
    return lines;
  }

  /** An account that was deleted meanwhile gets no key again. */
  private async keyOf(userId: string): Promise<AccountKey | null> {
    const key = await this.keys.find(this.database.query, userId);
    return key ?? ((await this.users.findById(userId)) && this.keys.findOrCreate(this.database.query, userId));
  }
}
