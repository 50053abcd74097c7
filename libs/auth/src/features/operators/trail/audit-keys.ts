import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { Realm, crypto, pg } from '../../../kit';
import { AuditKey } from './audit.entity';

/** What is known about the client or the reason of a line. */
export interface PersonalFields {
  readonly ip?: string | null;
  readonly userAgent?: string | null;
  /** The reason that a person has written. */
  readonly text?: string | null;
}

/** The key of one account. */
export type AccountKey = crypto.Encryption;

/** Keeps the keys of the personal fields, one for each account. Without the key of the account they are unreadable. */
@Injectable()
export class AuditKeys {
  private readonly table = pg.once(() => this.database.table(AuditKey));

  constructor(
    private readonly database: pg.Database,
    private readonly encryption: crypto.Encryption,
    private readonly realm: Realm,
  ) {}

  /** The key of an account; null without one, and if `encryption.key` was changed without keeping the former one. */
  async find(sql: pg.Sql, userId: string): Promise<AccountKey | null> {
    return this.opened(userId, await this.read(sql, userId));
  }

  /** As {@link find}, and creates the key of an account without one. Of concurrent calls, one creates it. */
  async findOrCreate(sql: pg.Sql, userId: string): Promise<AccountKey | null> {
    const stored = (await this.read(sql, userId)) ?? (await this.create(sql, userId)) ?? (await this.read(sql, userId));
    return this.opened(userId, stored);
  }

  private async read(sql: pg.Sql, userId: string): Promise<string | undefined> {
    const statement = `SELECT key_encrypted AS key FROM ${this.table()} WHERE guard = $1 AND user_id = $2`;
    return (await sql<{ key: string }>(statement, [this.realm.source.key, userId]))[0]?.key;
  }

  private async create(sql: pg.Sql, userId: string): Promise<string | undefined> {
    const key = this.encryption.encrypt(randomBytes(32), this.contextOf(userId));
    const created = await sql<{ key: string }>(
      `INSERT INTO ${this.table()} (guard, user_id, key_encrypted) VALUES ($1, $2, $3)
       ON CONFLICT (guard, user_id) DO NOTHING RETURNING key_encrypted AS key`,
      [this.realm.source.key, userId, key],
    );
    return created[0]?.key;
  }

  private opened(userId: string, encrypted: string | undefined): AccountKey | null {
    const key = encrypted === undefined ? null : this.encryption.decrypt(encrypted, this.contextOf(userId));
    return key && new crypto.Encryption([key.toString('hex')]);
  }

  private contextOf(userId: string): string {
    return JSON.stringify(['audit key', this.realm.source.key, userId]);
  }
}
