import { Injectable } from '@nestjs/common';
import type { EntityTarget, ObjectLiteral } from 'typeorm';
import { Database } from '../kernel/database';
import { LockoutCounter } from '../lockout/lockout-counter.entity';
import { PasswordResetToken } from '../password-reset/password-reset.entity';
import { Session } from '../sessions/session.entity';

/** Runs one statement, on whichever connection. */
export type Query = <Row = Record<string, unknown>>(statement: string, params: unknown[]) => Promise<Row[]>;

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

  get sessions(): Table {
    return this.of(Session, ['id', 'guard', 'user_id']);
  }

  get lockouts(): Table {
    return this.of(LockoutCounter, ['guard', 'subject']);
  }

  get passwordResets(): Table {
    return this.of(PasswordResetToken, ['guard', 'user_id']);
  }

  /** Beside the sessions, in whatever schema they are: the entity is there only where the feature is. */
  get passkeys(): Table {
    const name = this.sessions.name.replace(/"[^"]+"$/, '"passkeys"');
    return { name, columns: ['guard', 'user_id', 'credential_id', 'name', 'last_used_at'] };
  }

  /**
   * Whether a table is there with its columns. Looked at each time: a process that was started before a migration
   * must not skip its rows for as long as it runs.
   */
  async exists(query: Query, { name, columns }: Table): Promise<boolean> {
    const [found] = await query<{ known: number }>(
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
