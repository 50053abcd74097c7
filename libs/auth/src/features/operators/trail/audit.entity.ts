import { Exclude } from 'class-transformer';
import { data } from '../../../kit';

/**
 * One line of the history of an account. The library inserts lines, and deletes those that are older than `audit.days`. It
 * changes none.
 *
 * @publicApi
 */
@data.Entity('svc_audit')
@data.Index('svc_audit_account', ['guard', 'userId', 'id'])
export class AuditLine {
  /** The time in microseconds, and 64 random bits: lines are sorted by it. */
  @data.PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'svc_audit_pkey' })
  id!: string;

  @data.Column({ type: 'timestamptz' })
  at!: Date;

  /** The guard that names the source of the user: guards with the same users share a history. */
  @data.Column({ type: 'text' })
  guard!: string;

  /** The account that the line is about. */
  @data.Column({ name: 'user_id', type: 'text' })
  userId!: string;

  /** The name of a line of the security log. */
  @data.Column({ type: 'text' })
  operation!: string;

  @data.Column({ type: 'text' })
  outcome!: string;

  /** The reason of a refusal, or of the end of a session. */
  @data.Column({ type: 'text', nullable: true })
  reason!: string | null;

  @data.Column({ name: 'actor_kind', type: 'text' })
  actorKind!: string;

  @data.Column({ name: 'actor_guard', type: 'text', nullable: true })
  actorGuard!: string | null;

  @data.Column({ name: 'actor_id', type: 'text', nullable: true })
  actorId!: string | null;

  @data.Column({ name: 'session_id', type: 'text', nullable: true })
  sessionId!: string | null;

  /** The address, the user agent and the free text, encrypted under `encryption.key` and a key of the line. */
  @Exclude()
  @data.Column({ type: 'text', nullable: true, select: false })
  personal!: string | null;

  /** The key of the line, XOR a hash of the key of the account and the id. */
  @Exclude()
  @data.Column({ type: 'bit', length: 256, nullable: true, select: false })
  seal!: string | null;

  /** The fields for JSON, without the encrypted ones. */
  toJSON(): object {
    const { personal: _personal, seal: _seal, ...shown } = this;
    return shown;
  }
}

/**
 * The key of the personal fields of an account. They are readable with it and `encryption.key` only. It is deleted with the account.
 *
 * @publicApi
 */
@data.Entity('svc_audit_keys')
export class AuditKey {
  @data.PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'svc_audit_keys_pkey' })
  guard!: string;

  @data.PrimaryColumn({ name: 'user_id', type: 'text', primaryKeyConstraintName: 'svc_audit_keys_pkey' })
  userId!: string;

  @Exclude()
  @data.Column({ type: 'bytea', select: false })
  secret!: Buffer;

  /** The fields for JSON, without the key. */
  toJSON(): object {
    const { secret: _, ...shown } = this;
    return shown;
  }
}

/** Creates `svc_audit`. */
export class CreateSvcAudit1764800000000 extends data.CreatesTable {
  protected readonly statements = [
    `
      CREATE TABLE svc_audit (
        id uuid NOT NULL CONSTRAINT svc_audit_pkey PRIMARY KEY,
        at timestamptz NOT NULL,
        guard text NOT NULL,
        user_id text NOT NULL,
        operation text NOT NULL,
        outcome text NOT NULL,
        reason text,
        actor_kind text NOT NULL,
        actor_guard text,
        actor_id text,
        session_id text,
        personal text,
        seal bit(256)
      )`,
    'CREATE INDEX svc_audit_account ON svc_audit (guard, user_id, id)',
  ];
}

/** Creates `svc_audit_keys`. */
export class CreateSvcAuditKeys1764800000001 extends data.CreatesTable {
  protected readonly statements = [
    `
      CREATE TABLE svc_audit_keys (
        guard text NOT NULL,
        user_id text NOT NULL,
        secret bytea NOT NULL,
        CONSTRAINT svc_audit_keys_pkey PRIMARY KEY (guard, user_id)
      )`,
  ];
}
