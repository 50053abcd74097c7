import { Exclude } from 'class-transformer';
import { Column, Entity, Index, PrimaryColumn } from '../../foundation/platform/entity';
import { CreatesTable } from '../../foundation/realm/feature-data';
import { SESSIONS } from '../../identity/denylist/ended-sessions';
import type { SessionLife, SessionState } from './rotation.policy';

/**
 * One login, with everything that validates its refresh tokens. Its id is the `fid` claim, which rotation does not
 * change. Refresh tokens are not stored: they are derived from this row and from `encryption.key`, or `secret` without it.
 *
 * When the account is erased, the row keeps only the id, the guard and `revokedAt`.
 *
 * @publicApi
 */
@Entity(SESSIONS)
@Index('svc_sessions_live', ['guard', 'userId', 'createdAt', 'id'], { where: 'revoked_at IS NULL' })
@Index('svc_sessions_ended', ['guard', 'userId', 'createdAt', 'id'], { where: 'revoked_at IS NOT NULL' })
@Index('svc_sessions_revoked', ['revokedAt', 'id'], { where: 'revoked_at IS NOT NULL' })
@Index('svc_sessions_expiry', ['expiresAt'])
@Index('svc_sessions_origin', ['guard', 'originSession'], { where: 'origin_session IS NOT NULL' })
export class Session {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'svc_sessions_pkey' })
  id!: string;

  @Column({ name: 'user_id', type: 'text' })
  userId!: string;

  @Column({ type: 'text' })
  guard!: string;

  /** 32 random bytes. The key of the session's refresh tokens is derived from them and the configured root. */
  @Exclude()
  @Column({ type: 'bytea', select: false })
  salt!: Buffer;

  /** The pinned grant. Null: abilities are computed for each access token. The empty string grants nothing. */
  @Exclude()
  @Column({ type: 'text', nullable: true, select: false })
  scope!: string | null;

  /** How the user authenticated (RFC 8176): the `amr` claim of every token of the session. */
  @Column({ type: 'text', array: true, default: '{}' })
  amr!: string[];

  /** When the user authenticated. */
  @Column({ name: 'auth_time', type: 'timestamptz' })
  authTime!: Date;

  /** Number of the current refresh token: the count of rotations. */
  @Column({ type: 'int', default: 0 })
  generation!: number;

  /** Times of the latest rotations, the newest last. Times older than the grace period are removed. */
  @Column({ type: 'timestamptz', array: true, default: '{}' })
  recent!: Date[];

  /** The latest generation that was returned for a late repetition: see `sessions.unusedSuccessorSeconds`. Null for none. */
  @Column({ name: 'late_generation', type: 'int', nullable: true })
  lateGeneration!: number | null;

  /**
   * Number of requests that were answered with the current refresh token: 1 after a rotation, and one more for each replay
   * within the grace period. One more than `forkThreshold` emits `RefreshFamilyForked`.
   */
  @Column({ type: 'int', default: 1 })
  holders!: number;

  /** Set at login and never changed: rotation does not extend a session. */
  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt!: Date;

  /** When the session was ended. From this time on none of its tokens is accepted. */
  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt!: Date | null;

  @Column({ name: 'last_used_at', type: 'timestamptz' })
  lastUsedAt!: Date;

  /** Seconds without a refresh after which the session ends. Null: only `sessions.idleTimeout` applies. */
  @Column({ name: 'idle_timeout', type: 'int', nullable: true })
  idleTimeout!: number | null;

  /** False after a sign-in with `remember: false`: in cookie mode, the browser removes the cookie when it closes. */
  @Column({ type: 'boolean', default: true })
  remembered!: boolean;

  /** IP address of the client at login. */
  @Column({ type: 'text', nullable: true })
  ip!: string | null;

  @Column({ name: 'user_agent', type: 'text', nullable: true })
  userAgent!: string | null;

  /** The host's name for the session. */
  @Column({ type: 'text', nullable: true })
  label!: string | null;

  /** The id of the credential with which the user signed in, alone or as the second factor. Its removal ends the session. */
  @Column({ name: 'credential_id', type: 'text', nullable: true })
  credentialId!: string | null;

  /** The account elsewhere with which the user signed in. Its removal ends the session. */
  @Column({ type: 'text', nullable: true })
  origin!: string | null;

  /** The session of that account there, as a hash. Its end there ends the session. */
  @Column({ name: 'origin_session', type: 'text', nullable: true })
  originSession!: string | null;

  /** The thumbprint (RFC 7638) of the key of the client to which the session is bound. Null: its tokens are for their bearer. */
  @Column({ type: 'text', nullable: true })
  jkt!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** The fields for JSON, without the salt and the pinned grant. */
  toJSON(): object {
    const { salt: _salt, scope: _scope, ...shown } = this;
    return shown;
  }
}

