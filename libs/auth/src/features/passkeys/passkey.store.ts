import { Injectable } from '@nestjs/common';
import { Clock, Realm, deadline, identity, pg, crypto, session } from '../../kit';
import { type ExportedPasskey, type ListedPasskey, type NewCredential, Passkey } from './passkey.entity';
import { type Usage, type UseVerdict, changeOf, judgeUse } from './sign-count.policy';

/** A passkey to store. */
export interface NewPasskey extends Omit<NewCredential, 'publicKey'> {
  readonly userId: string;
  /** Null: the handle is the user id. */
  readonly userHandle: string | null;
  readonly name: string | null;
  /** Encrypted. */
  readonly publicKey: string;
}

/** The user id of a row that only occupies the id of a passkey. No user has it. */
export const NO_USER = '';

/** Days after which the passkey of a registration is deleted if nothing has proved the address: see {@link PageRow}. */
const UNPROVED_DAYS = 30;

/** SQL of the rows that the guard `$1` reads: its passkeys, and the rows that only occupy an id. */
const OF_GUARD = `(guard = $1 OR (guard IS NULL AND user_id = '${NO_USER}'))`;

/** SQL of a passkey that was registered with its account and never used, and of a row that only occupies an id. */
const UNUSED = 'user_handle IS NOT NULL AND last_used_at IS NULL';

/** SQL of the passkeys of the user `$2` at the guard `$1`, or of those added since `$3`. */
const addedBy = (since?: Date): string => `guard = $1 AND user_id = $2${since ? ' AND created_at >= $3' : ''}`;

/** A row that the pruning reads. */
export interface PageRow {
  readonly id: string;
  readonly userId: string;
  /** Whether it is of a registration, whose verification link has expired {@link UNPROVED_DAYS} ago, and was never used. */
  readonly isUnused: boolean;
}

/** A stored passkey. */
export interface FoundPasskey extends Pick<NewPasskey, 'userId' | 'userHandle' | 'publicKey'> {
  /** Null for a row that only occupies the id: its user id is {@link NO_USER}. */
  readonly guard: string | null;
}

/** The result of recording a use; null if the passkey does not exist any more. */
export type RecordedUse = {
  readonly verdict: UseVerdict;
  /** Null if the backup flags are the stored ones; else whether a changed eligibility was accepted. */
  readonly change: ReturnType<typeof changeOf>;
} | null;

/** A passkey that was removed. */
export interface RemovedPasskey {
  readonly id: string;
  readonly transports: readonly string[];
}

const REMOVED = 'credential_id AS id, transports';

const USAGE = `sign_count::float8 AS "signCount", backup_eligible AS "backupEligible", backed_up AS "backedUp"`;

/** Contains all queries of passkeys, restricted to the realm's guard. */
@Injectable()
export class PasskeyStore {
  private readonly table = pg.once(() => this.database.table(Passkey));

  constructor(
    private readonly database: pg.Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
    private readonly users: identity.UserProvider,
  ) {}

  /** Whether {@link add} stores nothing for a user that does not exist. Otherwise the caller has to check it afterwards. */
  get checksUsers(): boolean {
    return this.userExists !== null;
  }

  /** Null where the statement cannot know whether the user exists. */
  private get userExists(): string | null {
    return this.users instanceof identity.TypeormUserProvider ? this.users.existsLockedSql('$13') : null;
  }

  /**
   * Stores a passkey in the caller's transaction. Returns false if its id exists at any guard, the user has `most` passkeys,
   * or the user does not exist. The caller's transaction excludes another one for the same user: see `Accounts.exclusive`.
   *
   * @param most maximum number of passkeys of the user; by default `passkeys.maxPerUser`
   */
  async add(sql: pg.Sql, passkey: NewPasskey, most = this.realm.options.passkeys.maxPerUser): Promise<boolean> {
    if (this.users instanceof identity.TypeormUserProvider) await this.users.readLocks(sql);
    return this.insert(sql, passkey, this.realm.guard, most, this.userExists);
  }

  /**
   * Occupies the id of a passkey in the caller's transaction, with the work of {@link add}. Returns false if the id exists.
   * The row is bound to no user and no guard, so no user can sign in with it.
   */
  occupy(sql: pg.Sql, passkey: NewPasskey): Promise<boolean> {
    return this.insert(sql, { ...passkey, userId: NO_USER }, null, 1, null);
  }

