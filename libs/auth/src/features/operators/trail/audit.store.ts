import { Inject, Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { Clock, Realm, crypto, deadline, type event, pg, settings } from '../../../kit';
import { AuditKey, AuditLine } from './audit.entity';
import { type AuditActor, type HistoryQuery, PAGE } from './audit.policy';

/** What is known about the client or the reason of a line. */
export interface PersonalFields {
  readonly ip?: string | null;
  readonly userAgent?: string | null;
  /** The reason that a person has written. */
  readonly text?: string | null;
}

/** What happened to an account. */
export interface AuditEntry extends PersonalFields {
  /** The account that the line is about. */
  readonly userId: string;
  /** A name of the security log. */
  readonly operation: event.SecurityEvent;
  /** `succeeded` by default. */
  readonly outcome?: event.Outcome;
  /** A reason of the security log, or of the end of a session. */
  readonly reason?: string | null;
  readonly actor: AuditActor;
  readonly sessionId?: string | null;
}

/** A line of the history as its owner sees it. */
export interface HistoryLine {
  readonly id: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly operation: string;
  readonly outcome: string;
  readonly reason: string | null;
  /** The kind of the actor. */
  readonly actor: string;
  readonly session: string | null;
  readonly ip: string | null;
  readonly user_agent: string | null;
}

/** A line as operators see it. */
export interface AuditedLine extends HistoryLine {
  readonly actor_guard: string | null;
  readonly actor_id: string | null;
  /** The reason that a person has written. */
  readonly text: string | null;
}

/** A page of a history, the newest line first. */
export interface HistoryPage<Line = HistoryLine> {
  readonly data: Line[];
  /** The value of `before` for the next page; null after the last one. */
  readonly next: string | null;
}

declare module '../../../foundation/realm/feature-data' {
  interface ExportedData {
    /** The history of the account, the newest line first. */
    audit?: HistoryLine[];
  }
  interface Pruned {
    audit: number;
  }
}

/** A line to insert, by {@link FIELDS}: a row of the parameter of the statement. */
export type NewLine = Readonly<Record<string, string | number | null>>;

type Row = Omit<AuditedLine, 'at' | 'ip' | 'user_agent' | 'text'> & {
  readonly time: Date;
  readonly personal: string | null;
  /** The key of the line as binary digits; null after the key of the account was deleted. */
  readonly key: string | null;
};

/** Number of lines that one step of the sweep deletes, and that an export has. */
const [SWEPT, LARGEST] = [250, 1_000_000];

const [FIRST, LAST] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];

/** SQL of the id of a line at a time: microseconds, then 16 hexadecimal digits. */
const idAt = (at: string, digits: string): string =>
  `(lpad(to_hex((date_part('epoch', ${at}) * 1000000)::bigint), 16, '0') || ${digits})::uuid`;

/** The part of an id that the statement does not compute. */
const nonceOf = (id: string): string => id.replaceAll('-', '').slice(16);

/** SQL of what hides the key of a line. It is computed by PostgreSQL alone, so no statement has to read the key of the account first. */
const padOf = (secret: string, id: string): string =>
  `('x' || encode(sha256(${secret} || uuid_send(${id})), 'hex'))::bit(256)`;

const COLUMNS = [
  'guard',
  'user_id',
  'operation',
  'outcome',
  'reason',
  'actor_kind',
  'actor_guard',
  'actor_id',
  'session_id',
  'personal',
];

/** The members of a {@link NewLine}, as texts. `at` is in unix seconds; null for the time of the statement. */
const FIELDS = ['nonce', 'at', 'key', 'secret', ...COLUMNS];

/**
 * Contains all queries of the history. A line is of a source of users. Times are from the database's clock.
 *
 * The personal fields of a line are encrypted under `encryption.key` and a random key of the line, which is stored hidden by the
 * key of the account. The statement that inserts the line hides it, and makes the key of an account without one.
 */
@Injectable()
export class AuditStore {
  private readonly table = pg.once(() => this.database.table(AuditLine));
  private readonly keys = pg.once(() => this.database.table(AuditKey));

