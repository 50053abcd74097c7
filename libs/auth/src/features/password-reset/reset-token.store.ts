import { Inject, Injectable } from '@nestjs/common';
import { Clock, Realm, crypto, identity, pg, type session, settings } from '../../kit';
import { LONGEST_RESET } from './password-reset.options';
import { PasswordResetToken } from './reset-token.entity';

/** Identifies a token. */
export interface ResetClaim {
  userId: string;
  emailHash: string;
  tokenHash: string;
  /** See {@link fingerprintOf}. */
  fingerprint: string;
}

/** The fingerprint of a password hash; null for a user without a password. */
const fingerprintOf = (digest: string | null): string => crypto.sha256(JSON.stringify(digest));

/** The same for each spelling: an undo of a change of email may store the address in another one. */
const emailHashOf = (email: string): string => crypto.sha256(identity.canonicalEmail(email));

/** Prefix of the hash of a consumed token: the hash of no token has it. */
const USED = 'used:';

/**
 * Maximum number of usable tokens of an account. With one, each request of another person would end the link of the owner;
 * without a limit, a mailbox would be flooded.
 */
const LIVE_TOKENS = 3;

/**
 * Contains all queries of reset tokens, restricted to the realm's guard and broker. Only hashes of tokens are stored.
 *
 * A token is bound to the password hash that is stored at its issue. So it ends with every change of the password, also
 * with one that code of the host makes. A login that renews the hash of the same password keeps it: see {@link renew}.
 */
@Injectable()
export class ResetTokenStore {
  private readonly table = pg.once(() => this.database.table(PasswordResetToken));

  constructor(
    private readonly database: pg.Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
    private readonly users: identity.UserProvider,
  ) {}

  /**
   * Stores a token in a slot without a usable one. Returns false, without a change, if there is none, if the pause after the
   * latest token is not over, or if the user does not exist any more. Of two concurrent calls, one succeeds: both take the
   * same slot.
   *
   * @param hasUser false to run the statement without effect
   */
  async issue({ userId, emailHash, tokenHash, fingerprint }: ResetClaim, hasUser: boolean): Promise<boolean> {
    if (this.users instanceof identity.TypeormUserProvider) await this.users.readLocks(this.database.query);
    const { throttleSeconds, expireMinutes } = this.options;
    const isUsable = (token: string): string =>
      `(${token}.email_hash = $4 AND ${token}.password_fingerprint = $9 AND NOT ${token}.undelivered
        AND ${token}.token_hash NOT LIKE '${USED}%'
        AND ${token}.created_at > clock_timestamp() + $6::interval - $10::float8 * interval '1 minute')`;
    const issued = await this.database.query(
      // An empty slot comes first. That of a token that is being consumed comes last: after a failure, it is restored.
      `INSERT INTO ${this.table()} AS t (guard, broker, user_id, email_hash, token_hash, created_at, password_fingerprint, slot)
       SELECT $1, $2, $3, $4, $5, clock_timestamp() + $6::interval, $9, free.slot
         FROM (SELECT slots.slot FROM generate_series(1, ${LIVE_TOKENS}) AS slots(slot)
                 LEFT JOIN ${this.table()} held
                   ON held.guard = $1 AND held.broker = $2 AND held.user_id = $3 AND held.slot = slots.slot
                WHERE NOT coalesce(${isUsable('held')}, false)
                ORDER BY held.token_hash LIKE '${USED}%' IS TRUE, held.created_at NULLS FIRST, slots.slot LIMIT 1) AS free
        WHERE ${this.exists('$8') ?? '$8::text IS NOT NULL'}
          AND ($7::float8 = 0 OR NOT EXISTS (
                SELECT 1 FROM ${this.table()} held WHERE held.guard = $1 AND held.broker = $2 AND held.user_id = $3
                   AND held.created_at > clock_timestamp() + $6::interval - $7::float8 * interval '1 second'))
       ON CONFLICT (guard, broker, user_id, slot) DO UPDATE
          SET email_hash = excluded.email_hash, token_hash = excluded.token_hash, created_at = excluded.created_at,
              password_fingerprint = excluded.password_fingerprint, undelivered = false
        WHERE NOT ${isUsable('t')}
       RETURNING 1`,
      [
        ...this.owner(userId),
        emailHash,
        tokenHash,
        this.clock.offset,
        throttleSeconds,
        hasUser ? userId : null,
        fingerprint,
        expireMinutes,
      ],
    );
    return issued.length === 1;
  }