  /** The passkeys of a user, or those added since a time, that were registered with the account and never used. Locks them. */
  unusedOf(sql: pg.Sql, userId: string, since?: Date): Promise<(RemovedPasskey & { publicKey: string })[]> {
    const statement = `
      SELECT ${REMOVED}, public_key AS "publicKey" FROM ${this.table()}
       WHERE ${addedBy(since)} AND ${UNUSED} FOR UPDATE`;
    return sql(statement, [this.realm.guard, userId, ...(since ? [since] : [])]);
  }

  /** Turns a passkey into a row that only occupies its id, as {@link occupy} stores one, in the caller's transaction. */
  async release(sql: pg.Sql, credentialId: string, publicKey: string): Promise<void> {
    const statement = `UPDATE ${this.table()} SET guard = NULL, user_id = '${NO_USER}', name = NULL, public_key = $2
                        WHERE credential_id = $1`;
    await sql(statement, [credentialId, publicKey]);
  }

  private async insert(
    sql: pg.Sql,
    passkey: NewPasskey,
    guard: string | null,
    most: number,
    userExists: string | null,
  ): Promise<boolean> {
    const { credentialId, userId, name, publicKey, signCount, transports, aaguid, backupEligible, backedUp } = passkey;
    const values = [credentialId, userId, guard, name, publicKey, signCount, JSON.stringify(transports)];
    const added = await sql(
      `INSERT INTO ${this.table()} (credential_id, user_id, guard, name, public_key, sign_count, transports, aaguid,
                                    backup_eligible, backed_up, created_at, updated_at, user_handle)
       SELECT $1, $2, $3, $4, $5, $6::bigint, $7::json, $8::uuid, $9::boolean, $10::boolean, now, now, $14
         FROM (SELECT clock_timestamp() + $11::interval AS now) AS moment
        WHERE (SELECT count(*) FROM ${this.table()} WHERE guard = $3 AND user_id = $2) < $12
          AND ${userExists ?? '$13::text IS NOT NULL'}
       ON CONFLICT (credential_id) DO NOTHING RETURNING 1`,
      [...values, aaguid, backupEligible, backedUp, this.clock.offset, most, userId, passkey.userHandle],
    );
    return added.length > 0;
  }

  /** Returns the row with this id. It may belong to another guard: the caller has to compare it. */
  async find(credentialId: string): Promise<FoundPasskey | null> {
    const [found] = await this.database.query<FoundPasskey>(
      `SELECT user_id AS "userId", user_handle AS "userHandle", public_key AS "publicKey", guard FROM ${this.table()}
        WHERE credential_id = $1`,
      [credentialId],
    );
    return found ?? null;
  }

  /** Decides on a use while the row is locked and records an accepted one, so that two uses cannot pass with one count. */
  recordUse(credentialId: string, used: Usage): Promise<RecordedUse> {
    return this.database.transaction(async (sql) => {
      const [stored] = await sql<Usage>(
        `SELECT ${USAGE} FROM ${this.table()} WHERE credential_id = $1 AND guard = $2 FOR UPDATE`,
        [credentialId, this.realm.guard],
      );
      if (!stored) return null;
      const verdict = judgeUse(stored, used, this.realm.options.passkeys.backupChange);
      if (verdict === 'accept') await this.touch(sql, credentialId, used);
      return { verdict, change: changeOf(stored, used, verdict) };
    });
  }

  private async touch(sql: pg.Sql, credentialId: string, used: Usage): Promise<void> {
    const { signCount, backedUp, backupEligible } = used;
    await sql(
      `UPDATE ${this.table()} SET sign_count = greatest(sign_count, $3::bigint), backed_up = $4, backup_eligible = $6,
              last_used_at = clock_timestamp() + $5::interval, updated_at = clock_timestamp() + $5::interval
        WHERE credential_id = $1 AND guard = $2`,
      [credentialId, this.realm.guard, signCount, backedUp, this.clock.offset, backupEligible],
    );
  }

