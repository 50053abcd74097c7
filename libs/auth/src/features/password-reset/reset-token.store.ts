import { Injectable } from '@nestjs/common';
import { Clock } from '../../foundation/platform/clock';
import { Database } from '../../foundation/platform/database';
import { type SweptPage, once, sweep } from '../../foundation/platform/sweep';
import { Realm } from '../../foundation/realm/realm';
import { PasswordResetToken } from './reset-token.entity';
import { newSecret, sha256 } from '../../foundation/platform/crypto';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

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

/** Rows that one statement of the sweep looks at. */
const PAGE = 1000;

/** The primary key of a row. */
interface Place {
  guard: string;
  broker: string;
  userId: string;
}

/**
 * Sweeps reset tokens that are too old to be used, of all guards and brokers: each names an account, and the
 * account may be gone.
 */
@Injectable()
export class ResetTokenPruning {
  private readonly table = once(() => this.database.table(PasswordResetToken));

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Deletes them, and resolves to how many there were; none without the table. */
  prune(): Promise<number> {
    return sweep<Place>({ guard: '', broker: '', userId: '' }, (after) => this.page(after));
  }

  /** One page of rows in the order of their key, without those that someone is using or making anew. */
  private async page({ guard, broker, userId }: Place): Promise<SweptPage<Place>> {
    const key = 'guard, broker, user_id';
    const statement = `
      WITH page AS MATERIALIZED (
             SELECT ${key} FROM ${this.table()} WHERE (${key}) > ($1, $2, $3) ORDER BY ${key} LIMIT ${PAGE}),
           expired AS MATERIALIZED (
             SELECT ${key} FROM ${this.table()} t JOIN page USING (${key})
              WHERE t.created_at <= clock_timestamp() + $4::interval - ${RESET_TTL} * interval '1 second'
                FOR UPDATE OF t SKIP LOCKED),
           gone AS (DELETE FROM ${this.table()} WHERE (${key}) IN (SELECT ${key} FROM expired) RETURNING 1)
      SELECT (SELECT count(*)::int FROM gone) AS removed,
             (SELECT json_build_object('guard', guard, 'broker', broker, 'userId', user_id)
                FROM page ORDER BY (${key}) DESC LIMIT 1) AS next`;
    const values = [guard, broker, userId, this.clock.offset];
    const [swept] = await this.database.query<SweptPage<Place>>(statement, values);
    return swept!;
  }
}

/** An account that may have its password reset. */
export interface ResetAccount {
  readonly user: object;
  readonly userId: string;
  /** The address as it is stored, which may be spelled otherwise than it was given. */
  readonly email: string;
  /** What its user signs in with: the email, or something else. */
  readonly identifier: string | null;
}

/** A token that was used up, and the account that it resets. */
export interface Redeemed {
  readonly account: ResetAccount;
  /** Takes the use back. */
  readonly restore: () => Promise<void>;
}

/** Secrets that reset one password, once. At rest there are only their hashes. */
@Injectable()
export class ResetTokens {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly store: ResetTokenStore,
  ) {}

  async accountOf(address: string): Promise<ResetAccount | null> {
    const user = await this.users.findByEmail(address);
    const email = user && this.users.emailOf(user);
    if (!user || !email) return null;
    return { user, userId: this.users.idOf(user), email, identifier: this.users.identifierOf(user) };
  }

  /** A new token; null where the account was given one just now. */
  async issue(account: ResetAccount): Promise<string | null> {
    const token = newSecret();
    return (await this.store.issue(claim(account, token))) ? token : null;
  }

  /** Uses a token up; null for one that resets nothing. The same work for an address without an account. */
  async redeem(address: string, token: string): Promise<Redeemed | null> {
    const account = await this.accountOf(address);
    const claimed = claim(account ?? { userId: '', email: address }, token);
    const madeAt = await this.store.redeem(claimed);
    return account && madeAt !== null ? { account, restore: () => this.store.restore(claimed, madeAt) } : null;
  }
}

const claim = ({ userId, email }: Pick<ResetAccount, 'userId' | 'email'>, token: string) => ({
  userId,
  emailHash: sha256(email),
  tokenHash: sha256(token),
});
