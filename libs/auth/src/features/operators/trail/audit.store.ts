import { Inject, Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { Clock, Realm, deadline, type event, pg, settings } from '../../../kit';
import { type AccountKey, AuditKeys, type PersonalFields } from './audit-keys';
import { AuditLine } from './audit.entity';
import { type AuditActor, type HistoryQuery, PAGE } from './audit.policy';

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

/** A line to insert: a row of the parameter of the statement. */
export interface NewLine {
  readonly nonce: string;
  /** Unix seconds; null for the time of the statement. */
  readonly at: number | null;
  readonly [column: string]: string | number | null;
}

type Row = Omit<AuditedLine, 'at' | 'ip' | 'user_agent' | 'text'> & { time: Date; personal: string | null };

/** Number of lines that one step of the sweep deletes, and that an export has. */
const [SWEPT, LARGEST] = [250, 1_000_000];

const [FIRST, LAST] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];

/** SQL of the id of a line at a time: microseconds, then 16 hexadecimal digits. */
const idAt = (at: string, digits: string): string =>
  `(lpad(to_hex((date_part('epoch', ${at}) * 1000000)::bigint), 16, '0') || ${digits})::uuid`;

/** The part of an id that the statement does not compute. */
const nonceOf = (id: string): string => id.replaceAll('-', '').slice(16);

const COLUMNS = 'guard, user_id, operation, outcome, reason, actor_kind, actor_guard, actor_id, session_id, personal';

/** Contains all queries of the history. A line is of a source of users. Times are from the database's clock. */
@Injectable()
export class AuditStore {
  private readonly table = pg.once(() => this.database.table(AuditLine));

  constructor(
    private readonly database: pg.Database,
    private readonly keys: AuditKeys,
    private readonly clock: Clock,
    private readonly realm: Realm,
    @Inject(settings.AUTH_CONFIG) private readonly config: settings.AuthConfig,
  ) {}

  /**
   * A statement that inserts the lines of a parameter, where `moment.now` is the time. A line that is there is not inserted again.
   */
  readonly insertSql = (parameter: string): string => `
    INSERT INTO ${this.table()} (id, at, ${COLUMNS})
    SELECT ${idAt('l.time', 'l.nonce')}, l.time, ${COLUMNS.replaceAll(/\w+/g, 'l.$&')}
      FROM (SELECT j.*, coalesce(to_timestamp(j.at), moment.now) AS time
              FROM moment, json_to_recordset(${parameter}::json) AS j (nonce text, at float8, guard text, user_id text,
                   operation text, outcome text, reason text, actor_kind text, actor_guard text, actor_id text,
                   session_id text, personal text)) l
    ON CONFLICT (id) DO NOTHING`;

  /** The line of an entry. @param key that of the account; null for a line without personal fields */
  line(entry: AuditEntry, key: AccountKey | null, at: number | null = null): NewLine {
    const { userId, operation, outcome = 'succeeded', reason = null, actor, sessionId = null } = entry;
    const { ip = null, userAgent = null, text = null } = entry;
    const nonce = randomBytes(8).toString('hex');
    const plain = ip ?? userAgent ?? text;
    const personal = plain === null ? null : Buffer.from(JSON.stringify({ ip, userAgent, text }));
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
      personal: personal && key && key.encrypt(personal, this.contextOf(userId, nonce)),
    };
  }

  async insert(sql: pg.Sql, lines: readonly NewLine[]): Promise<void> {
    const moment = 'WITH moment AS MATERIALIZED (SELECT clock_timestamp() + $2::interval AS now)';
    await sql(`${moment} ${this.insertSql('$1')}`, [JSON.stringify(lines), this.clock.offset]);
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
      `SELECT id, at AS time, operation, outcome, reason, actor_kind AS actor, actor_guard, actor_id, session_id AS session, personal
         FROM ${this.table()} WHERE guard = $1 AND user_id = $2 AND id < $3::uuid ORDER BY id DESC LIMIT $4`,
      [this.realm.source.key, userId, before ?? LAST, limit + 1],
    );
    const shown = rows.slice(0, limit);
    const key = shown.some(({ personal }) => personal) ? await this.keys.find(this.database.query, userId) : null;
    const lines = shown.map(({ time, personal, ...row }): AuditedLine => {
      const plain = personal && key?.decrypt(personal, this.contextOf(userId, nonceOf(row.id)));
      const { ip = null, userAgent = null, text = null } = plain ? (JSON.parse(String(plain)) as PersonalFields) : {};
      return { ...row, at: time.toISOString(), ip, user_agent: userAgent, text };
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
