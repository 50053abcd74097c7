import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Clock } from '../../foundation/platform/clock';
import { sha256 } from '../../foundation/platform/crypto';
import { Database, type Sql } from '../../foundation/platform/database';
import { once, sweepOrphans } from '../../foundation/platform/sweep';
import { UserProvider } from '../../foundation/ports/user-provider';
import { Realm } from '../../foundation/realm/realm';
import { EmailDelivery } from './email-delivery.entity';
import { canonicalEmail } from './identifiers';

/** The same for each spelling: what was proved of an address stays true if the host stores it in another one. */
const emailHashOf = (email: string): string => sha256(canonicalEmail(email));

/** Contains all queries of {@link EmailDelivery}. */
@Injectable()
export class EmailDeliveries {
  private readonly table = once(() => this.database.table(EmailDelivery));

  constructor(
    private readonly database: Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
    private readonly users: UserProvider,
  ) {}

  /** Whether mails to the address arrive, and no person has proved it since. Reads the primary. */
  async has(userId: string, email: string): Promise<boolean> {
    const statement = `
      SELECT 1 FROM ${this.table()} WHERE guard = ANY($1) AND user_id = $2 AND email_hash = $3 LIMIT 1`;
    return (await this.database.query(statement, [this.realm.source.names, userId, emailHashOf(email)])).length === 1;
  }

  /** Returns the id of the new row. */
  async add(userId: string, email: string, sql: Sql = this.database.query): Promise<string> {
    const id = randomUUID();
    await sql(
      `INSERT INTO ${this.table()} (id, guard, user_id, email_hash, created_at)
       VALUES ($1, $2, $3, $4, clock_timestamp() + $5::interval)`,
      [id, this.realm.guard, userId, emailHashOf(email), this.clock.offset],
    );
    return id;
  }

  /** Returns the number of deleted rows. */
  async remove(ids: readonly string[]): Promise<number> {
    const statement = `DELETE FROM ${this.table()} WHERE id = ANY($1::uuid[]) RETURNING 1`;
    return (await this.database.query(statement, [ids])).length;
  }

  async removeAll(userId: string, email: string, sql: Sql = this.database.query): Promise<void> {
    const statement = `DELETE FROM ${this.table()} WHERE guard = ANY($1) AND user_id = $2 AND email_hash = $3`;
    await sql(statement, [this.realm.source.names, userId, emailHashOf(email)]);
  }

  /** Deletes the rows of the guard whose user does not exist any more. */
  prune(): Promise<number> {
    return sweepOrphans(this.database, this.users, { table: this.table(), guards: [this.realm.guard] });
  }
}