  constructor(
    private readonly database: pg.Database,
    private readonly clock: Clock,
    private readonly realm: Realm,
    @Inject(settings.AUTH_CONFIG) private readonly config: settings.AuthConfig,
  ) {}

  /**
   * Common table expressions that insert lines, where `moment.now` is the time. A line that is there is not inserted again.
   * `audit_made` has the accounts that get a key. Of concurrent statements, one makes it, and the others wait for it.
   *
   * @param rows a SELECT of the fields
   * @param isOne leaves out the sort of several lines: a quarter of the time of the statement, which each sign-in sends
   */
  private inserting(rows: string, isOne = false): string {
    const [first, order] = isOne ? ['', ''] : ['DISTINCT ON (user_id)', 'ORDER BY user_id'];
    const known = `SELECT secret FROM ${this.keys()} k WHERE k.guard = l.guard AND k.user_id = l.user_id AND l.personal IS NOT NULL`;
    const key = `coalesce(known, (SELECT m.secret FROM audit_made m WHERE m.user_id = l.user_id))`;
    return `
      audit_lines AS MATERIALIZED (
        SELECT l.*, t.time, ${idAt('t.time', 'l.nonce')} AS id, (${known}) AS known
          FROM moment, (${rows}) l, LATERAL (SELECT coalesce(to_timestamp(l.at::float8), moment.now) AS time) t),
      audit_made AS (
        INSERT INTO ${this.keys()} AS k (guard, user_id, secret)
        SELECT ${first} guard, user_id, decode(secret, 'hex') FROM audit_lines
         WHERE personal IS NOT NULL AND known IS NULL ${order}
        ON CONFLICT (guard, user_id) DO UPDATE SET secret = k.secret RETURNING user_id, secret),
      audit_inserted AS (
        INSERT INTO ${this.table()} (id, at, seal, ${COLUMNS.join(', ')})
        SELECT id, time, ('x' || key)::bit(256) # ${padOf(key, 'id')}, ${COLUMNS.join(', ')} FROM audit_lines l
        ON CONFLICT (id) DO NOTHING)`;
  }

  /** As {@link inserting}, of one line, whose {@link valuesOf values} are the parameters from `first` on. */
  readonly insertingOne = (first: number): string =>
    this.inserting(`SELECT ${FIELDS.map((field, n) => `$${first + n}::text AS ${field}`).join(', ')}`, true);

  readonly valuesOf = (line: NewLine): unknown[] => FIELDS.map((field) => line[field] ?? null);

  /** The line of an entry. @param at unix seconds; null for the time of the statement */
  line(entry: AuditEntry, at: number | null = null): NewLine {
    const { userId, operation, outcome = 'succeeded', reason = null, actor, sessionId = null } = entry;
    const { ip = null, userAgent = null, text = null } = entry;
    const nonce = randomBytes(8).toString('hex');
    return {
      nonce,
      at,
      guard: this.realm.source.key,
      user_id: userId,
      operation,
      outcome,
      reason,
      actor_kind: actor.kind,
      actor_guard: actor.guard ?? null,
      actor_id: actor.id ?? null,
      session_id: sessionId,
      ...((ip ?? userAgent ?? text) !== null && this.encrypted({ ip, userAgent, text }, userId, nonce)),
    };
  }

  private encrypted(fields: PersonalFields, userId: string, nonce: string) {
    const [key, secret] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
    const personal = this.under(key).encrypt(Buffer.from(JSON.stringify(fields)), this.contextOf(userId, nonce));
    return { personal, key, secret };
  }

  private decrypted({ id, personal, key }: Row, userId: string): PersonalFields {
    const hex = personal && key && BigInt(`0b${key}`).toString(16).padStart(64, '0');
    const plain = hex && this.under(hex).decrypt(personal, this.contextOf(userId, nonceOf(id)));
    return plain ? (JSON.parse(String(plain)) as PersonalFields) : {};
  }

  /** Needs both: the key of the line, and `encryption.key` or a former one. */
  private under(key: string): crypto.Encryption {
    const { key: current, previousKeys } = this.config.encryption;
    return new crypto.Encryption([current!, ...previousKeys].map((own) => key + own));
  }

