import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Clock } from '../../foundation/platform/clock';
import { sha256 } from '../../foundation/platform/crypto';
import { Database, isUuid } from '../../foundation/platform/database';
import { isMissingTable } from '../../foundation/platform/pg-errors';
import { valueIf } from '../../foundation/platform/deadline';
import { type SweptPage, once, sweep } from '../../foundation/platform/sweep';
import type { GuardServices } from '../../foundation/realm/feature-data';
import { TEXT, TIME, UUID, namedSchema, orNull, record } from '../../foundation/platform/schema';
import { Realm } from '../../foundation/realm/realm';
import { isStorable } from '../../identity/users/columns';
import { TrustedDevice } from './trusted-device.entity';

/** Maximum number of trusted devices of one user. A further one replaces the oldest. */
const MOST_DEVICES = 20;

/** Number of rows that one statement deletes. */
const BATCH = 500;

/** A trusted device in the list of its owner. Times are ISO 8601 in UTC. */
export interface ListedDevice {
  readonly id: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly user_agent: string | null;
}

declare module '../../foundation/realm/feature-data' {
  interface ExportedData {
    /** Also devices that are not trusted any more and not deleted yet. */
    trusted_devices?: readonly ListedDevice[];
  }
  interface Pruned {
    trustedDevices: number;
  }
}
/** The schema of {@link ListedDevice}. */
export const TRUSTED_DEVICE = namedSchema(
  'AuthTrustedDevice',
  record<ListedDevice>({ id: UUID, created_at: TIME, expires_at: TIME, user_agent: orNull(TEXT) }),
);

/** A device to trust. */
export interface NewDevice {
  readonly userId: string;
  readonly token: string;
  /** See {@link TrustedDevice.binding}. */
  readonly binding: string;
  readonly userAgent: string | null;
  readonly days: number;
}

/** The end of the trust in a row. After the option was lowered, no device is trusted for longer. Without `days`, the stored end. */
const endOf = (days: string): string => `least(expires_at, created_at + ${days}::int * interval '1 day')`;

/** Contains all queries of trusted devices, restricted to the realm's guard. Times are those of the database. */
@Injectable()
export class TrustedDeviceStore {
  private readonly table = once(() => this.database.table(TrustedDevice));

  constructor(
    private readonly database: Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
  ) {}

  /** Stores a device, and deletes those of the user that are not trusted any more or too many. Returns its id. */
  async add({ userId, token, binding, userAgent, days }: NewDevice): Promise<string> {
    const id = randomUUID();
    await this.database.query(
      `INSERT INTO ${this.table()} (guard, user_id, id, token_hash, binding, user_agent, created_at, expires_at)
       SELECT $1, $2, $3::uuid, $4, $5, $6, now, now + $8::int * interval '1 day'
         FROM (SELECT clock_timestamp() + $7::interval AS now) AS moment`,
      [this.realm.guard, userId, id, sha256(token), binding, userAgent, this.clock.offset, days],
    );
    await this.database.query(
      `DELETE FROM ${this.table()} WHERE guard = $1 AND user_id = $2 AND (binding <> $3 OR id <> ALL(ARRAY(
         SELECT id FROM ${this.table()} WHERE guard = $1 AND user_id = $2 ORDER BY created_at DESC, id LIMIT ${MOST_DEVICES})))`,
      [this.realm.guard, userId, binding],
    );
    return id;
  }

  /** Whether the user has a trusted device with this token and this binding. */
  async isTrusted(userId: string, token: string, binding: string): Promise<boolean> {
    const found = await this.database.query(
      `SELECT 1 FROM ${this.table()} WHERE guard = $1 AND user_id = $2 AND token_hash = $3 AND binding = $4
          AND ${endOf('$6')} > clock_timestamp() + $5::interval`,
      [this.realm.guard, userId, sha256(token), binding, this.clock.offset, this.days],
    );
    return found.length > 0;
  }

  private get days(): number {
    return this.realm.options.twoFactor.trustedDeviceDays;
  }

