import { Injectable } from '@nestjs/common';
import { Clock, Realm, data, identity, pg, session } from '../../../kit';

/** The public key to which the browser of a session has bound its cookies. */
@data.Entity('svc_device_keys')
@data.Index('svc_device_keys_user', ['guard', 'userId'])
export class DeviceKey {
  /** The id of the session. */
  @data.PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'svc_device_keys_pkey' })
  id!: string;

  @data.Column({ type: 'text' })
  guard!: string;

  @data.Column({ name: 'user_id', type: 'text' })
  userId!: string;

  /** A JWK (RFC 7517), as JSON. */
  @data.Column({ type: 'text' })
  jwk!: string;

  @data.Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;
}

/** Creates `svc_device_keys`. */
export class CreateSvcDeviceKeys1765100000000 extends data.CreatesTable {
  protected readonly statements = [
    `
      CREATE TABLE svc_device_keys (
        id uuid NOT NULL CONSTRAINT svc_device_keys_pkey PRIMARY KEY,
        guard text NOT NULL,
        user_id text NOT NULL,
        jwk text NOT NULL,
        created_at timestamptz NOT NULL
      )`,
    'CREATE INDEX svc_device_keys_user ON svc_device_keys (guard, user_id)',
  ];
}

declare module '../../../foundation/realm/feature-data' {
  interface Pruned {
    deviceKeys: number;
  }
}

/**
 * Seconds after its registration from which a key is needed, and for which a cookie that is over shows no theft: requests may be on
 * their way that the browser sent before.
 */
export const GRACE_SECONDS = 60;

interface FoundKey {
  readonly userId: string;
  readonly jwk: string;
  /** Whether the grace of the registration is over. */
  readonly isNeeded: boolean;
}

/** Contains all queries of the keys, restricted to the realm's guard. Times are from the database's clock. */
@Injectable()
export class DeviceKeyStore {
  private readonly tables = pg.once(() => ({
    keys: this.database.table(DeviceKey),
    sessions: this.database.table(session.Session),
  }));

  constructor(
    private readonly database: pg.Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
    private readonly users: identity.UserProvider,
  ) {}

  /**
   * Stores the key of a live session. Returns whether it did: the first key stays. The lock excludes the end of the session, after
   * which an erasure deletes the rows of the user.
   */
  async add(familyId: string, jwk: string): Promise<boolean> {
    const { keys, sessions } = this.tables();
    const added = await this.database.query(
      `WITH live AS MATERIALIZED (
         SELECT id, guard, user_id FROM ${sessions} WHERE id = $1 AND guard = $2 AND revoked_at IS NULL FOR SHARE)
       INSERT INTO ${keys} (id, guard, user_id, jwk, created_at)
       SELECT id, guard, user_id, $3, clock_timestamp() + $4::interval FROM live
       ON CONFLICT (id) DO NOTHING RETURNING 1`,
      [familyId, this.realm.guard, jwk, this.clock.offset],
    );
    return added.length === 1;
  }

  /** The key of a live session; null for none. */
  async of(familyId: string): Promise<FoundKey | null> {
    const { keys, sessions } = this.tables();
    const [found] = await this.database.query<FoundKey>(
      `SELECT k.user_id AS "userId", k.jwk,
              k.created_at <= clock_timestamp() + $3::interval - interval '${GRACE_SECONDS} seconds' AS "isNeeded"
         FROM ${keys} k JOIN ${sessions} s ON s.id = k.id AND s.guard = k.guard
        WHERE k.id = $1 AND k.guard = $2 AND s.revoked_at IS NULL AND s.expires_at > clock_timestamp() + $3::interval`,
      [familyId, this.realm.guard, this.clock.offset],
    );
    return found ?? null;
  }

  /** Deletes the keys of sessions that have ended. Resolves to the number of deleted rows; 0 when the table is missing. */
  prune(): Promise<number> {
    const { keys, sessions } = this.tables();
    return pg.sweepOrphans(this.database, this.users, {
      table: keys,
      guards: [this.realm.guard],
      isOld: {
        sql: `NOT EXISTS (SELECT FROM ${sessions} s WHERE s.id = r.id AND s.revoked_at IS NULL
                             AND s.expires_at > clock_timestamp() + $3::interval)`,
        value: this.clock.offset,
      },
    });
  }
}