  /** Returns the user's passkeys, the oldest first. */
  list(userId: string): Promise<(ListedPasskey & { transports: string[]; userHandle: string | null })[]> {
    return this.database.query(
      `SELECT credential_id AS id, name, floor(extract(epoch FROM last_used_at))::float8 AS last_used_at, transports,
              user_handle AS "userHandle"
         FROM ${this.table()} WHERE guard = $1 AND user_id = $2 ORDER BY created_at, credential_id`,
      [this.realm.guard, userId],
    );
  }

  /** For the export of the account. */
  async export(userId: string): Promise<ExportedPasskey[]> {
    const stored = await this.list(userId).catch(deadline.valueIf(pg.isMissing, []));
    return stored.map(({ id, name, last_used_at }) => ({ credential_id: id, name, last_used_at }));
  }

  async existsFor(userId: string): Promise<boolean> {
    const statement = `SELECT 1 FROM ${this.table()} WHERE guard = $1 AND user_id = $2 LIMIT 1`;
    return (await this.database.query(statement, [this.realm.guard, userId])).length > 0;
  }

  /** Renames a passkey of the user. Returns false if the user has no such passkey. */
  async rename(userId: string, credentialId: string, name: string | null): Promise<boolean> {
    const renamed = await this.database.query(
      `UPDATE ${this.table()} SET name = $4, updated_at = clock_timestamp() + $5::interval
        WHERE credential_id = $1 AND guard = $2 AND user_id = $3 RETURNING 1`,
      [credentialId, this.realm.guard, userId, name, this.clock.offset],
    );
    return renamed.length > 0;
  }

  /** Whether a passkey exists. Waits for a transaction that is removing it. */
  async exists(credentialId: string): Promise<boolean> {
    const statement = `SELECT 1 FROM ${this.table()} WHERE credential_id = $1 AND guard = $2 FOR KEY SHARE`;
    return (await this.database.query(statement, [credentialId, this.realm.guard])).length > 0;
  }

  /** Deletes a passkey of the user, and returns it; null without one. */
  async remove(
    userId: string,
    credentialId: string,
    sql: pg.Sql = this.database.query,
  ): Promise<RemovedPasskey | null> {
    const statement = `DELETE FROM ${this.table()} WHERE credential_id = $1 AND guard = $2 AND user_id = $3 RETURNING ${REMOVED}`;
    return (await sql<RemovedPasskey>(statement, [credentialId, this.realm.guard, userId]))[0] ?? null;
  }

  /** The ids of the user's passkeys, which are locked in the caller's transaction. */
  async lockedIds(sql: pg.Sql, userId: string): Promise<string[]> {
    const statement = `SELECT credential_id AS id FROM ${this.table()} WHERE guard = $1 AND user_id = $2 FOR UPDATE`;
    return (await sql<{ id: string }>(statement, [this.realm.guard, userId])).map(({ id }) => id);
  }

  /** Deletes all passkeys of a user, or those added since a time, in the caller's transaction. Resolves to them. */
  removeAllOf(sql: pg.Sql, userId: string, since?: Date): Promise<RemovedPasskey[]> {
    const statement = `
      DELETE FROM ${this.table()} WHERE ${addedBy(since)} RETURNING ${REMOVED}`;
    return sql(statement, [this.realm.guard, userId, ...(since ? [since] : [])]);
  }

  /** Returns one page of the guard's passkeys, and of the rows that only occupy an id, in the order of their ids. */
  page(after: string, size: number): Promise<PageRow[]> {
    const { proofMinutes } = this.realm.options.facts;
    return this.database.query(
      `SELECT credential_id AS id, user_id AS "userId",
              ${UNUSED} AND created_at <=
                clock_timestamp() + $4::interval - interval '${UNPROVED_DAYS} days' - $5::float8 * interval '1 minute' AS "isUnused"
         FROM ${this.table()} WHERE ${OF_GUARD} AND credential_id > $2 ORDER BY credential_id LIMIT $3`,
      [this.realm.guard, after, size, this.clock.offset, proofMinutes],
    );
  }

