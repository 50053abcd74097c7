import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/**
 * Consecutive failures of one subject, and whether they locked it. Persistent: a restart or a flushed cache
 * must not hand out another hundred guesses.
 *
 * @publicApi
 */
@Entity('svc_lockouts')
@Index('svc_lockouts_subject', ['purpose', 'subject', 'guard'], { unique: true })
export class LockoutCounter {
  /** A ULID. */
  @PrimaryColumn({ type: 'varchar', length: 26, primaryKeyConstraintName: 'svc_lockouts_pkey' })
  id!: string;

  /** What was tried: `login`, `two_factor` or `confirm`. */
  @Column({ type: 'varchar', length: 32 })
  purpose!: string;

  /** `id:{user id}` or `idn:{identifier}` for logins, the user's id otherwise. */
  @Column({ type: 'varchar', length: 255 })
  subject!: string;

  /** Never null: nulls would not be unique. */
  @Column({ type: 'varchar', length: 64, default: '' })
  guard!: string;

  @Column({ type: 'int', default: 0 })
  attempts!: number;

  @Index('svc_lockouts_locked')
  @Column({ name: 'locked_at', type: 'timestamptz', nullable: true })
  lockedAt!: Date | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt!: Date;
}
