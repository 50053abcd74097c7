import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Clock, Realm, crypto, deadline, identity, pg, session } from '../../kit';
import { KnownDevice } from './known-device.entity';
import type { FoundReport, SeenDevice } from './known-device.policy';

/** Maximum number of devices of a user. A further one replaces the device with the oldest sign-in. */
export const MOST_DEVICES = 50;

/** Days after the last sign-in for which a device keeps its token: the longest life of a cookie (RFC 6265bis §5.5). */
export const KNOWN_DAYS = 400;

/** A device in the export of an account. Times are ISO 8601 in UTC. */
export interface ExportedDevice {
  readonly id: string;
  readonly first_seen_at: string;
  readonly last_seen_at: string;
  readonly user_agent: string | null;
}

/** A device in the list of its owner. */
export interface ListedKnownDevice extends ExportedDevice {
  /** Whether it is the device of the request. */
  readonly current: boolean;
}

declare module '../../foundation/realm/feature-data' {
  interface ExportedData {
    /** The devices on which the user has signed in. */
    known_devices?: ExportedDevice[];
  }
  interface Pruned {
    knownDevices: number;
  }
}

/** A sign-in on a device. */
export interface DeviceSignIn {
  readonly userId: string;
  readonly familyId: string;
  /** The random id of the user in the token of the device. */
  readonly deviceId: string;
  readonly userAgent: string | null;
}

/** A sign-in that was found by the token of the mailed link. */
export interface ReportedSignIn extends FoundReport {
  readonly id: string;
  readonly userId: string;
  readonly familyId: string;
}

/** SQL of whether the mailed link has expired: `$3` is the offset of the clock, `$4` the validity in minutes. */
const EXPIRED = `first_seen_at <= clock_timestamp() + $3::interval - $4::float8 * interval '1 minute'`;

/** Contains all queries of known devices, restricted to the realm's guard. Times are from the database's clock. */
@Injectable()
export class KnownDeviceStore {
  private readonly table = pg.once(() => this.database.table(KnownDevice));

  constructor(
    private readonly database: pg.Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
    private readonly users: identity.UserProvider,
  ) {}

  /**
   * Records a sign-in, in one statement: of concurrent sign-ins with one device id, one is new. Null if the session has
   * ended. The lock excludes its end, after which an erasure deletes the rows of the user. Until the mail is sent, the row is
   * that of the last sign-in, which the mail is about.
   */
  async record({ userId, familyId, deviceId, userAgent }: DeviceSignIn): Promise<(SeenDevice & { id: string }) | null> {
    const id = randomUUID();
    const { mail: mails } = this.realm.options.knownDevices;
    const [seen] = await this.database.query<SeenDevice & { id: string }>(
      `WITH live AS MATERIALIZED (
              SELECT clock_timestamp() + $7::interval AS now FROM ${this.database.table(session.Session)}
               WHERE id = $5 AND guard = $2 AND revoked_at IS NULL FOR SHARE)
       INSERT INTO ${this.table()} AS d (id, guard, user_id, device_hash, session_id, user_agent, first_seen_at, last_seen_at, mail_due)
       SELECT $1::uuid, $2::text, $3::text, $4::text, $5::uuid, $6::text, now, now,
              $8::boolean AND EXISTS (SELECT FROM ${this.table()} o WHERE o.guard = $2 AND o.user_id = $3)
         FROM live
       ON CONFLICT (guard, user_id, device_hash) DO UPDATE
          SET last_seen_at = excluded.last_seen_at, user_agent = excluded.user_agent,
              first_seen_at = CASE WHEN d.mail_due THEN excluded.first_seen_at ELSE d.first_seen_at END,
              session_id = CASE WHEN d.mail_due THEN excluded.session_id ELSE d.session_id END
       RETURNING d.id, d.id = $1 AS "isNew", d.mail_due AS "isMailDue"`,
      [id, this.realm.guard, userId, crypto.sha256(deviceId), familyId, userAgent, this.clock.offset, mails],
    );
    if (seen?.isNew && (seen.isMailDue || !mails)) await this.removeSurplus(userId);
    return seen ?? null;
  }

  /**
   * A row whose link is valid, or whose mail may still wait in the queue, remains: otherwise many sign-ins on new devices
   * would take the link away.
   */
  private async removeSurplus(userId: string): Promise<void> {
    await this.database.query(
      `DELETE FROM ${this.table()} WHERE id = ANY(ARRAY(
         SELECT id FROM ${this.table()} WHERE guard = $1 AND user_id = $2
          ORDER BY last_seen_at DESC, id OFFSET ${MOST_DEVICES}))
         AND (${EXPIRED}
              OR link_hash IS NULL AND first_seen_at <= clock_timestamp() + $3::interval - interval '1 hour')`,
      [this.realm.guard, userId, this.clock.offset, this.expireMinutes],
    );
  }

  /** Whether the mail about the first sign-in on a device was not sent yet. */
  async isMailDue(id: string): Promise<boolean> {
    const statement = `SELECT 1 FROM ${this.table()} WHERE id = $1 AND guard = $2 AND mail_due`;
    return (await this.database.query(statement, [id, this.realm.guard])).length === 1;
  }

