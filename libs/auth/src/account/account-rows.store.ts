import { Injectable } from '@nestjs/common';
import type { Sql } from '../kernel/database';
import { loginLock, userLock } from '../lockout/lock-key';
import { Realm } from '../realm/realm';
import { type Table, Tables } from './tables';

/** Whose rows are erased. */
export interface ErasedAccount {
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
  async take(sql: Sql, { userId }: ErasedAccount): Promise<boolean> {
    const [lock] = await sql<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS taken', [
      `svc:erase:${this.realm.guard}:${userId}`,
    ]);
    return lock!.taken;
  }

  /**
   * Deletes every row of ours that tells of the account, but for its sessions: see `Sessions.eraseAll`.
   */
  async erase(sql: Sql, { userId, identifier }: ErasedAccount): Promise<void> {
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
