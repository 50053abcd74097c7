import { Inject, Injectable } from '@nestjs/common';
import { Clock, Realm, data, deadline, pg, settings } from '../../kit';

/**
 * A user who may have no sessions.
 *
 * @publicApi
 */
@data.Entity('svc_suspensions')
export class Suspension {
  /** The guard that names the source of the user: guards with the same users share a suspension. */
  @data.PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'svc_suspensions_pkey' })
  guard!: string;

  @data.PrimaryColumn({ name: 'user_id', type: 'text', primaryKeyConstraintName: 'svc_suspensions_pkey' })
  userId!: string;

  /** Why, in the words of the operator. */
  @data.Column({ type: 'text' })
  reason!: string;

  @data.Column({ name: 'suspended_at', type: 'timestamptz' })
  suspendedAt!: Date;

  /** When it ends by itself; null for a suspension that is restored. */
  @data.Column({ name: 'ends_at', type: 'timestamptz', nullable: true })
  endsAt!: Date | null;
}

/** Creates `svc_suspensions`. */
export class CreateSvcSuspensions1764790000000 extends data.CreatesTable {
  protected readonly statements = [
    `
      CREATE TABLE svc_suspensions (
        guard text NOT NULL,
        user_id text NOT NULL,
        reason text NOT NULL,
        suspended_at timestamptz NOT NULL,
        ends_at timestamptz,
        CONSTRAINT svc_suspensions_pkey PRIMARY KEY (guard, user_id)
      )`,
  ];
}

/** A suspension in the export of an account, without the words of the operator. Times are ISO 8601 in UTC. */
export interface ExportedSuspension {
  readonly suspended_at: string;
  readonly ends_at: string | null;
}

/** A suspension as an operator sees it. */
export interface ShownSuspension extends ExportedSuspension {
  readonly reason: string;
}

declare module '../../foundation/realm/feature-data' {
  interface ExportedData {
    /** The suspension of the account, if it is suspended. */
    suspension?: ExportedSuspension;
  }
  interface Pruned {
    suspensions: number;
  }
}

const LIVE = '(ends_at IS NULL OR ends_at > clock_timestamp() + $2::interval)';

/** The suspensions of the users of one source. Times are from the database's clock. */
@Injectable()
export class Suspensions {
  private readonly table = pg.once(() => this.database.table(Suspension));

  constructor(
    private readonly database: pg.Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
    @Inject(settings.AUTH_CONFIG) private readonly config: settings.AuthConfig,
  ) {}

  /** The guards whose operators help the users of this guard, or of another one with the same users. */
  readonly operatorGuards = pg.once(() =>
    this.config.guards
      .filter((guard) => guard.features.operators && this.realm.source.names.includes(usersOf(guard, this.config)))
      .map(({ guard }) => guard),
  );

  /** The hook `refusesSessions`: users whom no operator helps cost no statement. */
  get check(): ((userId: string) => Promise<boolean>) | null {
    return this.operatorGuards().length ? async (userId) => (await this.find(userId)) !== null : null;
  }

  async find(userId: string): Promise<ShownSuspension | null> {
    const [found] = await this.database.query<{ reason: string; suspended_at: Date; ends_at: Date | null }>(
      `SELECT reason, suspended_at, ends_at FROM ${this.table()} WHERE guard = ANY($1) AND user_id = $3 AND ${LIVE}`,
      [this.realm.source.names, this.clock.offset, userId],
    );
    if (!found) return null;
    const { reason, suspended_at: since, ends_at: end } = found;
    return { reason, suspended_at: since.toISOString(), ends_at: end?.toISOString() ?? null };
  }

  /** Suspends a user, or changes the suspension. */
  async add(sql: pg.Sql, userId: string, reason: string, endsAt: Date | null): Promise<void> {
    await sql(
      `INSERT INTO ${this.table()} (guard, user_id, reason, suspended_at, ends_at)
       VALUES ($1, $3, $4, clock_timestamp() + $2::interval, $5)
       ON CONFLICT (guard, user_id) DO UPDATE
          SET reason = excluded.reason, suspended_at = excluded.suspended_at, ends_at = excluded.ends_at`,
      [this.realm.source.key, this.clock.offset, userId, reason, endsAt],
    );
  }

  /** Ends a suspension. Resolves to whether there was one. */
  async remove(sql: pg.Sql, userId: string): Promise<boolean> {
    const removed = await sql<{ live: boolean }>(
      `DELETE FROM ${this.table()} WHERE guard = ANY($1) AND user_id = $3 RETURNING ${LIVE} AS live`,
      [this.realm.source.names, this.clock.offset, userId],
    );
    return removed.some(({ live }) => live);
  }

  /** Deletes suspensions that have ended. Resolves to their number; 0 when the table is missing. */
  async prune(): Promise<number> {
    const statement = `DELETE FROM ${this.table()} WHERE guard = $1 AND NOT ${LIVE} RETURNING 1`;
    const removed = this.database.query(statement, [this.realm.source.key, this.clock.offset]);
    return (await removed.catch(deadline.valueIf(pg.isMissing, []))).length;
  }
}

/** The guard whose users the operators of a guard help. */
export const usersOf = ({ operators }: settings.GuardConfig, { guards }: settings.AuthConfig): string =>
  operators.users ?? guards.find(({ isDefault }) => isDefault)!.guard;
