import { Column, Entity, Index, PrimaryColumn } from '../../foundation/platform/entity';
import { CreatesTable } from '../../foundation/realm/feature-data';

/**
 * Counts the consecutive failures of one subject, and records whether they locked it. The counter is in the database so
 * that a restart or an emptied cache does not reset it.
 *
 * @publicApi
 */
@Entity('svc_lockouts')
@Index('svc_lockouts_subject', ['purpose', 'subject', 'guard'], { unique: true })
export class LockoutCounter {
  /** A ULID. */
  @PrimaryColumn({ type: 'varchar', length: 26, primaryKeyConstraintName: 'svc_lockouts_pkey' })
  id!: string;

  /** The kind of attempt: `login`, `two_factor` or `confirm`. */
  @Column({ type: 'varchar', length: 32 })
  purpose!: string;

  /** `id:{user id}`, `idn:{identifier}` or `mail:{email}` for logins, the user's id otherwise. */
  @Column({ type: 'varchar', length: 255 })
  subject!: string;

  /** Name of the guard. Never null, because the unique index does not compare nulls. */
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

/** Creates `svc_lockouts`. */
export class CreateSvcLockouts1763800000000 extends CreatesTable {
  protected readonly statements = [
    `
      CREATE TABLE svc_lockouts (
        id varchar(26) NOT NULL CONSTRAINT svc_lockouts_pkey PRIMARY KEY,
        purpose varchar(32) NOT NULL,
        subject varchar(255) NOT NULL,
        guard varchar(64) NOT NULL DEFAULT '',
        attempts int NOT NULL DEFAULT 0,
        locked_at timestamptz,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL
      )`,
    'CREATE UNIQUE INDEX svc_lockouts_subject ON svc_lockouts (purpose, subject, guard)',
    'CREATE INDEX svc_lockouts_locked ON svc_lockouts (locked_at)',
  ];
}
