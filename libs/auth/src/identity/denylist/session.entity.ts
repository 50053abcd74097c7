import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/**
 * One login, and all that decides on its refresh tokens. Its id is the `fid` claim, stable across every rotation.
 * Refresh tokens are not stored: they are derived from this row and the configured root, see `RefreshTokens`.
 *
 * After the account is erased, the id, the guard and `revokedAt` are all that is left of the row.
 *
 * @publicApi
 */
@Entity('svc_sessions')
@Index('svc_sessions_live', ['guard', 'userId', 'createdAt', 'id'], { where: 'revoked_at IS NULL' })
@Index('svc_sessions_ended', ['guard', 'userId', 'createdAt', 'id'], { where: 'revoked_at IS NOT NULL' })
@Index('svc_sessions_revoked', ['revokedAt', 'id'], { where: 'revoked_at IS NOT NULL' })
@Index('svc_sessions_expiry', ['expiresAt'])
export class Session {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'svc_sessions_pkey' })
  id!: string;

  @Column({ name: 'user_id', type: 'text' })
  userId!: string;

  @Column({ type: 'text' })
  guard!: string;

  /** 32 random bytes. With the configured root they give the key of the session's refresh tokens. */
  @Column({ type: 'bytea', select: false })
  salt!: Buffer;

  /** The pinned grant: null derives abilities at each mint, the empty string grants nothing. */
  @Column({ type: 'text', nullable: true, select: false })
  scope!: string | null;

  /** How the user authenticated (RFC 8176), stamped on every token of the session. */
  @Column({ type: 'text', array: true, default: '{}' })
  amr!: string[];

  /** When the user authenticated. */
  @Column({ name: 'auth_time', type: 'timestamptz' })
  authTime!: Date;

  /** Number of the current refresh token: how many rotations there were. */
  @Column({ type: 'int', default: 0 })
  generation!: number;

  /** When the latest rotations happened, the newest last; those older than the grace period are dropped. */
  @Column({ type: 'timestamptz', array: true, default: '{}' })
  recent!: Date[];

  /** How often the current refresh token was handed out. */
  @Column({ type: 'int', default: 1 })
  holders!: number;

  /** Set at login and never moved: rotation extends no session past its first deadline. */
  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt!: Date;

  /** When the session was ended. No token of it is accepted from then on. */
  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt!: Date | null;

  @Column({ name: 'last_used_at', type: 'timestamptz' })
  lastUsedAt!: Date;

  /** Address the session was started from. */
  @Column({ type: 'text', nullable: true })
  ip!: string | null;

  @Column({ name: 'user_agent', type: 'text', nullable: true })
  userAgent!: string | null;

  /** The host's own name for the session. */
  @Column({ type: 'text', nullable: true })
  label!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;
}
