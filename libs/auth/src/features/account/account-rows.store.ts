import { Injectable } from '@nestjs/common';
import type { EntityTarget, ObjectLiteral } from 'typeorm';
import { Database, type Sql } from '../../foundation/platform/database';
import { Realm } from '../../foundation/realm/realm';
import { loginLock, userLock } from '../../request/lockout/lockout.store';
import { LockoutCounter } from '../../request/lockout/lockout.entity';
import { Passkey } from '../passkeys/passkey.entity';
import { PasswordResetToken } from '../password-reset/reset-token.entity';

/** A table that may be there, and the columns that make it ours. */
export interface Table {
  /** Quoted, with its schema. */
  readonly name: string;
  readonly columns: readonly string[];
}

/** Where the library keeps what it knows of an account, whether or not the feature that wrote it is on. */
@Injectable()
export class Tables {
  constructor(private readonly database: Database) {}

  get lockouts(): Table {
    return this.of(LockoutCounter, ['guard', 'subject']);
  }

  get passwordResets(): Table {
    return this.of(PasswordResetToken, ['guard', 'user_id']);
  }

  get passkeys(): Table {
    return this.of(Passkey, ['guard', 'user_id']);
  }

  /**
   * Whether a table is there with its columns. Looked at each time: a process that was started before a migration
   * must not skip its rows for as long as it runs.
   */
  async exists(sql: Sql, { name, columns }: Table): Promise<boolean> {
    const [found] = await sql<{ known: number }>(
      `SELECT count(*)::int AS known FROM pg_attribute
        WHERE attrelid = to_regclass($1) AND attname = ANY($2::text[]) AND NOT attisdropped`,
      [name, columns],
    );
    return found?.known === columns.length;
  }

  private of(entity: EntityTarget<ObjectLiteral>, columns: string[]): Table {
    return { name: this.database.table(entity), columns };
  }
}

/** Whose rows are erased. */
export interface DeletedAccount {
  readonly userId: string;
  readonly identifier: string | null;
}

/** Deletes what the library knows of one account. Adds the guard itself: ids of different guards collide. */
@Injectable()
export class AccountRowsStore {
  constructor(
    private readonly tables: Tables,
    private readonly realm: Realm,
  ) {}

  /** Takes the account for this transaction; false while another one has it. Waits for nobody. */
  async take(sql: Sql, { userId }: DeletedAccount): Promise<boolean> {
    const [lock] = await sql<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS taken', [
      `svc:erase:${this.realm.guard}:${userId}`,
    ]);
    return lock!.taken;
  }

  /**
   * Deletes every row of ours that tells of the account, but for its sessions: see `Sessions.eraseAll`.
   */
  async erase(sql: Sql, { userId, identifier }: DeletedAccount): Promise<void> {
    const { lockouts, passwordResets, passkeys } = this.tables;
    await this.delete(sql, passkeys, 'user_id = $2', userId);
    await this.delete(sql, passwordResets, 'user_id = $2', userId);
    await this.delete(sql, lockouts, 'subject = ANY($2)', subjectsOf(userId, identifier));
  }

  private async delete(sql: Sql, table: Table, where: string, of: string | string[]): Promise<void> {
    if (!(await this.tables.exists(sql, table))) return;
    await sql(`DELETE FROM ${table.name} WHERE guard = $1 AND ${where}`, [this.realm.guard, of]);
  }
}

/** All that failures of the account are counted under: its id at the login, its id elsewhere, its name. */
const subjectsOf = (userId: string, identifier: string | null): string[] =>
  [loginLock(userId, ''), userLock('confirm', userId), loginLock(null, identifier ?? '')]
    .map(({ subject }) => subject)
    .filter(Boolean);
