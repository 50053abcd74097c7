import { Injectable } from '@nestjs/common';
import type { EntityTarget, ObjectLiteral } from 'typeorm';
import { Database, LOCK_UNTIL_COMMIT, type Sql, isLockTimeout } from '../../foundation/platform/database';
import { valueIf } from '../../foundation/platform/deadline';
import { Realm } from '../../foundation/realm/realm';
import { loginLock, mailLock, userLock } from '../../request/lockout/lockout.store';
import { LockoutCounter } from '../../request/lockout/lockout.entity';
import { EmailChange } from '../email-change/email-change.entity';
import { EmailDelivery } from '../email-verification/email-delivery.entity';
import { KnownDevice } from '../known-devices/known-device.entity';
import { Passkey } from '../passkeys/passkey.entity';
import { TrustedDevice } from '../sessions/trusted-device.entity';
import { PasswordResetToken } from '../password-reset/reset-token.entity';

/** A table that may not exist yet, and the columns that identify it as a table of the library. */
export interface Table {
  /** Quoted, with its schema. */
  readonly name: string;
  readonly columns: readonly string[];
}

/** Names the tables with account data, whether or not their feature is on. */
@Injectable()
export class Tables {
  constructor(private readonly database: Database) {}

  get lockouts(): Table {
    return this.of(LockoutCounter, ['guard', 'subject']);
  }

  get passwordResets(): Table {
    return this.of(PasswordResetToken, ['guard', 'user_id']);
  }

  get emailChanges(): Table {
    return this.of(EmailChange, ['guard', 'user_id']);
  }

  get emailDeliveries(): Table {
    return this.of(EmailDelivery, ['guard', 'user_id']);
  }

  get knownDevices(): Table {
    return this.of(KnownDevice, ['guard', 'user_id']);
  }

  get passkeys(): Table {
    return this.of(Passkey, ['guard', 'user_id']);
  }

  get trustedDevices(): Table {
    return this.of(TrustedDevice, ['guard', 'user_id']);
  }

  /**
   * The tables that exist with their columns. Checked on every call, because a migration may run after the start of the
   * process.
   */
  async existing(sql: Sql, tables: readonly Table[]): Promise<ReadonlySet<Table>> {
    const columns = tables.flatMap((table) => table.columns.map((column) => [table.name, column] as const));
    const found = await sql<{ name: string }>(
      `SELECT asked.name FROM unnest($1::text[], $2::text[]) AS asked(name, attribute)
         LEFT JOIN pg_attribute a ON a.attrelid = to_regclass(asked.name) AND a.attname = asked.attribute AND NOT a.attisdropped
        GROUP BY asked.name HAVING count(a.attname) = count(*)`,
      [columns.map(([name]) => name), columns.map(([, column]) => column)],
    );
    const names = new Set(found.map(({ name }) => name));
    return new Set(tables.filter(({ name }) => names.has(name)));
  }

  private of(entity: EntityTarget<ObjectLiteral>, columns: string[]): Table {
    return { name: this.database.table(entity), columns };
  }
}

/** The account whose rows are deleted. */
export interface DeletedAccount {
  readonly userId: string;
  readonly identifier: string | null;
  /**
   * The identifier as the look-up of each guard compares it; empty if its counter stays. Code of the host may compute it, so it is
   * known before any lock is held.
   */
  readonly spellings: readonly string[];
  readonly email: string | null;
}

/**
 * Deletes the data of one account. All queries are restricted to the guards of its source, because ids of different sources
 * collide.
 */
@Injectable()
export class AccountDataStore {
  constructor(
    private readonly tables: Tables,
    private readonly realm: Realm,
  ) {}

  /** Excludes other deletions of the account until this transaction ends. @returns false if one still runs after `ms` */
  async lock(sql: Sql, { userId }: DeletedAccount, ms: number): Promise<boolean> {
    await sql(`SET LOCAL lock_timeout = ${ms}`);
    try {
      await sql(LOCK_UNTIL_COMMIT, [`svc:erase:${this.realm.source.key}:${userId}`]);
    } catch (error) {
      return valueIf(isLockTimeout, false)(error);
    }
    await sql('SET LOCAL lock_timeout TO DEFAULT');
    return true;
  }

  /** Deletes every row of the account except its sessions: see `SessionErasure.eraseRest`. */
  async erase(sql: Sql, account: DeletedAccount): Promise<void> {
    const { emailChanges, emailDeliveries, knownDevices, lockouts, passwordResets, passkeys, trustedDevices } =
      this.tables;
    const ofUser = [passkeys, passwordResets, emailChanges, emailDeliveries, knownDevices, trustedDevices];
    const existing = await this.tables.existing(sql, [...ofUser, lockouts]);
    for (const table of ofUser) if (existing.has(table)) await this.delete(sql, table, 'user_id = $2', account.userId);
    if (existing.has(lockouts)) await this.delete(sql, lockouts, 'subject = ANY($2)', subjectsOf(account));
  }

  private async delete(sql: Sql, table: Table, where: string, of: string | string[]): Promise<void> {
    // In the order in which attempts lock the counters.
    for (const guard of this.realm.source.names)
      await sql(`DELETE FROM ${table.name} WHERE guard = $1 AND ${where}`, [guard, of]);
  }
}

/** Returns all subjects of the account's failure counters: its id at the login, its id elsewhere, its identifier, its email. */
const subjectsOf = ({ userId, spellings, email }: DeletedAccount): string[] =>
  [
    loginLock(userId, ''),
    userLock('confirm', userId),
    ...spellings.map((spelling) => loginLock(null, spelling)),
    mailLock(email ?? ''),
  ]
    .map(({ subject }) => subject)
    .filter(Boolean);