  /** Inserts lines. Resolves to the accounts that have got a key with it. */
  async insert(sql: pg.Sql, lines: readonly NewLine[]): Promise<string[]> {
    const made = await sql<{ userId: string }>(
      `WITH moment AS MATERIALIZED (SELECT clock_timestamp() + $2::interval AS now), ${this.inserting(
        `SELECT * FROM json_to_recordset($1::json) AS j (${FIELDS.map((field) => `${field} text`).join(', ')})`,
      )}
       SELECT user_id AS "userId" FROM audit_made`,
      [JSON.stringify(lines), this.clock.offset],
    );
    return made.map(({ userId }) => userId);
  }

  /** Deletes the key of an account. */
  async forget(userId: string): Promise<void> {
    const statement = `DELETE FROM ${this.keys()} WHERE guard = $1 AND user_id = $2`;
    await this.database.query(statement, [this.realm.source.key, userId]);
  }

  /** The time of the database in unix seconds. */
  async now(): Promise<number> {
    const statement = `SELECT date_part('epoch', clock_timestamp() + $1::interval) AS now`;
    const [row] = await this.database.query<{ now: number }>(statement, [this.clock.offset]);
    return row!.now;
  }

  /** A page of the history of an account: one scan of a range of the index. */
  async page(userId: string, { before, limit = PAGE }: HistoryQuery): Promise<HistoryPage<AuditedLine>> {
    const rows = await this.database.query<Row>(
      `SELECT id, at AS time, operation, outcome, reason, actor_kind AS actor, actor_guard, actor_id, session_id AS session, personal,
              (seal # ${padOf(`(SELECT secret FROM ${this.keys()} WHERE guard = $1 AND user_id = $2)`, 'id')})::text AS key
         FROM ${this.table()} WHERE guard = $1 AND user_id = $2 AND id < $3::uuid ORDER BY id DESC LIMIT $4`,
      [this.realm.source.key, userId, before ?? LAST, limit + 1],
    );
    const lines = rows.slice(0, limit).map((row): AuditedLine => {
      const { ip = null, userAgent = null, text = null } = this.decrypted(row, userId);
      const { time, personal: _personal, key: _key, ...shown } = row;
      return { ...shown, at: time.toISOString(), ip, user_agent: userAgent, text };
    });
    return { data: lines, next: rows.length > limit ? lines.at(-1)!.id : null };
  }

  /** All lines of an account. None if the migration has not run. */
  async export(userId: string): Promise<HistoryLine[]> {
    const none: HistoryPage<AuditedLine> = { data: [], next: null };
    const page = await this.page(userId, { limit: LARGEST }).catch(deadline.valueIf(pg.isMissing, none));
    return page.data.map(ofOwner);
  }

  /** Deletes the lines of all accounts that are older than `audit.days`. Resolves to their number. */
  prune(): Promise<number> {
    const end = `statement_timestamp() + $2::interval - $3::float8 * interval '1 day'`;
    return pg.sweep(
      FIRST,
      async (from) => {
        const rows = await this.database.query<{ id: string }>(
          `DELETE FROM ${this.table()} WHERE id = ANY(ARRAY(
             SELECT id FROM ${this.table()} WHERE id > $1::uuid AND id < ${idAt(`(${end})`, `'0000000000000000'`)}
              ORDER BY id LIMIT ${SWEPT})) RETURNING id`,
          [from, this.clock.offset, this.config.audit.days],
        );
        const last = rows.reduce((latest, { id }) => (id > latest ? id : latest), from);
        return { removed: rows.length, next: rows.length ? last : null };
      },
      pg.isMissing,
    );
  }

  /** An encrypted text is readable in its own line only. */
  private contextOf(userId: string, nonce: string): string {
    return JSON.stringify(['audit', this.realm.source.key, userId, nonce]);
  }
}

/** Without who the operator is, and without the reason that the operator has written. */
export const ofOwner = ({ actor_guard: _guard, actor_id: _id, text: _text, ...line }: AuditedLine): HistoryLine => line;
