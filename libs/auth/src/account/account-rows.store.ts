import { Injectable } from '@nestjs/common';
import { loginLock, userLock } from '../lockout/lock-key';
import { Realm } from '../realm/realm';
import { type Query, type Table, Tables } from './tables';

/** Deletes what the library knows of one account. Adds the guard itself: ids of different guards collide. */
@Injectable()
export class AccountRowsStore {
  constructor(
    private readonly tables: Tables,
    private readonly realm: Realm,
  ) {}

  /** Deletes every row of ours that tells of the account. */
  async erase(query: Query, userId: string, identifier: string | null): Promise<void> {
    const { sessions, lockouts, passwordResets, passkeys } = this.tables;
    // Locked in the order in which sessions are ended, with which it would deadlock otherwise.
    const lockedSessions = `SELECT id FROM ${sessions.name} WHERE guard = $1 AND user_id = $2 ORDER BY id FOR UPDATE`;
    await this.delete(query, sessions, `id IN (${lockedSessions})`, userId);
    await this.delete(query, passkeys, 'guard = $1 AND user_id = $2', userId);
    await this.delete(query, passwordResets, 'guard = $1 AND user_id = $2', userId);
    await this.delete(query, lockouts, 'guard = $1 AND subject = ANY($2)', subjectsOf(userId, identifier));
  }

  private async delete(query: Query, table: Table, where: string, of: string | string[]): Promise<void> {
    if (!(await this.tables.exists(query, table))) return;
    await query(`DELETE FROM ${table.name} WHERE ${where}`, [this.realm.guard, of]);
  }
}

/** All that failures of the account are counted under: its id at the login, its id elsewhere, its name. */
const subjectsOf = (userId: string, identifier: string | null): string[] =>
  [loginLock(userId, ''), userLock('confirm', userId), loginLock(null, identifier ?? '')]
    .map(({ subject }) => subject)
    .filter(Boolean);
