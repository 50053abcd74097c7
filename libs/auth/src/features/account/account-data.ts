import { Inject, Injectable } from '@nestjs/common';
import { Clock, Realm, Realms, data, identity, manifest, deadline, pg } from '../../kit';

/** The data of an account in the library, for its owner. Times are ISO 8601 in UTC. */
export interface ExportedAccount extends data.ExportedData {
  generated_at: string;
  account: { id: string | number; identifier: string | null };
}

/** Exports the data of an account (`GET /account/export`). It reads no token, hash, secret or key. */
@Injectable()
export class AccountExport {
  constructor(
    private readonly users: identity.TimedUserProvider,
    private readonly realms: Realms,
    private readonly realm: Realm,
    private readonly clock: Clock,
    @Inject(manifest.MANIFESTS) private readonly features: readonly manifest.Feature[],
  ) {}

  async export({ user, userId }: identity.Caller): Promise<ExportedAccount> {
    return {
      generated_at: new Date(this.clock.now()).toISOString(),
      account: { id: this.users.publicIdOf(user), identifier: this.users.identifierOf(user) },
      ...(await data.exportOf(this.features, this.realms.get(this.realm.guard), userId)),
    };
  }
}

/**
 * Deletes the data of one account, also that of features that are off. All queries are restricted to the guards of its source,
 * because ids of different sources collide.
 */
@Injectable()
export class AccountDataStore {
  constructor(
    private readonly database: pg.Database,
    private readonly realm: Realm,
    @Inject(manifest.MANIFESTS) private readonly features: readonly manifest.Feature[],
  ) {}

  /** Excludes other deletions of the account until this transaction ends. @returns false if one still runs after `ms` */
  async lock(sql: pg.Sql, { userId }: data.DeletedAccount, ms: number): Promise<boolean> {
    await sql(`SET LOCAL lock_timeout = ${ms}`);
    try {
      await sql(pg.LOCK_UNTIL_COMMIT, [`svc:erase:${this.realm.source.key}:${userId}`]);
    } catch (error) {
      return deadline.valueIf(pg.isLockTimeout, false)(error);
    }
    await sql('SET LOCAL lock_timeout TO DEFAULT');
    return true;
  }

  /** Deletes every row of the account except its sessions: see `SessionErasure.eraseRest`. */
  async erase(sql: pg.Sql, account: data.DeletedAccount): Promise<void> {
    for (const { entity, column, values } of await this.existing(sql)) {
      const of = values(account);
      const condition = `${column} = ${typeof of === 'string' ? '$2' : 'ANY($2)'}`;
      // In the order in which attempts lock the counters.
      for (const guard of this.realm.source.names)
        await sql(`DELETE FROM ${this.database.table(entity)} WHERE guard = $1 AND ${condition}`, [guard, of]);
    }
  }

  /**
   * Those whose table exists with their columns: another table may have its name. Checked on every call, because a migration may
   * run after the start of the process.
   */
  private async existing(sql: pg.Sql): Promise<data.AccountRows[]> {
    const erased = data.dataOf(this.features).flatMap(({ erase = [] }) => erase);
    const asked = erased.flatMap(({ entity, column }) =>
      ['guard', column].map((name) => [this.database.table(entity), name] as const),
    );
    const found = await sql<{ name: string }>(
      `SELECT asked.name FROM unnest($1::text[], $2::text[]) AS asked(name, attribute)
         LEFT JOIN pg_attribute a ON a.attrelid = to_regclass(asked.name) AND a.attname = asked.attribute AND NOT a.attisdropped
        GROUP BY asked.name HAVING count(a.attname) = count(*)`,
      [asked.map(([table]) => table), asked.map(([, column]) => column)],
    );
    const names = new Set(found.map(({ name }) => name));
    return erased.filter(({ entity }) => names.has(this.database.table(entity)));
  }
}