  /** Records that the mail with a token failed: otherwise three failures would prevent further links until they expire. */
  async recordFailedMail(userId: string, tokenHash: string): Promise<void> {
    const statement = `
      UPDATE ${this.table()} SET undelivered = true WHERE guard = $1 AND broker = $2 AND user_id = $3 AND token_hash = $4`;
    await this.database.query(statement, [...this.owner(userId), tokenHash]);
  }

  /**
   * Consumes a token. Returns false for an invalid, expired or used token. Of several concurrent calls, one succeeds.
   *
   * The row remains until the password is replaced: a login that renews the hash in between binds it to the renewed one.
   */
  async redeem({ userId, emailHash, tokenHash, fingerprint }: ResetClaim): Promise<boolean> {
    const statement = `
      UPDATE ${this.table()} SET token_hash = '${USED}' || token_hash
       WHERE guard = $1 AND broker = $2 AND user_id = $3 AND email_hash = $4 AND token_hash = $5
         AND password_fingerprint = $8 AND created_at > clock_timestamp() + $6::interval - $7::float8 * interval '1 minute'
      RETURNING 1`;
    const { offset } = this.clock;
    const values = [...this.owner(userId), emailHash, tokenHash, offset, this.options.expireMinutes, fingerprint];
    // In a transaction, so that a request that was answered 503 has not consumed the token.
    return (await this.database.transaction((sql) => sql(statement, values))).length === 1;
  }

  /**
   * Makes a consumed token usable again until its original expiry, unless a newer token has taken its slot.
   *
   * @param rebinds whether to bind it to the hash of the claim; otherwise it stays bound to the hash that it has
   */
  async restore({ userId, tokenHash, fingerprint }: ResetClaim, rebinds: boolean): Promise<void> {
    await this.database.query(
      `UPDATE ${this.table()}
          SET token_hash = $4, password_fingerprint = CASE WHEN $5 THEN $6 ELSE password_fingerprint END
        WHERE guard = $1 AND broker = $2 AND user_id = $3 AND token_hash = '${USED}' || $4`,
      [...this.owner(userId), tokenHash, rebinds, fingerprint],
    );
  }

  /** Binds the tokens of a user to the renewed hash of the same password. */
  async renew({ userId, former, renewed }: session.RenewedHash): Promise<void> {
    const statement = `UPDATE ${this.table()} SET password_fingerprint = $4
                        WHERE guard = $1 AND user_id = $2 AND password_fingerprint = $3`;
    const values = [this.realm.guard, userId, fingerprintOf(former), fingerprintOf(renewed)];
    await this.database.query(statement, values);
  }

  /**
   * Deletes the tokens of a user for all brokers. After a new password they are invalid, because it has another hash.
   *
   * @param kept the password hash whose tokens remain, of one address or of all: the deletion may be repeated after the response
   */
  async removeAll(userId: string, kept?: session.KeptLinks): Promise<void> {
    const [fingerprint, address] = kept
      ? [fingerprintOf(kept.digest), kept.email && emailHashOf(kept.email)]
      : [null, null];
    await this.database.query(
      `DELETE FROM ${this.table()}
        WHERE guard = $1 AND user_id = $2
          AND (password_fingerprint IS DISTINCT FROM $3::text OR email_hash <> coalesce($4::text, email_hash))`,
      [this.realm.guard, userId, fingerprint, address],
    );
  }

  /** Whether {@link issue} stores no token for a user that does not exist. */
  get checksUsers(): boolean {
    return this.exists('$1') !== null;
  }

  /** SQL of whether the user whose id is `parameter` exists; null where the statement cannot know it. */
  private exists(parameter: string): string | null {
    const { users } = this;
    return users instanceof identity.TypeormUserProvider ? users.existsLockedSql(parameter) : null;
  }

  private owner(userId: string): [guard: string, broker: string, userId: string] {
    return [this.realm.guard, this.options.broker ?? '', userId];
  }

