import type { Clock } from '../kernel/clock';

/** A row as the driver returns it, by the names of its columns. */
export type Row = Record<string, unknown>;

/** Of its own as far as anything in it could be changed: dates, JSON, arrays, bytes. */
const copyOf = (row: Row): Row =>
  Object.values(row).some((value) => typeof value === 'object' && value !== null) ? structuredClone(row) : row;

/** Rows kept at most; the oldest go first. */
const MOST = 10_000;

/**
 * Rows of users, each kept for a few seconds, for hosts that would rather have a guarded request read nothing from
 * PostgreSQL than see every change of a user at once. Who is unknown is asked for every time. Revocation is none of
 * its business: that is asked of the denylist with every request.
 */
export class RowCache {
  private readonly kept = new Map<string, { row: Row; until: number }>();
  private drops = 0;

  /** @param seconds that a row is kept */
  constructor(
    private readonly clock: Clock,
    private readonly seconds: number,
    private readonly most = MOST,
  ) {}

  /** The row that is kept, or the one that `load` finds. Every caller gets one of its own. */
  async read(id: string, load: (id: string) => Promise<Row | null>): Promise<Row | null> {
    const known = this.kept.get(id);
    if (known && known.until > this.clock.now()) return copyOf(known.row);
    this.kept.delete(id);
    const { drops } = this;
    const row = await load(id);
    // What was read before a drop may be what it was about.
    if (row && drops === this.drops) this.keep(id, row);
    return row;
  }

  /** Forgets a user: something of it has changed. */
  drop(id: string): void {
    this.drops++;
    this.kept.delete(id);
  }

  private keep(id: string, row: Row): void {
    const [oldest] = this.kept.keys();
    if (this.kept.size >= this.most) this.kept.delete(oldest!);
    this.kept.set(id, { row: copyOf(row), until: this.clock.now() + this.seconds * 1000 });
  }
}
