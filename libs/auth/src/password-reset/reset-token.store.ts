import { Injectable } from '@nestjs/common';
import { Clock } from '../kernel/clock';
import { Database } from '../kernel/database';
import { once } from '../kernel/once';
import { Realm } from '../realm/realm';
import { PasswordResetToken } from './password-reset.entity';

/** Seconds a token lives, and seconds until another one is made for the same account. */
export const RESET_TTL = 3600;
const PAUSE = 60;

/** What a token is known by. */
export interface ResetClaim {
  userId: string;
  emailHash: string;
  tokenHash: string;
}

/** Every query of reset tokens. Adds the guard and the broker itself. */
@Injectable()
export class ResetTokenStore {
  private readonly table = once(() => this.database.table(PasswordResetToken));

  constructor(
    private readonly database: Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
  ) {}

  /** Stores a token in the place of the former one; false where that one was made just now. Of two at once, one. */
  async issue({ userId, emailHash, tokenHash }: ResetClaim): Promise<boolean> {
    const issued = await this.database.query(
      `INSERT INTO ${this.table()} AS t (guard, broker, user_id, email_hash, token_hash, created_at)
       VALUES ($1, $2, $3, $4, $5, clock_timestamp() + $6::interval)
       ON CONFLICT (guard, broker, user_id) DO UPDATE
          SET email_hash = excluded.email_hash, token_hash = excluded.token_hash, created_at = excluded.created_at
        WHERE t.created_at <= excluded.created_at - ${PAUSE} * interval '1 second'
       RETURNING 1`,
      [...this.owner(userId), emailHash, tokenHash, this.clock.offset],
    );
    return issued.length === 1;
  }

  /**
   * Uses a token up, and resolves to the unix seconds of its making; null for one that is none, too old or used. Of
   * many at once, one.
   */
  async redeem({ userId, emailHash, tokenHash }: ResetClaim): Promise<number | null> {
    const statement = `
      DELETE FROM ${this.table()}
       WHERE guard = $1 AND broker = $2 AND user_id = $3 AND email_hash = $4 AND token_hash = $5
         AND created_at > clock_timestamp() + $6::interval - ${RESET_TTL} * interval '1 second'
      RETURNING extract(epoch FROM created_at)::float8 AS "madeAt"`;
    const values = [...this.owner(userId), emailHash, tokenHash, this.clock.offset];
    // A transaction, so that a request that was answered 503 has not used the token up.
    const [redeemed] = await this.database.transaction((sql) => sql<{ madeAt: number }>(statement, values));
    return redeemed?.madeAt ?? null;
  }

  /** Gives back a token that was used up for nothing, for what is left of its time; a newer one stays. */
  async restore({ userId, emailHash, tokenHash }: ResetClaim, madeAt: number): Promise<void> {
    await this.database.query(
      `INSERT INTO ${this.table()} (guard, broker, user_id, email_hash, token_hash, created_at)
       VALUES ($1, $2, $3, $4, $5, to_timestamp($6::float8)) ON CONFLICT (guard, broker, user_id) DO NOTHING`,
      [...this.owner(userId), emailHash, tokenHash, madeAt],
    );
  }

  private owner(userId: string): [guard: string, broker: string, userId: string] {
    return [this.realm.guard, this.realm.options.passwordReset.broker ?? '', userId];
  }
}