  private get options(): settings.GuardConfig['passwordReset'] {
    return this.realm.options.passwordReset;
  }
}

/** Number of rows that one statement of the sweep reads. */
const PAGE = 1000;

/** The primary key of a row. */
interface RowKey {
  guard: string;
  broker: string;
  userId: string;
  slot: number;
}

/** Seconds for which the row of a token is kept if no broker is configured for it: the maximum validity of a link. */
const KEPT_OF_OTHERS = 60 * LONGEST_RESET;

/** How long the rows of each guard and broker are kept; `others` is for all that are not configured. */
export interface KeptTokens {
  readonly known: readonly { guard: string; broker: string; seconds: number }[];
  readonly others: number;
}

/**
 * A row is kept until its link has expired and its pause is over. An unknown guard or broker may belong to another
 * application on the same tables, so its rows are kept for the maximum validity of a link.
 */
export function keptTokens(guards: readonly Pick<settings.GuardConfig, 'guard' | 'passwordReset'>[]): KeptTokens {
  const known = guards.flatMap(({ guard, passwordReset: { brokers } }) =>
    Object.entries(brokers).map(([broker, { expireMinutes, throttleSeconds }]) => ({
      guard,
      broker,
      seconds: Math.max(60 * expireMinutes, throttleSeconds),
    })),
  );
  return { known, others: KEPT_OF_OTHERS };
}

/**
 * Deletes the reset tokens of all guards and brokers that are not needed any more. Each row contains the id of a user,
 * which may not exist any more.
 */
@Injectable()
export class ResetTokenPruning {
  private readonly table = pg.once(() => this.database.table(PasswordResetToken));

  constructor(
    private readonly database: pg.Database,
    private readonly clock: Clock,
    @Inject(settings.AUTH_CONFIG) private readonly config: settings.AuthConfig,
  ) {}

  /** Deletes the rows, and resolves to the number of deleted rows; 0 when the table does not exist. */
  prune(): Promise<number> {
    const kept = keptTokens(this.config.guards);
    return pg.sweep<RowKey>({ guard: '', broker: '', userId: '', slot: 0 }, (after) => this.page(after, kept));
  }

  /** Deletes the expired rows of one page, in the order of the key. Skips rows that another transaction has locked. */
  private async page(
    { guard, broker, userId, slot }: RowKey,
    { known, others }: KeptTokens,
  ): Promise<pg.SweptPage<RowKey>> {
    const key = 'guard, broker, user_id, slot';
    const statement = `
      WITH page AS MATERIALIZED (
             SELECT ${key} FROM ${this.table()} WHERE (${key}) > ($1, $2, $3, $7) ORDER BY ${key} LIMIT ${PAGE}),
           expired AS MATERIALIZED (
             SELECT ${key} FROM ${this.table()} t JOIN page USING (${key})
               LEFT JOIN json_to_recordset($5::json) AS kept(guard text, broker text, seconds float8) USING (guard, broker)
              WHERE t.created_at <= clock_timestamp() + $4::interval - coalesce(seconds, $6::float8) * interval '1 second'
                FOR UPDATE OF t SKIP LOCKED),
           gone AS (DELETE FROM ${this.table()} WHERE (${key}) IN (SELECT ${key} FROM expired) RETURNING 1)
      SELECT (SELECT count(*)::int FROM gone) AS removed,
             (SELECT json_build_object('guard', guard, 'broker', broker, 'userId', user_id, 'slot', slot)
                FROM page ORDER BY (${key}) DESC LIMIT 1) AS next`;
    const values = [guard, broker, userId, this.clock.offset, JSON.stringify(known), others, slot];
    const [swept] = await this.database.query<pg.SweptPage<RowKey>>(statement, values);
    return swept!;
  }
}

/** @param digest the password hash that the token is bound to; null for a user without a password */
export const claimOf = (
  { userId, email }: Pick<identity.MailedAccount, 'userId' | 'email'>,
  token: string,
  digest: string | null,
): ResetClaim => ({
  userId,
  emailHash: emailHashOf(email),
  tokenHash: crypto.sha256(token),
  fingerprint: fingerprintOf(digest),
});
