import { Injectable } from '@nestjs/common';
import { batched } from '../kernel/batched';
import { Clock } from '../kernel/clock';
import { Database, isMissingTable } from '../kernel/database';
import { once } from '../kernel/once';
import { DenylistEpoch } from './denylist-epoch.entity';
import { Revocation } from './revocation.entity';

/** Rows that one statement reads or deletes at most. */
const BATCH = 1000;

/** Seconds that a row of an epoch is kept, and its key in the store. */
export const EPOCH_SECONDS = 86_400;

/** Milliseconds for which new revocations may wait behind a rebuild. */
const TURN_MS = 250;

/** A revocation that is to be told to the store again. */
export interface Standing {
  id: string;
  familyId: string;
  expiresAt: string;
  /** Until it expires. */
  seconds: number;
}

/** Every query of revocations; those are written with the end of a session, in `SessionStore`. */
@Injectable()
export class RevocationStore {
  private readonly statements = once(() => statementsOn(this.database));

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Whether a session was ended, by its id as the denylist spells it; null where there are no such tables, as in a
   * service that only verifies. However many ask at once, PostgreSQL is asked by one statement at a time.
   */
  readonly includes = batched<boolean | null>((ids) => this.include(ids), true);

  /** The number of the latest epoch, 0 before the first; null where there are no such tables. */
  async latest(): Promise<number | null> {
    const rows = await this.unlessMissing<{ number: number }>('latest');
    return rows && (rows[0]?.number ?? 0);
  }

  /** The number of an epoch and its age in seconds; null for one of another database. */
  async epoch(epoch: string): Promise<{ number: number; age: number } | null> {
    const rows = await this.unlessMissing<{ number: number; age: number }>('epoch', [this.clock.offset, epoch]);
    return rows?.[0] ?? null;
  }

  /** Notes that a rebuild begins. */
  async begin(epoch: string): Promise<void> {
    await this.database.query(this.statements().begin, [this.clock.offset, epoch]);
  }

  /**
   * Waits until every revocation that was written and not committed is either: it may have reached the store
   * before the loss, and be read by nobody yet. Later ones find the epoch begun.
   */
  async settle(): Promise<void> {
    await this.database.transaction(async (sql) => {
      await sql(`SET LOCAL lock_timeout = ${TURN_MS}`);
      await sql(this.statements().settle);
    });
  }

  /** What stands, in batches by time of expiry; begins after `last`. */
  batch(last?: Standing): Promise<Standing[]> {
    const after = [last?.expiresAt ?? '-infinity', last?.id ?? '0'];
    return this.database.query<Standing>(this.statements().batch, [this.clock.offset, ...after]);
  }

  /** Deletes rows that are of no more use. */
  async prune(): Promise<void> {
    const { pruneRevocations, pruneEpochs } = this.statements();
    for (const statement of [pruneRevocations, pruneEpochs]) await this.database.query(statement, [this.clock.offset]);
  }

  private async include(ids: string[]): Promise<(boolean | null)[]> {
    const rows = await this.unlessMissing<{ familyId: string }>('includes', [this.clock.offset, ids]);
    if (!rows) return ids.map(() => null);
    const ended = new Set(rows.map(({ familyId }) => familyId));
    return ids.map((id) => ended.has(id));
  }

  private async unlessMissing<Row>(
    name: 'includes' | 'latest' | 'epoch',
    values: unknown[] = [],
  ): Promise<Row[] | null> {
    if (!this.database.knows(Revocation)) return null;
    try {
      return await this.database.query<Row>(this.statements()[name], values);
    } catch (error) {
      if (isMissingTable(error)) return null;
      throw error;
    }
  }
}

function statementsOn(database: Database) {
  const [revocations, epochs] = [database.table(Revocation), database.table(DenylistEpoch)];
  // Stable within a statement, so that an index is entered at it.
  const now = 'statement_timestamp() + $1::interval';
  return {
    includes: `SELECT DISTINCT family_id AS "familyId" FROM ${revocations}
                WHERE family_id = ANY($2::text[]) AND expires_at > ${now}`,
    latest: `SELECT e.number::float8 FROM ${epochs} e ORDER BY e.number DESC LIMIT 1`,
    epoch: `SELECT number::float8, extract(epoch FROM ${now} - began_at)::float8 AS age
              FROM ${epochs} WHERE epoch = $2`,
    begin: `INSERT INTO ${epochs} (epoch, began_at) VALUES ($2, ${now})`,
    // Conflicts with the lock that an insert holds until its transaction ends, and with no reader.
    settle: `LOCK TABLE ${revocations} IN SHARE MODE`,
    batch: `SELECT id, family_id AS "familyId", expires_at::text AS "expiresAt",
                   extract(epoch FROM expires_at - (${now}))::float8 AS seconds
              FROM ${revocations}
             WHERE expires_at > ${now} AND (expires_at, id) > ($2::timestamptz, $3::bigint)
             ORDER BY expires_at, id LIMIT ${BATCH}`,
    pruneRevocations: `DELETE FROM ${revocations} WHERE id IN (
                         SELECT id FROM ${revocations} WHERE expires_at < ${now}
                          ORDER BY expires_at, id LIMIT ${5 * BATCH} FOR UPDATE SKIP LOCKED)`,
    pruneEpochs: `DELETE FROM ${epochs} WHERE began_at < ${now} - interval '${EPOCH_SECONDS} seconds'`,
  };
}