  /**
   * The devices of the user that have not expired, the newest first.
   *
   * @param binding only the devices with this binding that the option still trusts; by default all that are stored
   */
  async list(userId: string, binding?: string): Promise<ListedDevice[]> {
    const rows = await this.database.query<{
      id: string;
      createdAt: number;
      expiresAt: number;
      userAgent: string | null;
    }>(
      `SELECT id, extract(epoch FROM created_at)::float8 AS "createdAt", user_agent AS "userAgent",
              extract(epoch FROM ${endOf('$5')})::float8 AS "expiresAt"
         FROM ${this.table()}
        WHERE guard = $1 AND user_id = $2 AND binding = coalesce($3, binding)
          AND ${endOf('$5')} > clock_timestamp() + $4::interval
        ORDER BY created_at DESC, id`,
      [this.realm.guard, userId, binding ?? null, this.clock.offset, binding === undefined ? null : this.days],
    );
    return rows.map(({ id, createdAt, expiresAt, userAgent }) => ({
      id,
      created_at: new Date(createdAt * 1000).toISOString(),
      expires_at: new Date(expiresAt * 1000).toISOString(),
      user_agent: userAgent,
    }));
  }

  /** Deletes one device of the user. Any other id has no effect. Resolves to whether there was one. */
  async remove(userId: string, id: string): Promise<boolean> {
    if (!isUuid(id)) return false;
    const statement = `DELETE FROM ${this.table()} WHERE guard = $1 AND user_id = $2 AND id = $3 RETURNING 1`;
    return (await this.database.query(statement, [this.realm.guard, userId, id])).length > 0;
  }

  /**
   * Deletes all devices of a user. The application may run before its migrations: the end of sessions must not depend on the
   * table.
   */
  async removeAll(userId: string, guards: readonly string[] = [this.realm.guard]): Promise<void> {
    if (!isStorable(userId)) return;
    const statement = `DELETE FROM ${this.table()} WHERE guard = ANY($1) AND user_id = $2`;
    await this.database.query(statement, [guards, userId]).catch(valueIf(isMissingTable, []));
  }

  /** Deletes all devices of the guard, as {@link removeAll}. Waits for rows that another process deletes. */
  async removeAllOfGuard(): Promise<void> {
    const page = ({ userId, id }: Place): Promise<SweptPage<Place>> =>
      this.removePage('AND (user_id, id) > ($2, $3::uuid)', 'user_id, id', 'FOR UPDATE', [userId, id]);
    const nothing = { removed: 0, next: null };
    for (let start: Place | null = FIRST; start !== null;)
      ({ next: start } = await page(start).catch(valueIf(isMissingTable, nothing)));
  }

  /** Deletes the expired devices of the guard, and resolves to their number. Skips rows that another process deletes. */
  prune(): Promise<number> {
    const expired = 'AND expires_at <= statement_timestamp() + $2::interval AND expires_at >= $3::timestamptz';
    return sweep(FIRST, ({ expiry }) =>
      this.removePage(expired, 'expires_at', 'FOR UPDATE SKIP LOCKED', [this.clock.offset, expiry]),
    );
  }

  /**
   * Deletes a page, which starts after the previous one: the index still contains the deleted rows before it. The page is
   * computed once: a join with a sub-select could repeat it for each row.
   */
  private async removePage(
    condition: string,
    order: string,
    lock: string,
    params: readonly string[],
  ): Promise<SweptPage<Place>> {
    const last = order.replaceAll(/\w+/g, '$& DESC');
    const [page] = await this.database.query<Place & { removed: number }>(
      `WITH page AS MATERIALIZED (
         SELECT user_id, id, expires_at FROM ${this.table()} WHERE guard = $1 ${condition} ORDER BY ${order} LIMIT ${BATCH} ${lock}),
       gone AS (
         DELETE FROM ${this.table()} d USING page WHERE d.guard = $1 AND d.user_id = page.user_id AND d.id = page.id RETURNING 1)
       SELECT user_id AS "userId", id, expires_at::text AS expiry, (SELECT count(*)::int FROM gone) AS removed
         FROM page ORDER BY ${last} LIMIT 1`,
      [this.realm.guard, ...params],
    );
    return { removed: page?.removed ?? 0, next: page?.removed === BATCH ? page : null };
  }
}

/** The hook `endAll`: a sign-in on any of the devices needs the second factor again. */
export function endTrust(services: GuardServices, { userId }: { userId?: string }): Promise<void> {
  const devices = services.get(TrustedDeviceStore);
  return userId === undefined ? devices.removeAllOfGuard() : devices.removeAll(userId);
}

/** The position after a row, in the order of the users and in the order of the ends. */
interface Place {
  readonly userId: string;
  readonly id: string;
  readonly expiry: string;
}

const FIRST: Place = { userId: '', id: '00000000-0000-0000-0000-000000000000', expiry: '-infinity' };