/** Creates `svc_sessions`. */
export class CreateSvcSessions1763700000000 extends CreatesTable {
  // `holders`: number of requests that were answered with the current refresh token.
  // A refresh changes no indexed column. With room left in each page its new row version stays in the same page and
  // needs no new index entry (HOT update).
  protected readonly statements = [
    `
      CREATE TABLE svc_sessions (
        id uuid NOT NULL CONSTRAINT svc_sessions_pkey PRIMARY KEY,
        user_id text NOT NULL,
        guard text NOT NULL,
        salt bytea NOT NULL,
        scope text,
        amr text[] NOT NULL DEFAULT '{}',
        auth_time timestamptz NOT NULL,
        generation int NOT NULL DEFAULT 0,
        recent timestamptz[] NOT NULL DEFAULT '{}',
        late_generation int,
        holders int NOT NULL DEFAULT 1,
        expires_at timestamptz NOT NULL,
        revoked_at timestamptz,
        last_used_at timestamptz NOT NULL,
        idle_timeout int,
        remembered boolean NOT NULL DEFAULT true,
        ip text,
        user_agent text,
        label text,
        credential_id text,
        origin text,
        origin_session text,
        jkt text,
        created_at timestamptz NOT NULL
      ) WITH (fillfactor = 80)`,
    'CREATE INDEX svc_sessions_live ON svc_sessions (guard, user_id, created_at, id) WHERE revoked_at IS NULL',
    'CREATE INDEX svc_sessions_ended ON svc_sessions (guard, user_id, created_at, id) WHERE revoked_at IS NOT NULL',
    'CREATE INDEX svc_sessions_revoked ON svc_sessions (revoked_at, id) WHERE revoked_at IS NOT NULL',
    'CREATE INDEX svc_sessions_expiry ON svc_sessions (expires_at)',
    'CREATE INDEX svc_sessions_origin ON svc_sessions (guard, origin_session) WHERE origin_session IS NOT NULL',
  ];
}

/** Begins the origin of a session in which an operator acts as the user. */
export const ACTING = 'operator:';

/** The account elsewhere with which the user signed in, and the session of it there. */
export interface SessionOrigin {
  /** The id of the account in the library. */
  readonly id: string;
  /** A hash, without which only the removal of the account ends the session. */
  readonly session?: string;
}

/** The origin of a sign-in. */
export interface SignInOrigin extends SessionOrigin {
  /** When the sign-in with it began, in unix milliseconds: its end since then ends the sign-in. */
  readonly since: number;
  /** The person elsewhere, as a hash: an end there can name the person alone. */
  readonly person: string;
}

/** A session to store. */
export interface NewSession {
  familyId: string;
  userId: string;
  salt: Buffer;
  scope: string | null;
  amr: readonly string[];
  /** Unix seconds; null means now. */
  authTime: number | null;
  ip: string | null;
  userAgent: string | null;
  label: string | null;
  credentialId: string | null;
  origin: SessionOrigin | null;
  /** The thumbprint of the key to which it is bound; null for none. */
  jkt: string | null;
  life: SessionLife;
}

/** A part of the statement that stores a session: there is no session without its rows, and no row without the session. */
export interface Beside {
  /**
   * Makes common table expressions that insert rows. They can read the time of the session: `moment.now`. The same for each session.
   *
   * @param first the number of the parameter with the first of the values: 19 for `$19`
   */
  readonly inserting: (first: number) => string;
  readonly values: readonly unknown[];
}

/** A session as read by a refresh. */
export interface FoundSession extends SessionState {
  familyId: string;
  userId: string;
  salt: Buffer;
  scope: string | null;
  amr: string[];
  authTime: number;
  ip: string | null;
  userAgent: string | null;
  jkt: string | null;
  /** Whether the refresh cookie outlives the browser. */
  remembered: boolean;
  /** Whether the user exists; null where the statement could not read it. */
  hasUser: boolean | null;
  /** `performance.now()` at the time of reading. */
  readAt: number;
}

/** A session that was live before the statement. */
export type EndedRow = Pick<FoundSession, 'userId' | 'amr' | 'ip' | 'userAgent'> & { id: string };

/** The result of ending one page of sessions. */
export interface EndedPage {
  readonly ended: EndedRow[];
  /** Start of the next page; null after the last one. */
  readonly next: PageStart | null;
}

/** The position after a session in the order in which sessions are ended: the newest of a user first. */
export interface PageStart {
  readonly userId: string;
  readonly createdAt: string;
  readonly id: string;
}