  /** Stores the hash of the token of the link that is mailed. Returns the time of the sign-in; null if no mail is due. */
  async link(id: string, token: string): Promise<Date | null> {
    const [linked] = await this.database.query<{ time: Date }>(
      `UPDATE ${this.table()} SET link_hash = $3 WHERE id = $1 AND guard = $2 AND mail_due
       RETURNING first_seen_at AS time`,
      [id, this.realm.guard, crypto.sha256(token)],
    );
    return linked?.time ?? null;
  }

  /** Records that the mail was sent, or that there is no address for it. */
  async settleMail(id: string): Promise<void> {
    const statement = `UPDATE ${this.table()} SET mail_due = false WHERE id = $1 AND guard = $2`;
    await this.database.query(statement, [id, this.realm.guard]);
  }

  /** Finds a sign-in by the token of the mailed link. */
  async find(token: string): Promise<ReportedSignIn | null> {
    const [found] = await this.database.query<ReportedSignIn>(
      `SELECT id, user_id AS "userId", session_id AS "familyId", reported_at IS NOT NULL AS "isReported",
              ${EXPIRED} AS "isExpired"
         FROM ${this.table()} WHERE guard = $1 AND link_hash = $2`,
      [this.realm.guard, crypto.sha256(token), this.clock.offset, this.expireMinutes],
    );
    return found ?? null;
  }

  /** Records a report, and forgets the device. Returns true for one of several calls. */
  async close(id: string): Promise<boolean> {
    const closed = await this.database.query(
      `UPDATE ${this.table()} SET reported_at = clock_timestamp() + $3::interval, device_hash = NULL, user_agent = NULL
        WHERE id = $1 AND guard = $2 AND reported_at IS NULL RETURNING 1`,
      [id, this.realm.guard, this.clock.offset],
    );
    return closed.length === 1;
  }

  /**
   * The known devices of a user, the last sign-in first. None if the migration has not run.
   *
   * @param deviceId the device of the request; null for none
   */
  async list(userId: string, deviceId: string | null = null): Promise<ListedKnownDevice[]> {
    const rows = await this.database
      .query<Record<'firstSeenAt' | 'lastSeenAt', Date> & ListedKnownDevice>(
        `SELECT id, first_seen_at AS "firstSeenAt", last_seen_at AS "lastSeenAt", user_agent, device_hash = $3 AS current
           FROM ${this.table()}
          WHERE guard = $1 AND user_id = $2 AND device_hash IS NOT NULL
          ORDER BY last_seen_at DESC, id LIMIT ${MOST_DEVICES}`,
        [this.realm.guard, userId, crypto.sha256(deviceId ?? '')],
      )
      .catch(deadline.valueIf(pg.isMissing, []));
    return rows.map(({ id, firstSeenAt, lastSeenAt, user_agent, current }) => ({
      id,
      first_seen_at: firstSeenAt.toISOString(),
      last_seen_at: lastSeenAt.toISOString(),
      user_agent,
      current,
    }));
  }

  /** As {@link list}, for the export of the account. */
  async export(userId: string): Promise<ExportedDevice[]> {
    return (await this.list(userId)).map(({ current: _, ...device }) => device);
  }

  /** Forgets a device of the user. Resolves to whether it was known; any other id has no effect. */
  async forget(userId: string, id: string): Promise<boolean> {
    if (!pg.isUuid(id)) return false;
    const forgotten = await this.database.query(
      `UPDATE ${this.table()} SET device_hash = NULL, user_agent = NULL
        WHERE id = $1 AND guard = $2 AND user_id = $3 AND device_hash IS NOT NULL RETURNING 1`,
      [id, this.realm.guard, userId],
    );
    return forgotten.length === 1;
  }

  /** Forgets all devices of the user. */
  async forgetAll(userId: string): Promise<void> {
    await this.database.query(
      `UPDATE ${this.table()} SET device_hash = NULL, user_agent = NULL
        WHERE guard = $1 AND user_id = $2 AND device_hash IS NOT NULL`,
      [this.realm.guard, userId],
    );
  }

  /**
   * Deletes the devices that have no token any more, except the last one of a user: without a row, the next sign-in would
   * be the first one, and cause no mail. Also deletes those of users that do not exist any more, if
   * `UserProvider.existingIds` can report it. Resolves to the number of deleted rows; 0 when the table is missing.
   */
  prune(): Promise<number> {
    const sql = `r.last_seen_at <= clock_timestamp() + $3::interval - interval '${KNOWN_DAYS} days' AND EXISTS (
                   SELECT FROM ${this.table()} o WHERE o.guard = ANY($1) AND o.user_id = r.user_id
                      AND (o.last_seen_at, o.id) > (r.last_seen_at, r.id))`;
    return pg.sweepOrphans(this.database, this.users, {
      table: this.table(),
      guards: [this.realm.guard],
      isOld: { sql, value: this.clock.offset },
    });
  }

  private get expireMinutes(): number {
    return this.realm.options.knownDevices.expireMinutes;
  }
}
