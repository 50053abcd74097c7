import { Injectable } from '@nestjs/common';
import type { EntityTarget, ObjectLiteral } from 'typeorm';
import { Database, type Sql } from '../kernel/database';
import { LockoutCounter } from '../lockout/lockout-counter.entity';
import { Passkey } from '../passkeys/passkey.entity';
import { PasswordResetToken } from '../password-reset/password-reset.entity';

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
