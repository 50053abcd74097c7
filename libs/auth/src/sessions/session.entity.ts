import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/**
 * One login. Its id is the `fid` claim, stable across every rotation.
 *
 * @publicApi
 */
@Entity('svc_sessions')
@Index('svc_sessions_owner', ['guard', 'userId'])
@Index('svc_sessions_expiry', ['expiresAt'])
export class Session {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'svc_sessions_pkey' })
  id!: string;

  @Column({ name: 'user_id', type: 'text' })
  userId!: string;

  @Column({ type: 'text' })
  guard!: string;

  /** How the user authenticated (RFC 8176), stamped on every token of the session. */
  @Column({ type: 'text', array: true, default: '{}' })
  amr!: string[];

  /** When the user authenticated. */
  @Column({ name: 'auth_time', type: 'timestamptz' })
  authTime!: Date;

  /** Set at login and never moved: rotation extends no session past its first deadline. */
  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt!: Date;

  /**
   * Ends every token of the session in one write.
   *
   * Kept here and not on the tokens: a set-based update of token rows can miss a successor that a
   * concurrent refresh is inserting, and that successor would outlive the revocation.
   */
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