  /** Deletes passkeys, except rows that are locked by a use, and resolves to the number of deleted rows. */
  async removeAll(credentialIds: readonly string[]): Promise<number> {
    const deleted = await this.database.query(
      `DELETE FROM ${this.table()} WHERE credential_id IN (
         SELECT credential_id FROM ${this.table()}
          WHERE ${OF_GUARD} AND credential_id = ANY($2) FOR UPDATE SKIP LOCKED) RETURNING 1`,
      [this.realm.guard, credentialIds],
    );
    return deleted.length;
  }
}

/** The passkey and the user that a public key belongs to. */
export interface PublicKeyOwner {
  readonly credentialId: string;
  readonly userId: string;
  /** By default the guard of the realm. */
  readonly guard?: string;
}

/**
 * Encrypts public keys for storage, bound to their passkey, user and guard. An attacker with write access to the table
 * cannot sign in with another key.
 */
@Injectable()
export class EncryptedKeys {
  constructor(
    private readonly encryption: crypto.Encryption,
    private readonly realm: Realm,
  ) {}

  encrypt(owner: PublicKeyOwner, publicKey: Uint8Array): string {
    return this.encryption.encrypt(publicKey, this.contextOf(owner));
  }

  /** @throws Error for a key that is damaged, was moved to another row, or whose encryption key is not configured any more */
  decrypt(owner: PublicKeyOwner, sealed: string): Uint8Array<ArrayBuffer> {
    const publicKey = this.decryptIfOurs(owner, sealed);
    if (publicKey) return publicKey;
    throw new Error(
      `The public key of the passkey ${owner.credentialId} cannot be decrypted. Was encryption.key (SVC_ENCRYPTION_KEY) changed without keeping the former one in encryption.previousKeys?`,
    );
  }

  /** As {@link decrypt}, but null where that throws: another application can have stored the passkey of another guard. */
  decryptIfOurs(owner: PublicKeyOwner, sealed: string): Uint8Array<ArrayBuffer> | null {
    const publicKey = this.encryption.decrypt(sealed, this.contextOf(owner));
    return publicKey && new Uint8Array(publicKey);
  }

  private contextOf({ credentialId, userId, guard = this.realm.guard }: PublicKeyOwner): string {
    return JSON.stringify(['passkey', guard, userId, credentialId]);
  }
}

/** Number of passkeys that one step of the sweep reads. */
const PAGE = 250;

/**
 * Deletes the realm's passkeys whose user does not exist any more. With `registration.concealExisting`, a row that only occupies
 * an id is deleted after the same time as the passkey of a new account whose address was never proved, which cannot sign in.
 * Otherwise its absence would show that the address was taken.
 */
@Injectable()
export class PasskeyPruning {
  constructor(
    private readonly store: PasskeyStore,
    private readonly users: identity.UserProvider,
    private readonly unverified: session.UnverifiedBlock,
  ) {}

  /**
   * Deletes them, and resolves to the number of deleted rows; 0 when a table is missing. No passkey of a deleted user is deleted
   * when `UserProvider.existingIds` cannot report which users exist.
   *
   * @throws StoreUnavailable if `UserProvider.existingIds` does not settle in time
   */
  prune(): Promise<number> {
    return pg.sweep('', (after) => this.page(after), pg.isMissing);
  }

  private async page(after: string): Promise<pg.SweptPage<string>> {
    const page = await this.store.page(after, PAGE);
    const passkeys = page.filter(({ userId }) => userId !== NO_USER);
    const ids = [...new Set(passkeys.map(({ userId }) => userId))];
    // A provider that never settles must not hold the lock of the pruning.
    const existing = ids.length
      ? await deadline.callHost('UserProvider.existingIds', () => this.users.existingIds(ids))
      : null;
    const outdated: string[] = [];
    for (const { id, userId, isUnused } of page) {
      const isOrphan = userId !== NO_USER && existing !== null && !existing.has(userId);
      if (isOrphan || (isUnused && (userId === NO_USER || (await this.isConcealed(userId))))) outdated.push(id);
    }
    return { removed: await this.store.removeAll(outdated), next: page.at(-1)?.id ?? null };
  }

  private async isConcealed(userId: string): Promise<boolean> {
    const user = await deadline.callHost('UserProvider.findById', () => this.users.findById(userId));
    return user !== null && this.unverified.isConcealed(user);
  }
}
