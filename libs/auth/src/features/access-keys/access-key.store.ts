import { Injectable } from '@nestjs/common';
import { Clock, Realm, deadline, identity, pg } from '../../kit';
import { AccessKey } from './access-key.entity';

/** A key as its owner sees it. Times are ISO 8601 in UTC. */
export interface ListedKey {
  readonly id: string;
  readonly label: string;
  readonly abilities: readonly string[];
  /** The networks from which it is accepted; null for every network. */
  readonly networks: readonly string[] | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  /** The last request that was accepted. It may be missing for a minute. */
  readonly last_used_at: string | null;
}

declare module '../../foundation/realm/feature-data' {
  interface ExportedData {
    /** The access keys that are not revoked. */
    access_keys?: ListedKey[];
  }
  interface Pruned {
    accessKeys: number;
  }
}

/** Whose keys: a user's, or a service's. */
export type KeyOwner =
  { readonly userId: string; readonly service?: undefined } | { readonly service: string; readonly userId?: undefined };

/** A key to store. */
export interface NewKey {
  readonly id: string;
  readonly owner: KeyOwner;
  readonly label: string;
  readonly scope: string;
  readonly networks: readonly string[];
  readonly mac: string;
  readonly days: number | null;
}

/** The stored state of a key that a request presents. */
export interface KeyRow {
  readonly svc_guard: string;
  readonly svc_user: string | null;
  readonly svc_service: string | null;
  readonly svc_scope: string;
  readonly svc_networks: string;
  readonly svc_mac: string;
  readonly svc_revoked: boolean;
  readonly svc_expired: boolean;
}

interface FoundKey {
  readonly row: KeyRow;
  readonly user: () => object | null | Promise<object | null>;
}

/** A key that has ended. */
export type EndedKey = Readonly<Pick<AccessKey, 'id' | 'userId' | 'service'>>;

/** A use of a key: parallel lists make one row each. */
export interface KeyUse {
  readonly id: string;
  readonly at: Date;
  readonly place: string | null;
  /** The HMAC under the current root. */
  readonly mac: string;
}

const ROW = `r.guard AS svc_guard, r.service AS svc_service, r.scope AS svc_scope, r.networks AS svc_networks, r.secret_mac AS svc_mac,
  r.revoked_at IS NOT NULL AS svc_revoked, r.expires_at <= clock_timestamp() + $2::interval IS TRUE AS svc_expired`;

const ENDED = 'id, user_id AS "userId", service';

/** Days for which the row of a key that has ended stays, so that the security log can say why a request was refused. */
const KEPT_DAYS = 30;

/** Number of networks of a key that are remembered. */
const PLACES = 20;

/** Number of rows that one step of an end of all keys works on. */
const PAGE = 250;
/** Contains all queries of access keys, restricted to the realm's guard. Times are from the database's clock. */
@Injectable()
export class AccessKeyStore {
  private readonly table = pg.once(() => this.database.table(AccessKey));
  private readonly joined: ((id: string) => Promise<FoundKey | null>) | undefined;

  constructor(
    private readonly database: pg.Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
    private readonly provider: identity.UserProvider,
    private readonly users: identity.TimedUserProvider,
  ) {
    if (provider instanceof identity.TypeormUserProvider)
      this.joined = provider.joinedTo<KeyRow>(this.table, ROW, () => clock.offset);
  }

  /** A key with its user, who is not read before `user` is called where the table of users is not that of TypeORM. */
  async find(id: string): Promise<FoundKey | null> {
    if (this.joined) return this.joined(id);
    const statement = `SELECT r.user_id AS svc_user, ${ROW} FROM ${this.table()} r WHERE r.id = $1`;
    const [row] = await this.database.query<KeyRow>(statement, [id, this.clock.offset]);
    return row ? { row, user: async () => (row.svc_user === null ? null : this.users.findById(row.svc_user)) } : null;
  }

  /** Stores a key in the caller's transaction. Null if the user has `accessKeys.maxPerUser` keys that have not ended. */
  async add(sql: pg.Sql, { id, owner, label, scope, networks, mac, days }: NewKey): Promise<ListedKey | null> {
    const { userId = null, service = null } = owner;
    const { guard, options } = this.realm;
    const values = [id, guard, userId, service, label, scope, networks.join(' '), mac, this.clock.offset, days];
    const [added] = await sql<ShownRow>(
      `INSERT INTO ${this.table()} AS k
              (id, guard, user_id, service, label, scope, networks, secret_mac, created_at, expires_at, seen_networks)
       SELECT $1::uuid, $2::text, $3::text, $4, $5, $6, $7, $8, now, now + $10::float8 * interval '1 day', ''
         FROM (SELECT clock_timestamp() + $9::interval AS now) t
        WHERE $3 IS NULL OR $11 > (SELECT count(*) FROM ${this.table()} o WHERE o.guard = $2 AND o.user_id = $3
                AND o.revoked_at IS NULL AND (o.expires_at IS NULL OR o.expires_at > now))
       RETURNING ${SHOWN}`,
      [...values, options.accessKeys.maxPerUser],
    );
    return added ? shown(added) : null;
  }

  /** The keys of an owner that were not revoked, the oldest first. None if the migration has not run. */
  async list({ userId, service }: KeyOwner): Promise<ListedKey[]> {
    const rows = await this.database
      .query<ShownRow>(
        `SELECT ${SHOWN} FROM ${this.table()} k
          WHERE guard = $1 AND ${userId === undefined ? 'service' : 'user_id'} = $2 AND revoked_at IS NULL ORDER BY created_at, id`,
        [this.realm.guard, userId ?? service],
      )
      .catch(deadline.valueIf(pg.isMissing, []));
    return rows.map(shown);
  }

