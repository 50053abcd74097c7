import { Exclude } from 'class-transformer';
import { data } from '../../kit';
import type { EmailChangeState } from './email-change.policy';

/**
 * A change of email: requested, made or undone. It is deleted when its links have expired, and with its account.
 *
 * @publicApi
 */
@data.Entity('svc_email_changes')
@data.Index('svc_email_changes_requested', ['guard', 'userId'], { unique: true, where: "state = 'requested'" })
@data.Index('svc_email_changes_owner', ['guard', 'userId'])
@data.Index('svc_email_changes_held', ['guard', 'heldEmail'])
export class EmailChange {
  @data.PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'svc_email_changes_pkey' })
  id!: string;

  @data.Column({ type: 'text' })
  guard!: string;

  @data.Column({ name: 'user_id', type: 'text' })
  userId!: string;

  /** The session that asked for the change. Its end also ends the request. Null for a token without a session. */
  @data.Column({ name: 'session_id', type: 'text', nullable: true })
  sessionId!: string | null;

  /** Null for a user who had no email. */
  @data.Column({ name: 'old_email', type: 'text', nullable: true })
  oldEmail!: string | null;

  /** Whether the former email was verified at the request. */
  @data.Column({ name: 'old_verified', type: 'boolean' })
  oldVerified!: boolean;

  @data.Column({ name: 'new_email', type: 'text' })
  newEmail!: string;

  @data.Column({ type: 'text' })
  state!: EmailChangeState;

  /** SHA-256 of the token in the link to the new address, in hex. Never selected by default. */
  @Exclude()
  @data.Index('svc_email_changes_confirm', { unique: true })
  @data.Column({ name: 'confirm_hash', type: 'text', select: false })
  confirmHash!: string;

  /** SHA-256 of the token in the link to the former address; null without such a link. */
  @Exclude()
  @data.Index('svc_email_changes_undo', { unique: true })
  @data.Column({ name: 'undo_hash', type: 'text', nullable: true, select: false })
  undoHash!: string | null;

  /** SHA-256 of the password hash at the request: another password ends the request. */
  @Exclude()
  @data.Column({ name: 'password_fingerprint', type: 'text', select: false })
  passwordFingerprint!: string;

  @data.Column({ name: 'requested_at', type: 'timestamptz' })
  requestedAt!: Date;

  @data.Column({ name: 'confirmed_at', type: 'timestamptz', nullable: true })
  confirmedAt!: Date | null;

  @data.Column({ name: 'undone_at', type: 'timestamptz', nullable: true })
  undoneAt!: Date | null;

  /** The end of the link to the new address; after the change, the end of the link to the former one. */
  @data.Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt!: Date;

  /** The hash that replaces the password at the undo, of a text that is not stored. Null before it. */
  @Exclude()
  @data.Column({ name: 'unusable_hash', type: 'text', nullable: true, select: false })
  unusableHash!: string | null;

  /** The former email in lower case, of a change that can be undone: no other account can register it. Null before the change. */
  @data.Column({ name: 'held_email', type: 'text', nullable: true })
  heldEmail!: string | null;

  /** The fields for JSON, without the hashes. */
  toJSON(): object {
    const {
      confirmHash: _confirm,
      undoHash: _undo,
      passwordFingerprint: _password,
      unusableHash: _unusable,
      ...shown
    } = this;
    return shown;
  }
}

/** Creates `svc_email_changes`. */
export class CreateSvcEmailChanges1764200000000 extends data.CreatesTable {
  protected readonly statements = [
    `
      CREATE TABLE svc_email_changes (
        id uuid NOT NULL CONSTRAINT svc_email_changes_pkey PRIMARY KEY,
        guard text NOT NULL,
        user_id text NOT NULL,
        session_id text,
        old_email text,
        old_verified boolean NOT NULL,
        new_email text NOT NULL,
        state text NOT NULL,
        confirm_hash text NOT NULL,
        undo_hash text,
        password_fingerprint text NOT NULL,
        requested_at timestamptz NOT NULL,
        confirmed_at timestamptz,
        undone_at timestamptz,
        expires_at timestamptz NOT NULL,
        unusable_hash text,
        held_email text
      )`,
    `CREATE UNIQUE INDEX svc_email_changes_requested ON svc_email_changes (guard, user_id) WHERE state = 'requested'`,
    'CREATE INDEX svc_email_changes_owner ON svc_email_changes (guard, user_id)',
    'CREATE INDEX svc_email_changes_held ON svc_email_changes (guard, held_email)',
    'CREATE UNIQUE INDEX svc_email_changes_confirm ON svc_email_changes (confirm_hash)',
    'CREATE UNIQUE INDEX svc_email_changes_undo ON svc_email_changes (undo_hash)',
  ];
}