  /** Revokes a key, that of an owner if one is given. Null if it has ended, is unknown, or is that of another owner. */
  async revoke(id: string, owner?: KeyOwner): Promise<EndedKey | null> {
    const [ended] = await this.database.query<EndedKey>(
      `UPDATE ${this.table()} SET revoked_at = clock_timestamp() + $3::interval
        WHERE id = $1 AND guard = $2 AND revoked_at IS NULL
          AND ($4::text IS NULL OR user_id = $4) AND ($5::text IS NULL OR service = $5) RETURNING ${ENDED}`,
      [id, this.realm.guard, this.clock.offset, owner?.userId ?? null, owner?.service ?? null],
    );
    return ended ?? null;
  }

  /**
   * Revokes the next keys of a user or, without one, of the guard. Another request may have ended some of them meanwhile.
   *
   * @param after the place that the call before has returned
   */
  async revokePage(after: string, userId?: string, since?: Date): Promise<{ ended: EndedKey[]; next: string | null }> {
    const page = await this.database.query<EndedKey & { isEnded: boolean }>(
      `WITH page AS MATERIALIZED (SELECT id FROM ${this.table()} WHERE guard = $1 ${userId === undefined ? '' : 'AND user_id = $5'} AND revoked_at IS NULL
            AND ($3::timestamptz IS NULL OR created_at >= $3) AND id > $4::uuid ORDER BY id LIMIT ${PAGE}),
       ended AS (
         UPDATE ${this.table()} SET revoked_at = clock_timestamp() + $2::interval
          WHERE id IN (SELECT id FROM page) AND revoked_at IS NULL RETURNING ${ENDED})
       SELECT p.id, e."userId", e.service, e.id IS NOT NULL AS "isEnded" FROM page p LEFT JOIN ended e ON e.id = p.id ORDER BY p.id`,
      [this.realm.guard, this.clock.offset, since ?? null, after, ...(userId === undefined ? [] : [userId])],
    );
    return { ended: page.filter(({ isEnded }) => isEnded), next: page.length < PAGE ? null : page.at(-1)!.id };
  }

  /**
   * Records uses, and the HMACs under the current root. Returns the networks that are new for a key that has some, in one statement:
   * of several processes, one gets each of them.
   */
  record(uses: readonly KeyUse[]): Promise<(EndedKey & { place: string })[]> {
    const list = <K extends keyof KeyUse>(name: K): KeyUse[K][] => uses.map((use) => use[name]);
    return this.database.query(
      `WITH used AS (
         SELECT id, max(at) AS at, max(mac) AS mac, array_remove(array_agg(place), NULL) AS places
           FROM unnest($2::uuid[], $3::timestamptz[], $4::text[], $5::text[]) AS u (id, at, place, mac) GROUP BY id),
       former AS (
         SELECT k.id, k.seen_networks, u.at, u.mac, ARRAY(
                  SELECT unnest(u.places) EXCEPT SELECT unnest(string_to_array(k.seen_networks, ' '))) AS added
           FROM ${this.table()} k JOIN used u ON u.id = k.id WHERE k.guard = $1 ORDER BY k.id FOR UPDATE OF k),
       written AS (
         UPDATE ${this.table()} k
            SET last_used_at = greatest(k.last_used_at, f.at), secret_mac = f.mac,
                seen_networks = array_to_string((f.added || string_to_array(f.seen_networks, ' '))[1:${PLACES}], ' ')
           FROM former f WHERE k.id = f.id RETURNING k.id, k.user_id, k.service, f.seen_networks, f.added)
       SELECT ${ENDED}, unnest(added) AS place FROM written WHERE seen_networks <> ''`,
      [this.realm.guard, list('id'), list('at'), list('place'), list('mac')],
    );
  }

  /**
   * Deletes the keys that have ended {@link KEPT_DAYS} days ago, and those of users that do not exist any more, if
   * `UserProvider.existingIds` can report it. Resolves to the number of deleted rows; 0 when the table is missing.
   */
  prune(): Promise<number> {
    const sql = `least(r.revoked_at, r.expires_at) <= clock_timestamp() + $3::interval - interval '${KEPT_DAYS} days'`;
    return pg.sweepOrphans(this.database, this.provider, {
      table: this.table(),
      guards: [this.realm.guard],
      isOld: { sql, value: this.clock.offset },
    });
  }
}

const SHOWN = `k.id, k.label, k.scope, k.networks, k.created_at AS "createdAt", k.expires_at AS "expiresAt", k.last_used_at AS "lastUsedAt"`;

type ShownRow = Pick<AccessKey, 'id' | 'label' | 'scope' | 'networks' | 'createdAt' | 'expiresAt' | 'lastUsedAt'>;

const shown = ({ id, label, scope, networks, createdAt, expiresAt, lastUsedAt }: ShownRow): ListedKey => ({
  id,
  label,
  abilities: wordsOf(scope),
  networks: networks ? wordsOf(networks) : null,
  created_at: createdAt.toISOString(),
  expires_at: expiresAt?.toISOString() ?? null,
  last_used_at: lastUsedAt?.toISOString() ?? null,
});

/** The parts of a space-delimited list. */
export const wordsOf = (text: string): string[] => text.split(' ').filter(Boolean);
